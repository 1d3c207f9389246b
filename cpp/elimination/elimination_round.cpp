// The end of a round: what a node tests, and what it eliminates.
#include <algorithm>
#include <limits>

#include "elimination/bounds.hpp"
#include "util/cpu_dispatch.hpp"
#include "elimination/elimination.hpp"

namespace bandit_forest {

namespace {

// Raises the best means of both values to those of one action.
BANDIT_FOREST_CPU_DISPATCH
void raise(double* __restrict best0, double* __restrict best1, const double* __restrict gain1, double gain,
           double denominator, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const double mean1 = gain1[i] / denominator;
        const double mean0 = (gain - gain1[i]) / denominator;
        best1[i] = best1[i] < mean1 ? mean1 : best1[i];
        best0[i] = best0[i] < mean0 ? mean0 : best0[i];
    }
}

// What the gain of an action is divided by before elimination compares it.
double denominator_of(Estimate estimate, const Tally& tally, std::uint64_t visits) {
    switch (estimate) {
        case Estimate::plays:
        case Estimate::scaled:
            return static_cast<double>(tally.plays);
        case Estimate::visits:
            return static_cast<double>(visits);
        case Estimate::weights:
            return tally.weight;
    }
    return 0.0;
}

// The plays of the least played of some actions.
std::uint64_t least_plays(ConstWords actions, std::span<const Tally> tallies) {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for_each(actions, [&](std::size_t k) { least = std::min(least, tallies[k].plays); });
    return least;
}

}  // namespace

double Elimination::denominator(NodeId node, std::size_t action) const {
    return denominator_of(settings_->estimate, tallies(node)[action], states_[node].visits);
}

void Elimination::test(NodeId node) {
    const std::uint64_t least = least_plays(remaining_actions(node), tallies(node));
    NodeState& state = states_[node];
    if (least <= state.tested) {
        return;  // the round over the remaining actions is not complete
    }
    state.tested = least;
    if (state.status == Status::terminal) {
        eliminate_actions(node);
        return;
    }
    flush(node);
    eliminate_variables(node);
    if (state.last_level != 0) {
        eliminate_actions_by_value(node);
    }
    if (settings_->remaining != Remaining::all) {
        eliminate_actions(node);
    }
    if (is_single(stump_of(node).remaining_variables)) {
        choose_variable(node);
    }
}

void Elimination::eliminate_variables(NodeId node) {
    const std::size_t columns = stride(settings_->n_variables);
    thread_local std::vector<double> best0;
    thread_local std::vector<double> best1;
    thread_local std::vector<double> means;
    best0.assign(columns, 0.0);
    best1.assign(columns, 0.0);
    for (std::size_t k = 0; k < settings_->n_actions; ++k) {
        if (tallies(node)[k].plays > 0) {
            raise(best0.data(), best1.data(), gains_of(node) + k * columns, tallies(node)[k].gain,
                  denominator(node, k), columns);
        }
    }
    const auto plays = static_cast<double>(least_plays(remaining_actions(node), tallies(node)));
    const double bound = variable_width * radius(plays, log_variable_hypotheses_);
    keep_survivors(stump_of(node).remaining_variables, states_[node].tolerance, bound, means,
                   [&](std::size_t i) { return best0[i] + best1[i]; });
}

// What is known of an action where variable = value.
Tally Elimination::given(NodeId node, std::size_t action, std::size_t variable, std::size_t value) const {
    const std::int32_t number = states_[node].stump;
    const Stump& stump = stumps_->at(number);
    const std::size_t cell = action * stride(settings_->n_variables) + variable;
    const Tally one{static_cast<std::uint64_t>(stump.plays[cell]), stump.weight[cell], stumps_->gains(number)[cell]};
    if (value == 1) {
        return one;
    }
    const Tally& all = tallies(node)[action];
    return {all.plays - one.plays, all.weight - one.weight, all.gain - one.gain};
}

void Elimination::eliminate_actions_by_value(NodeId node) {
    Stump& stump = stump_of(node);
    thread_local std::vector<Tally> tally;  // by action, where variable = value
    thread_local std::vector<double> means;
    tally.resize(settings_->n_actions);
    for_each(stump.remaining_variables, [&](std::size_t variable) {
        for (std::size_t value = 0; value < 2; ++value) {
            std::uint64_t visits = 0;
            for (std::size_t k = 0; k < settings_->n_actions; ++k) {
                tally[k] = given(node, k, variable, value);
                visits += tally[k].plays;
            }
            const Words actions = remaining(stump, variable, value);
            const auto plays = static_cast<double>(least_plays(actions, tally));
            if (plays > 0.0) {
                keep_survivors(actions, states_[node].tolerance, action_width * radius(plays, log_action_hypotheses_),
                               means, [&](std::size_t k) {
                                   return tally[k].gain / denominator_of(settings_->estimate, tally[k], visits);
                               });
            }
        }
    });
}

void Elimination::eliminate_actions(NodeId node) {
    thread_local std::vector<double> means;
    const auto plays = static_cast<double>(least_plays(remaining_actions(node), tallies(node)));
    const double bound = action_width * radius(plays, log_action_hypotheses_);
    keep_survivors(remaining(node), states_[node].tolerance, bound, means,
                   [&](std::size_t k) { return tallies(node)[k].gain / denominator(node, k); });
}

}  // namespace bandit_forest
