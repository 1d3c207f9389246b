// Statistics of the actions in the nodes of a growing tree, for both kinds of growth.
#pragma once

#include <cstddef>
#include <limits>

#include "elimination/elimination.hpp"
#include "greedy/growth.hpp"

namespace bandit_forest {

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// Statistics of an action in a node.
struct NodeStatistics {
    double plays;
    double mean;  // of its rewards
};

inline NodeStatistics node_statistics(const Elimination& growth, NodeId node, std::size_t action) {
    const Tally& tally = growth.tallies(node)[action];
    return {static_cast<double>(tally.plays), tally.plays > 0 ? tally.mean() : unknown};
}

// Nodes that have split have no statistics.
inline NodeStatistics node_statistics(const GreedyTree& growth, NodeId node, std::size_t action) {
    if (!growth.tree().is_leaf(node)) {
        return {0.0, unknown};
    }
    const Slot slot = growth.tree().step(node).child;
    return {static_cast<double>(growth.leaves().count(slot, action)),
            static_cast<double>(growth.leaves().mean(slot, action))};
}

}  // namespace bandit_forest
