#include "elimination.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

#include "clones.hpp"
#include "random.hpp"

namespace bandit_forest {

namespace {

constexpr double variable_width = 4.0;  // a gain is the sum of two estimates
constexpr double action_width = 2.0;

// Rewarded events wait in their leaf until there are so many, or until it tests for elimination. Adding them to the
// sums then loads each row once, and not once an event.
constexpr std::size_t buffer_events = 64;

// Words of a pending event: context, gain, action.
std::size_t record_words(std::size_t n_variables) { return words_for(n_variables + 1) + 2; }

double radius(std::uint64_t plays, double log_hypotheses) {
    const auto t = static_cast<double>(plays);
    return std::sqrt((log_hypotheses + 2.0 * std::log(t)) / (2.0 * t));
}

// sums[i] += value where bit i is set: a mask instead of a branch.
BANDIT_FOREST_CLONES
void add(double* __restrict sums, const std::uint64_t* __restrict words, double value, std::size_t n) {
    const auto pattern = std::bit_cast<std::uint64_t>(value);
    for (std::size_t start = 0; start < n; start += 64) {
        const std::uint64_t word = words[start / 64];
        const std::size_t end = std::min<std::size_t>(64, n - start);
        for (std::size_t i = 0; i < end; ++i) {
            const std::uint64_t mask = 0 - ((word >> i) & 1U);
            sums[start + i] += std::bit_cast<double>(pattern & mask);
        }
    }
}

// Raises the best means of both values to those of one action.
BANDIT_FOREST_CLONES
void raise(double* __restrict best0, double* __restrict best1, const double* __restrict gain1, double gain,
           double denominator, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const double mean1 = gain1[i] / denominator;
        const double mean0 = (gain - gain1[i]) / denominator;
        best1[i] = best1[i] < mean1 ? mean1 : best1[i];
        best0[i] = best0[i] < mean0 ? mean0 : best0[i];
    }
}

// Removes from a set what is too far below its best member; mean(element) is asked once for each.
template <class Mean>
void keep_survivors(Words set, double tolerance, double bound, std::vector<double>& means, Mean&& mean) {
    means.clear();
    double best = -std::numeric_limits<double>::infinity();
    std::size_t best_element = 0;
    for_each(set, [&](std::size_t element) {
        means.push_back(mean(element));
        if (means.back() > best) {
            best = means.back();
            best_element = element;
        }
    });
    std::size_t position = 0;
    for_each(set, [&](std::size_t element) {
        if (element != best_element && best - means[position] + tolerance >= bound) {
            erase(set, element);
        }
        ++position;
    });
}

// What the gain of an action is divided by to estimate its mean reward.
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

double log_hypotheses(const EliminationSettings& s, double estimates) {
    return std::log(estimates) + static_cast<double>(s.max_max_depth) * std::log(2.0) - std::log(s.delta);
}

}  // namespace

Elimination::Elimination(const EliminationSettings& settings, std::size_t tree_number, Stumps& stumps)
    : settings_(&settings),
      action_words_(words_for(settings.n_actions)),
      max_depth_(draw_depth(settings, tree_number)),
      log_variable_hypotheses_(log_hypotheses(
          settings, 4.0 * static_cast<double>(settings.n_actions) * static_cast<double>(settings.n_variables) *
                        static_cast<double>(max_depth_) * static_cast<double>(settings.n_trees))),
      log_action_hypotheses_(log_hypotheses(
          settings, 4.0 * static_cast<double>(settings.n_actions) * static_cast<double>(settings.n_trees))),
      stumps_(&stumps),
      tree_(settings.n_variables, root_key(settings.seed, tree_number)) {
    new_path(0);
    fill(remaining(0), settings.n_actions);
}

void Elimination::new_path(NodeId node) {
    assert(node == states_.size());
    const EliminationSettings& s = *settings_;
    const Path& path = tree_.path(node);
    const double tolerance =
        s.min_tolerance + (s.max_tolerance - s.min_tolerance) * uniform(mix(path.key, Purpose::tolerance));
    const bool selects = path.depth < max_depth_ && path.depth < s.n_variables;
    states_.push_back({0, 0, tolerance, -1, selects ? Status::selecting : Status::terminal,
                       static_cast<std::uint8_t>(path.depth + std::size_t{1} == max_depth_), 0});
    remaining_.resize(remaining_.size() + action_words_, 0);
    tallies_.resize(tallies_.size() + s.n_actions, Tally{0, 0.0, 0.0});
}

void Elimination::learn(NodeId leaf, const Event& event) {
    assert(tree_.is_leaf(leaf));
    NodeState& state = states_[leaf];
    if (state.status == Status::selecting && state.stump < 0) {
        make_stump(leaf);
    }
    ++state.visits;
    Tally& tally = tallies_of(leaf)[event.action];
    ++tally.plays;
    tally.weight += event.weight;
    tally.gain += event.gain;
    if (state.status == Status::selecting) {
        count(leaf, event);
    }
    if (state.visits % settings_->test_interval == 0) {
        test(leaf);
    }
}

void Elimination::prefetch([[maybe_unused]] NodeId leaf) const {
#if defined(__GNUC__)
    __builtin_prefetch(&remaining_[leaf * action_words_]);
    __builtin_prefetch(&states_[leaf], 1);
#endif
}

void Elimination::prefetch([[maybe_unused]] NodeId leaf, [[maybe_unused]] const Event& event) const {
#if defined(__GNUC__)
    __builtin_prefetch(&tallies_[leaf * settings_->n_actions + event.action], 1);
    const NodeState& state = states_[leaf];
    if (state.stump >= 0 && event.gain != 0.0) {
        __builtin_prefetch(
            stumps_->buffer(state.stump) + state.pending * record_words(settings_->n_variables), 1);
    }
#endif
}

std::vector<std::uint32_t> Elimination::candidates(NodeId node) const {
    return random_subset(tree_.path(node).key, tree_.free_variables(node), settings_->variable_share);
}

void Elimination::make_stump(NodeId node) {
    const EliminationSettings& s = *settings_;
    states_[node].stump = stumps_->acquire();
    Stump& stump = stump_of(node);
    stump.remaining_variables.assign(words_for(s.n_variables), 0);
    for (const std::uint32_t variable : candidates(node)) {
        insert(stump.remaining_variables, variable);
    }
    if (states_[node].last_level != 0) {
        stump.plays.assign(stumps_->n_cells(), 0.0);
        stump.weight.assign(stumps_->n_cells(), 0.0);
        stump.remaining_actions.resize(2 * s.n_variables * action_words_);
        for (std::size_t i = 0; i < s.n_variables; ++i) {
            fill(remaining(stump, i, 0), s.n_actions);
            fill(remaining(stump, i, 1), s.n_actions);
        }
    }
}

void Elimination::release_stump(NodeId node) {
    stumps_->release(states_[node].stump);
    states_[node].stump = -1;
}

void Elimination::count(NodeId node, const Event& event) {
    if (event.gain != 0.0) {
        append(node, event);
    }
    if (states_[node].last_level != 0) {
        const std::size_t columns = stride(settings_->n_variables);
        const std::size_t row = event.action * columns;
        Stump& stump = stump_of(node);
        add(stump.plays.data() + row, event.context.data(), 1.0, columns);
        add(stump.weight.data() + row, event.context.data(), event.weight, columns);
    }
}

void Elimination::append(NodeId node, const Event& event) {
    NodeState& state = states_[node];
    std::uint64_t* record = stumps_->buffer(state.stump) + state.pending * record_words(settings_->n_variables);
    record = std::ranges::copy(event.context, record).out;
    record[0] = std::bit_cast<std::uint64_t>(event.gain);
    record[1] = event.action;
    if (++state.pending == buffer_events) {
        flush(node);
    }
}

// Adds the pending events to the sums, in their order.
void Elimination::flush(NodeId node) {
    const std::size_t columns = stride(settings_->n_variables);
    const std::size_t words = words_for(settings_->n_variables + 1);
    const std::uint64_t* record = stumps_->buffer(states_[node].stump);
    for (std::size_t i = 0; i < states_[node].pending; ++i, record += words + 2) {
        add(gains_of(node) + record[words + 1] * columns, record, std::bit_cast<double>(record[words]), columns);
    }
    states_[node].pending = 0;
}

void Elimination::flush_all() {
    for (NodeId node = 0; node < states_.size(); ++node) {
        if (states_[node].pending > 0) {
            flush(node);
        }
    }
}

double Elimination::denominator(NodeId node, std::size_t action) const {
    return denominator_of(settings_->estimate, tallies(node)[action], states_[node].visits);
}

void Elimination::test(NodeId node) {
    const ConstWords actions = remaining_actions(node);
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for_each(actions, [&](std::size_t k) { least = std::min(least, tallies_of(node)[k].plays); });
    NodeState& state = states_[node];
    if (least <= state.tested) {
        return;  // the round over the remaining actions is not complete
    }
    state.tested = least;
    if (state.status == Status::terminal) {
        eliminate_actions(node, least);
        return;
    }
    flush(node);
    eliminate_variables(node, least);
    if (state.last_level != 0) {
        eliminate_actions_by_value(node);
    }
    if (settings_->remaining != Remaining::all) {
        eliminate_actions(node, least);
    }
    if (is_single(stump_of(node).remaining_variables)) {
        choose_variable(node);
    }
}

void Elimination::eliminate_variables(NodeId node, std::uint64_t plays) {
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
            std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
            for_each(actions, [&](std::size_t k) { least = std::min(least, tally[k].plays); });
            if (least > 0) {
                keep_survivors(actions, states_[node].tolerance, action_width * radius(least, log_action_hypotheses_),
                               means, [&](std::size_t k) {
                                   return tally[k].gain / denominator_of(settings_->estimate, tally[k], visits);
                               });
            }
        }
    });
}

void Elimination::eliminate_actions(NodeId node, std::uint64_t plays) {
    thread_local std::vector<double> means;
    const double bound = action_width * radius(plays, log_action_hypotheses_);
    keep_survivors(remaining(node), states_[node].tolerance, bound, means,
                   [&](std::size_t k) { return tallies(node)[k].gain / denominator(node, k); });
}

void Elimination::choose_variable(NodeId node) {
    if (tree_.size() + 2 > settings_->max_nodes) {
        states_[node].status = Status::terminal;  // no room: go on with the actions of the path
        release_stump(node);
        return;
    }
    const auto variable = static_cast<std::uint32_t>(first(stump_of(node).remaining_variables));
    const NodeId child = tree_.split(node, variable);
    states_[node].status = Status::split;
    for (NodeId next = child; next < child + 2; ++next) {
        new_path(next);
        if (settings_->remaining == Remaining::inherited) {
            std::ranges::copy(remaining_actions(node), remaining(next).begin());
        } else {
            fill(remaining(next), settings_->n_actions);
        }
    }
    if (tree_.path(child).depth == max_depth_) {
        hand_over(node, variable, child);
    }
    release_stump(node);
}

// The stump of the last level goes on in its two values, with the actions that each has left.
void Elimination::hand_over(NodeId node, std::uint32_t variable, NodeId child) {
    for (std::uint32_t value = 0; value < 2; ++value) {
        const NodeId next = child + value;
        for (std::size_t k = 0; k < settings_->n_actions; ++k) {
            tallies_of(next)[k] = given(node, k, variable, value);
            states_[next].visits += tallies_of(next)[k].plays;
        }
        std::ranges::copy(remaining(stump_of(node), variable, value), remaining(next).begin());
    }
}

std::vector<std::uint64_t> Elimination::remaining_variables(NodeId node) const {
    std::vector<std::uint64_t> set(words_for(settings_->n_variables), 0);
    const NodeState& state = states_[node];
    if (state.stump >= 0) {
        return stumps_->at(state.stump).remaining_variables;
    }
    if (state.status == Status::selecting) {
        for (const std::uint32_t variable : candidates(node)) {
            insert(set, variable);
        }
    }
    return set;
}

std::size_t Elimination::buffer_words(std::size_t n_variables) { return buffer_events * record_words(n_variables); }

std::size_t Elimination::n_bytes() const {
    return tree_.n_bytes() + states_.capacity() * sizeof(NodeState) + remaining_.capacity() * sizeof(std::uint64_t) +
           tallies_.capacity() * sizeof(Tally);
}

void Elimination::check() const {
    const EliminationSettings& s = *settings_;
    const std::size_t n = tree_.size();
    require(n <= s.max_nodes || n == 1, "a tree has too many nodes");
    require(states_.size() == n && remaining_.size() == n * action_words_ && tallies_.size() == n * s.n_actions,
            "a tree's arrays differ in length");
    const std::size_t cells = stumps_->n_cells();
    for (NodeId node = 0; node < n; ++node) {
        const NodeState& state = states_[node];
        require(state.status <= Status::terminal, "a node has an unknown status");
        require(state.last_level == static_cast<std::uint8_t>(tree_.path(node).depth + std::size_t{1} == max_depth_),
                "a node's level is not its depth");
        require(!tree_.is_leaf(node) || tree_.step(node).child == node, "a leaf is not labelled with its number");
        require((state.status == Status::split) == !tree_.is_leaf(node), "a node's status is not its shape");
        require(state.pending == 0, "a node has pending events");
        require(std::ranges::all_of(tallies(node), [](const Tally& tally) { return tally.plays < (1ULL << 53U); }),
                "a node has more plays than there can be");
        const ConstWords actions = remaining_actions(node);
        require(is_set_below(actions, s.n_actions), "a node's actions are not actions");
        if (state.stump < 0) {
            continue;
        }
        require(state.status == Status::selecting, "a node has sums that it does not need");
        const Stump& stump = stumps_->at(state.stump);
        const bool last = state.last_level != 0;
        require(stump.plays.size() == (last ? cells : 0) &&
                    stump.weight.size() == stump.plays.size() &&
                    stump.remaining_variables.size() == words_for(s.n_variables) &&
                    stump.remaining_actions.size() == (last ? 2 * s.n_variables * action_words_ : 0),
                "a stump's arrays differ in length");
        require(is_set_below(stump.remaining_variables, s.n_variables), "a stump's variables are not variables");
        require(std::ranges::all_of(stump.plays, [](double plays) { return plays >= 0.0 && plays < 0x1p53; }),
                "a stump's plays are not numbers of plays");
        for (std::size_t set = 0; last && set < 2 * s.n_variables; ++set) {
            require(is_set_below(ConstWords(stump.remaining_actions).subspan(set * action_words_, action_words_),
                                s.n_actions),
                    "a stump's actions are not actions");
        }
    }
}

}  // namespace bandit_forest
