// The explanation of a decision in one context, as NumPy arrays: filled while the forest is held, then handed to Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "python/arrays.hpp"
#include "forest/forest.hpp"
#include "python/statistics_arrays.hpp"

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
        const double mean = node_statistics(growth, leaf, action).mean;
        best = mean > node_statistics(growth, leaf, best).mean ? action : best;
    });
    return static_cast<std::int64_t>(best);
}

// The parts of the estimates of the actions from trees and line.
struct LinearShares {
    double tree_weight;         // of the mean of the trees' means
    double line_weight;         // of the linear estimates
    std::vector<double> means;  // by action, the linear estimates; none where there is no linear part
};

inline LinearShares linear_shares(const EliminationGrowth&, std::span<const std::uint8_t>) { return {1.0, 0.0, {}}; }

inline LinearShares linear_shares(const GreedyGrowth& growth, std::span<const std::uint8_t> context) {
    const LinearPart* const linear = growth.linear();
    if (linear == nullptr) {
        return {1.0, 0.0, {}};
    }
    TermValues values;
    linear->line().terms().of(context, values);
    LinearShares shares{linear->blend().trees(), linear->blend().line(), {}};
    for (std::size_t action = 0; action < growth.n_actions(); ++action) {
        shares.means.push_back(linear->line().mean(values, action));
    }
    return shares;
}

// The probabilities at one moment, and in each tree the path of the context and the leaf where it ends.
class ExplanationArrays {
   public:
    template <GrowthRule Growth>
    ExplanationArrays(const Forest<Growth>& forest, std::span<const std::uint8_t> context, ConstWords available)
        : n_trees_(forest.settings().n_trees),
          lengths_(n_trees_),
          votes_(n_trees_),
          leaves_(n_trees_, forest.settings().n_actions) {
        const Growth& growth = forest.growth();
        plan_ = forest.plan(context, available);
        mean_rewards_ = growth.mean_rewards(context, forest.leaves(context));
        std::vector<Test> tests;
        for (std::size_t t = 0; t < n_trees_; ++t) {
            const std::size_t before = tests.size();
            const NodeId leaf = growth.tree(t).tree().descend(context, tests);
            lengths_.data[t] = static_cast<std::int64_t>(tests.size() - before);
            votes_.data[t] = vote(growth.tree(t), leaf, available);
            leaves_.set(t, growth.tree(t), leaf);
        }
        for (const Test test : tests) {
            variables_.push_back(test.variable());
            thresholds_.push_back(test.threshold());
        }
        linear_ = linear_shares(growth, context);
    }

    Arrays release() {
        Arrays out;
        out["propensities"] = as_array(plan_.probabilities);
        out["mean_rewards"] = as_array(mean_rewards_);
        out["variables"] = as_array(variables_);
        out["thresholds"] = as_array(thresholds_);
        out["lengths"] = lengths_.release<Out<std::int64_t>>({n_trees_});
        out["votes"] = votes_.release<Out<std::int64_t>>({n_trees_});
        leaves_.release(out, "leaf_means");
        out["tree_weight"] = linear_.tree_weight;
        out["line_weight"] = linear_.line_weight;
        out["line_means"] = as_array(linear_.means);
        return out;
    }

   private:
    std::size_t n_trees_;
    Plan plan_;
    std::vector<double> mean_rewards_;  // by action
    std::vector<std::uint32_t> variables_;   // of the tests, one path after the other
    std::vector<std::uint32_t> thresholds_;  // the same
    LinearShares linear_;
    Buffer<std::int64_t> lengths_;      // by tree: tests of its path
    Buffer<std::int64_t> votes_;        // by tree
    StatisticsArrays leaves_;           // by tree
};

}  // namespace bandit_forest
