// The parameters of a forest, checked by the caller.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bandit_forest {

// What every forest has.
struct Settings {
    std::size_t n_variables;    // M
    std::size_t n_actions;      // K
    std::size_t n_trees;        // L
    std::size_t min_max_depth;  // the depths D of the trees are drawn between this
    std::size_t max_max_depth;  // and this
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

// Growth by the best split so far.
struct GreedySettings : Settings {
    std::size_t min_events;    // a leaf tries to split when it holds so many events
    double min_gain;           // and does when the variance that the best split explains is so many times its noise
    double shrinkage;          // events that a leaf's inheritance of means is worth
    double learning_share;     // share of the trees that learn an event
    std::size_t log_capacity;  // events that are remembered for splitting; a power of two
    std::uint64_t lifetime;    // events after which a tree is replaced by a new one; 0 for never
    double greed;              // exploration by inverse gap weighting with greed * sqrt(events)
    double optimism;           // on means raised by so many times their standard error * sqrt(log(events))
};

}  // namespace bandit_forest
