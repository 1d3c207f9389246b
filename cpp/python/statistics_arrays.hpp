// Statistics of the actions in nodes, as NumPy arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "python/arrays.hpp"
#include "forest/growth_rule.hpp"
#include "forest/node_statistics.hpp"

namespace bandit_forest {

// Arrays by their names in Python.
using Arrays = nb::typed<nb::dict, nb::str, nb::any>;

// One row per node, one column per action: filled while the forest is held, then handed to Python.
class StatisticsArrays {
   public:
    StatisticsArrays(std::size_t n_nodes, std::size_t n_actions)
        : n_nodes_(n_nodes), n_actions_(n_actions), plays_(n_nodes * n_actions), means_(n_nodes * n_actions) {}

    template <GrowingTree Growing>
    void set(std::size_t row, const Growing& growth, NodeId node) {
        for (std::size_t k = 0; k < n_actions_; ++k) {
            const NodeStatistics own = node_statistics(growth, node, k);
            plays_.data[row * n_actions_ + k] = static_cast<std::int64_t>(own.plays);
            means_.data[row * n_actions_ + k] = own.mean;
        }
    }

    std::span<const std::int64_t> plays(std::size_t row) { return plays_.span().subspan(row * n_actions_, n_actions_); }

    void release(Arrays& out, const char* name_of_means) {
        out["plays"] = plays_.release<OutRows<std::int64_t>>({n_nodes_, n_actions_});
        out[name_of_means] = means_.release<OutRows<double>>({n_nodes_, n_actions_});
    }

   private:
    std::size_t n_nodes_;
    std::size_t n_actions_;
    Buffer<std::int64_t> plays_;
    Buffer<double> means_;
};

}  // namespace bandit_forest
