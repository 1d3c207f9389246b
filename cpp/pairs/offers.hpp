// Events with the actions that they offer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "policy/contexts.hpp"

namespace bandit_forest {

// The actions of all events stand one after the other.
struct Offers {
    Contexts contexts;                     // one row for each event
    Contexts actions;                      // one row for each offered action
    std::span<const std::uint64_t> names;  // of the offered actions; empty where they have none
    std::span<const std::int64_t> starts;  // by event: its first action; at last the number of all actions

    std::size_t n_events() const { return contexts.n_events; }
    std::size_t first(std::size_t event) const { return static_cast<std::size_t>(starts[event]); }
    std::size_t n_offered(std::size_t event) const { return first(event + 1) - first(event); }
};

}  // namespace bandit_forest
