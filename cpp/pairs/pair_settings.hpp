// The parameters of a forest over pairs, checked by the caller.
#pragma once

#include <cstddef>

#include "policy/settings.hpp"

namespace bandit_forest {

// Those of a greedy forest with a single action, whose variables are those of a context, then those of an action.
struct PairSettings : GreedySettings {
    std::size_t n_context_variables;  // the first so many variables are the context's
    std::size_t n_names;              // entries of the table of names, a multiple of four
    std::size_t n_named_actions;      // names up to which a forest has an action for each; 0 for no such forest
};

}  // namespace bandit_forest
