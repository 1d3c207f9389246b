// Mean estimates over all trees, added up as in a forest with fixed actions: groups of trees first, then all groups.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "greedy/growth.hpp"
#include "greedy/leaves.hpp"
#include "policy/settings.hpp"

namespace bandit_forest {

// One action in a leaf of a tree.
struct LeafAction {
    Slot leaf;
    std::size_t action;
};

// Sets the mean of each of n estimates over the trees, and the mean of 1 / its number of events.
// `leaf_action(i, tree)` is what estimate i is of in a tree.
template <class LeafActionOf>
void average_trees(const GreedyGrowth& growth, const GreedySettings& settings, std::size_t n,
                   LeafActionOf&& leaf_action, std::vector<double>& means, std::vector<double>& inverse_counts) {
    thread_local std::vector<double> group_means, group_inverse_counts;
    const auto shrinkage = static_cast<float>(settings.shrinkage);
    means.assign(n, 0.0);
    inverse_counts.assign(n, 0.0);
    for (std::size_t first = 0; first < settings.n_trees; first += GreedyGrowth::trees_together) {
        group_means.assign(n, 0.0);
        group_inverse_counts.assign(n, 0.0);
        const std::size_t last = std::min(first + GreedyGrowth::trees_together, settings.n_trees);
        for (std::size_t tree = first; tree < last; ++tree) {
            const Leaves& leaves = growth.tree(tree).leaves();
            for (std::size_t i = 0; i < n; ++i) {
                const LeafAction at = leaf_action(i, tree);
                group_means[i] += static_cast<double>(leaves.mean(at.leaf, at.action));
                group_inverse_counts[i] += static_cast<double>(1.0F / (leaves.count(at.leaf, at.action) + shrinkage));
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            means[i] += group_means[i];
            inverse_counts[i] += group_inverse_counts[i];
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        means[i] /= static_cast<double>(settings.n_trees);
        inverse_counts[i] /= static_cast<double>(settings.n_trees);
    }
}

}  // namespace bandit_forest
