// Exploration as pure functions from the estimates or votes of the trees to the probability of each action.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "util/bits.hpp"
#include "policy/settings.hpp"

namespace bandit_forest {

enum class Mode : std::uint8_t {
    vote,    // enough trees have settled: the action with most votes
    rotate,  // the available actions in turn
    draw,    // by the probabilities
};

struct Plan {
    Mode mode;
    std::vector<double> probabilities;  // by action
    std::vector<std::uint32_t> votes;   // by action: trees that have settled on it
};

// One event as it is learned.
struct Observation {
    std::span<const std::uint8_t> context;  // codes of the variables
    ConstWords packed;     // the same as the growth rule keeps it
    std::size_t action;    // the action taken
    double reward;         // what it earned
    double propensity;     // the probability with which it was drawn
    std::uint64_t number;  // events that were learned before it
};

// Votes and draws of the paper: `sets` holds the remaining actions of each tree, one set after the other; `available`
// the actions of this event.
void plan_by_remaining(const EliminationSettings& settings, ConstWords sets, ConstWords available, Plan& out);

// The number of standard errors by which the means of trees are raised that have learned `n_events` events.
double standard_errors(const GreedySettings& settings, double n_events);

// Means raised by `standard_errors` standard errors. The standard error is the root of the variance of rewards with this
// mean times the inverse of its number of events.
void upper_bounds(std::span<const double> means, std::span<const double> inverse_counts, double standard_errors,
                  std::span<double> out);

// Inverse gap weighting (Abe and Long 1999; Foster and Rakhlin 2020): an action is drawn with probability
// 1 / (number of actions + gamma * its distance from the best mean), the best action with the remaining probability.
void inverse_gap(std::span<const double> means, ConstWords available, double gamma, std::vector<double>& probabilities);

// The first action whose cumulative probability exceeds a number in [0, 1).
std::size_t pick(std::span<const double> probabilities, double number);

}  // namespace bandit_forest
