// The variance of the rewards that the splits of a growing tree explain, by variable.
#pragma once

#include <cstddef>
#include <vector>

#include "forest/growth_rule.hpp"
#include "forest/node_statistics.hpp"
#include "tree/tree.hpp"

namespace bandit_forest {

// Whether a node has events.
inline bool is_informed(const Elimination&, NodeId) { return true; }
inline bool is_informed(const GreedyTree& growth, NodeId node) { return growth.tree().is_leaf(node); }

inline void prefetch(const Elimination& growth, NodeId leaf) { growth.prefetch(leaf); }
inline void prefetch(const GreedyTree& growth, NodeId leaf) { growth.leaves().prefetch(growth.tree().step(leaf).child); }

template <GrowingTree Growing>
std::vector<double> explained_variance(const Growing& growth, std::size_t n_actions) {
    const Tree& tree = growth.tree();
    for (NodeId node = 0; node < tree.size(); ++node) {  // in this order misses overlap
        if (tree.is_leaf(node)) {
            prefetch(growth, node);
        }
    }
    return explained_variance(tree, n_actions, [&](NodeId node, double* plays, double* rewards) {
        if (!is_informed(growth, node)) {
            return false;
        }
        for (std::size_t k = 0; k < n_actions; ++k) {
            if (const NodeStatistics own = node_statistics(growth, node, k); own.plays > 0.0) {
                plays[k] += own.plays;
                rewards[k] += own.plays * own.mean;
            }
        }
        return true;
    });
}

}  // namespace bandit_forest
