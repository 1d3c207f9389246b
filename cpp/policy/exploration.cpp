#include "policy/exploration.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "util/cpu_dispatch.hpp"

namespace bandit_forest {

namespace {

void spread_uniformly(ConstWords set, std::vector<double>& probabilities) {
    const double share = 1.0 / static_cast<double>(count(set));
    for_each(set, [&](std::size_t action) { probabilities[action] = share; });
}

}  // namespace

BANDIT_FOREST_CPU_DISPATCH
void plan_by_remaining(const EliminationSettings& settings, ConstWords sets, ConstWords available, Plan& out) {
    const std::size_t words = available.size();
    assert(sets.size() == settings.n_trees * words);
    out.probabilities.assign(settings.n_actions, 0.0);
    out.votes.assign(settings.n_actions, 0);
    thread_local std::vector<std::uint64_t> open;  // the remaining actions of a tree that are available
    thread_local std::vector<std::uint64_t> any;   // those of all trees
    open.assign(words, 0);
    any.assign(words, 0);
    std::size_t settled = 0;
    std::size_t speaking = 0;  // trees with an available action
    const bool by_tree = settings.exploration == Exploration::tree_draw;
    for (std::size_t tree = 0; tree < settings.n_trees; ++tree) {
        for (std::size_t w = 0; w < words; ++w) {
            open[w] = sets[tree * words + w] & available[w];
            any[w] |= open[w];
        }
        const std::size_t size = count(open);
        if (size == 0) {
            continue;
        }
        ++speaking;
        if (size == 1) {
            ++settled;
            ++out.votes[first(open)];
        }
        if (by_tree) {
            const double share = 1.0 / static_cast<double>(size);
            for_each(open, [&](std::size_t action) { out.probabilities[action] += share; });
        }
    }
    if (settled > 0 && static_cast<double>(settled) >= settings.quorum * static_cast<double>(settings.n_trees)) {
        out.mode = Mode::vote;
        std::ranges::fill(out.probabilities, 0.0);
        out.probabilities[static_cast<std::size_t>(std::ranges::max_element(out.votes) - out.votes.begin())] = 1.0;
    } else if (settings.exploration == Exploration::round_robin) {
        out.mode = Mode::rotate;
        spread_uniformly(available, out.probabilities);
    } else {
        out.mode = Mode::draw;
        if (speaking == 0) {
            spread_uniformly(available, out.probabilities);
        } else if (by_tree) {
            for (double& probability : out.probabilities) {
                probability /= static_cast<double>(speaking);
            }
        } else {
            spread_uniformly(any, out.probabilities);
        }
    }
}

double standard_errors(const GreedySettings& settings, double n_events) {
    return settings.optimism * std::sqrt(std::log1p(n_events));
}

void upper_bounds(std::span<const double> means, std::span<const double> inverse_counts, double standard_errors,
                  std::span<double> out) {
    constexpr double least_variance = 0.02;  // an action that never earned anything may do so yet
    const double best = *std::ranges::max_element(means);  // as if one more event of each action had earned so much
    for (std::size_t action = 0; action < means.size(); ++action) {
        const double mean = means[action] + std::min(inverse_counts[action], 1.0) * (best - means[action]);
        const double variance = mean * (1.0 - mean) + least_variance;
        out[action] = means[action] + standard_errors * std::sqrt(variance * inverse_counts[action]);
    }
}

void inverse_gap(std::span<const double> means, ConstWords available, double gamma, std::vector<double>& probabilities) {
    probabilities.assign(means.size(), 0.0);
    std::size_t best = first(available);
    for_each(available, [&](std::size_t action) { best = means[action] > means[best] ? action : best; });
    const auto n_actions = static_cast<double>(count(available));
    double others = 0.0;
    for_each(available, [&](std::size_t action) {
        if (action != best) {
            probabilities[action] = 1.0 / (n_actions + gamma * (means[best] - means[action]));
            others += probabilities[action];
        }
    });
    probabilities[best] = 1.0 - others;
}

std::size_t pick(std::span<const double> probabilities, double number) {
    double reached = 0.0;
    std::size_t last = 0;
    for (std::size_t action = 0; action < probabilities.size(); ++action) {
        if (probabilities[action] > 0.0) {
            reached += probabilities[action];
            last = action;
            if (number < reached) {
                return action;
            }
        }
    }
    return last;  // rounding left the sum a little below one
}

}  // namespace bandit_forest
