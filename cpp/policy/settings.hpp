// The parameters of a forest, checked by the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bandit_forest {

// What every forest has.
struct Settings {
    std::size_t n_variables;    // M
    std::size_t n_actions;      // K
    std::size_t n_trees;        // L
    std::size_t depth_low;  // the depths D of the trees are drawn between this
    std::size_t depth_high;  // and this
    double variable_share;      // share of the variables that a node may split on
    std::size_t max_nodes;      // most nodes of a tree
    std::uint64_t seed;         // of all draws
    std::size_t n_threads;      // that work on a batch; the results are the same for any number of them
};

// Which actions are in play on a path that still selects its variable.
enum class Remaining : std::uint8_t {
    all,        // all of them, as NewPath says
    path,       // those that elimination on the path's own events has left
    inherited,  // the same, but a new path starts with those of its parent
};

// What the sum of rewards of an action is divided by.
enum class Estimate : std::uint8_t {
    plays,    // plays of the action, rewards as they are
    visits,   // visits of the path, rewards divided by their propensity (Horvitz-Thompson)
    scaled,   // plays of the action, rewards divided by their propensity: the paper's words taken literally
    weights,  // the sum of 1 / propensity, rewards divided by their propensity (self-normalised)
};

// How an action is chosen while too few trees have settled.
enum class Exploration : std::uint8_t {
    round_robin,  // all actions in rotation
    union_draw,   // uniformly among the actions that remain in some tree
    tree_draw,    // a tree, then uniformly among its remaining actions
};

// Growth by elimination, as in the paper.
struct EliminationSettings : Settings {
    double delta;               // probability of failure
    double min_tolerance;       // the tolerances of the nodes are drawn between this
    double max_tolerance;       // and this
    std::size_t test_interval;  // visits of a node between two tests for elimination
    double quorum;              // share of the trees that must have settled for a vote
    Remaining remaining;
    Estimate estimate;
    Exploration exploration;
};

// Growth by the best split.
struct GreedySettings : Settings {
    std::vector<std::uint16_t> levels;  // codes of each variable; empty where all are binary
    std::size_t min_events;      // a node with fewer events is a leaf
    double min_gain;             // a node splits when the variance a split explains reaches min_gain times its noise
    double shrinkage;            // events that the mean rewards which a node inherits are worth
    std::size_t n_thresholds;    // thresholds of an ordered variable that a split is chosen from
    std::size_t renewal_work;    // units of work that an event allows for, for each tree
    std::size_t log_capacity;    // events that are remembered for growth; a power of two
    std::uint64_t lifetime;      // events that a tree is grown from and stands for; 0 for all
    bool linear;                 // whether a linear estimate stands beside the trees
    double gamma_scale;          // exploration by inverse gap weighting with gamma_scale * cube root of the events
    double optimism;             // on estimates raised by optimism * sqrt(log(events)) standard errors
    double linear_optimism;      // and those of the linear part by linear_optimism standard errors of its own
};

// What it costs to grow a tree: a unit is about the time that reading an event takes.
struct Work {
    explicit Work(const GreedySettings& settings) {
        std::size_t n_ordered = 0;
        for (const std::uint16_t levels : settings.levels) {
            n_ordered += levels > 2 ? 1 : 0;
        }
        const std::size_t n_binary = settings.n_variables - n_ordered;
        const double ordered = settings.variable_share * static_cast<double>(n_ordered);
        const double candidates = settings.variable_share * static_cast<double>(n_binary) +
                                  ordered * static_cast<double>(settings.n_thresholds);
        per_event = 2 + n_binary / 64 + static_cast<std::size_t>(ordered);
        per_node = 32 + static_cast<std::size_t>(candidates);
    }

    static std::uint64_t reading(std::size_t n_events) { return n_events; }
    std::uint64_t splitting(std::size_t n_events) const { return per_node + n_events * per_event; }

    std::uint64_t per_event;  // for an event that a split is chosen by: its bits and codes
    std::uint64_t per_node;   // for a split, however few the events: its candidates
};

}  // namespace bandit_forest
