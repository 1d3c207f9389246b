// How a forest decides in one context, as NumPy arrays: filled while the forest is held, made Python's afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "python/arrays.hpp"
#include "forest/forest.hpp"
#include "python/known_arrays.hpp"

namespace bandit_forest {

// The available action that a leaf votes for; -1 while it has not settled on one.
inline std::int64_t vote(const Elimination& growth, NodeId leaf, ConstWords available) {
    std::vector<std::uint64_t> open(available.begin(), available.end());
    for (std::size_t w = 0; w < open.size(); ++w) {
        open[w] &= growth.remaining_actions(leaf)[w];
    }
    return is_single(open) ? static_cast<std::int64_t>(first(open)) : -1;
}

inline std::int64_t vote(const GreedyTree& growth, NodeId leaf, ConstWords available) {
    std::size_t best = first(available);
    for_each(available, [&](std::size_t action) {
        best = known(growth, leaf, action).mean > known(growth, leaf, best).mean ? action : best;
    });
    return static_cast<std::int64_t>(best);
}

// The probabilities at one moment, and in each tree the path of the context and the leaf where it ends.
class ExplanationArrays {
   public:
    template <class Growth>
    ExplanationArrays(const Forest<Growth>& forest, std::span<const std::uint8_t> context, ConstWords available)
        : n_trees_(forest.settings().n_trees),
          lengths_(n_trees_),
          votes_(n_trees_),
          leaves_(n_trees_, forest.settings().n_actions) {
        const Growth& growth = forest.growth();
        plan_ = forest.plan(context, available);
        mean_rewards_ = growth.mean_rewards(forest.leaves(context));
        std::vector<std::uint64_t> packed(words_for(forest.settings().n_variables + 1));
        pack(context, packed);
        for (std::size_t t = 0; t < n_trees_; ++t) {
            const std::size_t before = tests_.size();
            const NodeId leaf = growth.tree(t).tree().descend(packed, tests_);
            lengths_.data[t] = static_cast<std::int64_t>(tests_.size() - before);
            votes_.data[t] = vote(growth.tree(t), leaf, available);
            leaves_.set(t, growth.tree(t), leaf);
        }
    }

    Arrays release() {
        Arrays out;
        out["propensities"] = as_array(plan_.probabilities);
        out["mean_rewards"] = as_array(mean_rewards_);
        out["tests"] = as_array(tests_);
        out["lengths"] = lengths_.release<Out<std::int64_t>>({n_trees_});
        out["votes"] = votes_.release<Out<std::int64_t>>({n_trees_});
        leaves_.release(out, "leaf_means");
        return out;
    }

   private:
    std::size_t n_trees_;
    Plan plan_;
    std::vector<double> mean_rewards_;  // by action
    std::vector<std::uint32_t> tests_;  // variables, one path after the other
    Buffer<std::int64_t> lengths_;      // by tree: tests of its path
    Buffer<std::int64_t> votes_;        // by tree
    KnownArrays leaves_;                // by tree
};

}  // namespace bandit_forest
