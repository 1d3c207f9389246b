// Exploration as a pure function: the actions that remain in each tree go in, the probability of each action comes out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bits.hpp"
#include "settings.hpp"

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

// `sets` holds the remaining actions of each tree, one set after the other; `available` those of this event.
void plan(const Settings& settings, ConstWords sets, ConstWords available, Plan& out);

// The action to which the cumulated probabilities reach beyond a number in [0, 1).
std::size_t pick(std::span<const double> probabilities, double number);

}  // namespace bandit_forest
