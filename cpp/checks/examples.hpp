// Small forests of every growth, for fuzzers and for tests with threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "elimination/elimination.hpp"
#include "forest/forest.hpp"
#include "greedy/growth.hpp"
#include "pairs/offers.hpp"
#include "pairs/pair_forest.hpp"
#include "pairs/pair_settings.hpp"
#include "policy/settings.hpp"

namespace bandit_forest::examples {

inline constexpr std::size_t n_variables = 12;
inline constexpr std::size_t n_actions = 3;

inline void set_common(Settings& settings, std::size_t n_threads) {
    settings.n_variables = n_variables;
    settings.n_actions = n_actions;
    settings.n_trees = 4;
    settings.depth_low = 2;
    settings.depth_high = 6;
    settings.variable_share = 0.8;
    settings.max_nodes = 64;
    settings.seed = 7;
    settings.n_threads = n_threads;
}

inline EliminationSettings elimination() {
    EliminationSettings settings{};
    set_common(settings, 1);
    settings.delta = 0.05;
    settings.min_tolerance = 0.4;
    settings.max_tolerance = 0.8;
    settings.test_interval = 1;
    settings.quorum = 0.5;
    settings.remaining = Remaining::path;
    settings.estimate = Estimate::weights;
    settings.exploration = Exploration::union_draw;
    return settings;
}

// With ordered variables or without, and with a linear part or without.
inline GreedySettings greedy(bool ordered, bool linear, std::size_t n_threads = 1) {
    GreedySettings settings{};
    set_common(settings, n_threads);
    if (ordered) {
        settings.levels.assign(n_variables, 2);
        settings.levels[0] = 200;
        settings.levels[5] = 17;
    }
    settings.min_events = 4;
    settings.min_gain = 2.0;
    settings.shrinkage = 2.0;
    settings.n_thresholds = 4;
    settings.renewal_work = 16;
    settings.log_capacity = 256;
    settings.lifetime = linear ? 0 : 200;
    settings.linear = linear;
    settings.gamma_scale = 30.0;
    settings.optimism = 0.3;
    settings.linear_optimism = 0.3;
    return settings;
}

// Settings of a forest over pairs: two thirds of the variables are the context's.
inline PairSettings pairs() {
    PairSettings settings{};
    static_cast<GreedySettings&>(settings) = greedy(true, true);
    settings.n_actions = 1;
    settings.n_context_variables = 8;
    settings.n_names = 64;
    settings.n_named_actions = 40;
    return settings;
}

// Events that a forest may be given.
struct Events {
    explicit Events(std::size_t n, std::uint64_t seed, const std::vector<std::uint16_t>& levels = {})
        : values(n * n_variables), actions(n), rewards(n), propensities(n, 1.0 / n_actions) {
        std::mt19937_64 draws(seed);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::size_t n_codes = levels.empty() ? 2 : levels[i % n_variables];
            values[i] = static_cast<std::uint8_t>(draws() % n_codes);
        }
        for (std::size_t event = 0; event < n; ++event) {
            actions[event] = static_cast<std::int64_t>(draws() % n_actions);
            rewards[event] = (values[event * n_variables] != 0) == (actions[event] == 1) ? 1.0 : 0.25;
        }
    }

    Contexts contexts() const { return {values.data(), actions.size(), n_variables}; }

    std::vector<std::uint8_t> values;
    std::vector<std::int64_t> actions;
    std::vector<double> rewards;
    std::vector<double> propensities;
};

}  // namespace bandit_forest::examples
