// The parameters of a forest over pairs, checked by the caller.
#pragma once

#include <cstddef>

#include "policy/settings.hpp"

namespace bandit_forest {

// Those of a greedy forest with a single action, whose variables are those of a context, then those of an action.
struct PairSettings : GreedySettings {
    std::size_t n_context_variables;  // number of variables of a context, which are the first
    std::size_t n_names;              // entries of the table of names, a multiple of four
    std::size_t n_named_actions;      // largest number of names that each have an action; 0: no forest of them
};

}  // namespace bandit_forest
