// Inputs and outputs of policies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bandit_forest {

// A batch of contexts: rows of n_variables bytes, zeros and ones.
struct Contexts {
    const std::uint8_t* rows;
    std::size_t n_events;
    std::size_t n_variables;

    std::span<const std::uint8_t> row(std::size_t event) const { return {rows + event * n_variables, n_variables}; }
};

struct Choice {
    std::size_t action;
    double propensity;
};

}  // namespace bandit_forest
