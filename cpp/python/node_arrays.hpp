// The nodes of a tree, as NumPy arrays: filled while the forest is held, then handed to Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>

#include "python/arrays.hpp"
#include "elimination/elimination.hpp"
#include "forest/growth_rule.hpp"
#include "greedy/growth.hpp"
#include "python/statistics_arrays.hpp"
#include "tree/tree.hpp"

namespace bandit_forest {

// The arrays of the nodes of all trees.
class NodeArrays {
   public:
    template <GrowingTree Growing>
    NodeArrays(const Growing& growth, std::size_t n_actions)
        : n_(growth.tree().size()),
          parent_(n_),
          depth_(n_),
          variable_(n_),
          threshold_(n_),
          child_(n_),
          visits_(n_),
          statistics_(n_, n_actions) {
        const Tree& tree = growth.tree();
        for (std::size_t i = 0; i < n_; ++i) {
            const auto node = static_cast<NodeId>(i);
            const bool leaf = tree.is_leaf(node);
            parent_.data[i] = i == 0 ? -1 : static_cast<std::int64_t>(tree.path(node).parent);
            depth_.data[i] = tree.path(node).depth;
            variable_.data[i] = leaf ? -1 : static_cast<std::int64_t>(tree.step(node).test.variable());
            threshold_.data[i] = leaf ? -1 : static_cast<std::int64_t>(tree.step(node).test.threshold());
            child_.data[i] = leaf ? -1 : static_cast<std::int64_t>(tree.step(node).child);
            statistics_.set(i, growth, node);
            const auto plays = statistics_.plays(i);
            visits_.data[i] = std::accumulate(plays.begin(), plays.end(), std::int64_t{0});
        }
    }

    Arrays release() {
        Arrays out;
        out["parent"] = parent_.release<Out<std::int64_t>>({n_});
        out["depth"] = depth_.release<Out<std::int64_t>>({n_});
        out["variable"] = variable_.release<Out<std::int64_t>>({n_});
        out["threshold"] = threshold_.release<Out<std::int64_t>>({n_});
        out["child"] = child_.release<Out<std::int64_t>>({n_});
        out["visits"] = visits_.release<Out<std::int64_t>>({n_});
        statistics_.release(out, "mean_rewards");
        return out;
    }

   private:
    std::size_t n_;  // nodes
    Buffer<std::int64_t> parent_, depth_, variable_, threshold_, child_, visits_;
    StatisticsArrays statistics_;
};

class EliminationArrays {
   public:
    EliminationArrays(const Elimination& growth, const Settings& settings)
        : n_(growth.tree().size()),
          n_actions_(settings.n_actions),
          n_variables_(settings.n_variables),
          nodes_(growth, n_actions_),
          status_(n_),
          tolerance_(n_),
          remaining_actions_(n_ * n_actions_),
          remaining_variables_(n_ * n_variables_) {
        for (std::size_t i = 0; i < n_; ++i) {
            const auto node = static_cast<NodeId>(i);
            status_.data[i] = static_cast<std::uint8_t>(growth.state(node).status);
            tolerance_.data[i] = growth.state(node).tolerance;
            for_each(growth.remaining_actions(node),
                     [&](std::size_t k) { remaining_actions_.data[i * n_actions_ + k] = 1; });
            for_each(growth.remaining_variables(node),
                     [&](std::size_t v) { remaining_variables_.data[i * n_variables_ + v] = 1; });
        }
    }

    Arrays release() {
        Arrays out = nodes_.release();
        out["status"] = status_.release<Out<std::uint8_t>>({n_});
        out["tolerance"] = tolerance_.release<Out<double>>({n_});
        out["remaining_actions"] = remaining_actions_.release<OutRows<std::uint8_t>>({n_, n_actions_});
        out["remaining_variables"] = remaining_variables_.release<OutRows<std::uint8_t>>({n_, n_variables_});
        return out;
    }

   private:
    std::size_t n_;  // nodes
    std::size_t n_actions_;
    std::size_t n_variables_;
    NodeArrays nodes_;
    Buffer<std::uint8_t> status_;
    Buffer<double> tolerance_;
    Buffer<std::uint8_t> remaining_actions_;    // by node and action
    Buffer<std::uint8_t> remaining_variables_;  // by node and variable
};

class GreedyArrays {
   public:
    GreedyArrays(const GreedyTree& growth, const Settings& settings)
        : nodes_(growth, settings.n_actions), gain_(growth.tree().size()) {
        for (std::size_t i = 0; i < gain_.size; ++i) {
            gain_.data[i] = growth.gain(static_cast<NodeId>(i));
        }
    }

    Arrays release() {
        Arrays out = nodes_.release();
        out["gain"] = gain_.release<Out<double>>({gain_.size});
        return out;
    }

   private:
    NodeArrays nodes_;
    Buffer<double> gain_;
};

inline EliminationArrays arrays_of(const Elimination& growth, const Settings& settings) { return {growth, settings}; }
inline GreedyArrays arrays_of(const GreedyTree& growth, const Settings& settings) { return {growth, settings}; }

}  // namespace bandit_forest
