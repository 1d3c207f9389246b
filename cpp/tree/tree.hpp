// The shape of a tree: nodes in one array, the route of a context, and growth by a pair of children.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tree/test.hpp"
#include "util/archive.hpp"
#include "util/memory.hpp"

namespace bandit_forest {

using NodeId = std::uint32_t;

// The part of a node that routing reads, eight nodes to a cache line.
struct Step {
    Test test;            // a leaf tests n_variables, the spare zero behind the values
    std::uint32_t child;  // where a context leads that fails, one that passes leads to the next node; a leaf's label
};

// The part of a node that routing does not read.
struct Path {
    std::uint64_t key;     // hash of the path's (test, outcome) pairs: the address of its draws
    NodeId parent;         // the root is its own parent
    std::uint32_t depth;   // number of tests on the way here; 0 for the root
};

class Tree {
   public:
    Tree(std::size_t n_variables, std::uint64_t key);

    std::size_t n_variables() const { return n_variables_; }
    std::size_t size() const { return steps_.size(); }
    bool is_leaf(NodeId node) const { return steps_[node].test.variable() == n_variables_; }
    const Step& step(NodeId node) const { return steps_[node]; }
    const Path& path(NodeId node) const { return paths_[node]; }
    const Step* steps() const { return steps_.data(); }
    std::uint32_t levels() const { return levels_; }

    // The label that routing to a leaf returns; the leaf's own number unless it is set.
    void set_label(NodeId leaf, std::uint32_t label) { steps_[leaf].child = label; }

    // Makes a leaf test contexts; returns the child for those that fail, which the child for those that pass follows.
    NodeId split(NodeId leaf, Test test);

    // The leaf that a context leads to; the tests on the way are appended to `tests`.
    NodeId descend(std::span<const std::uint8_t> context, std::vector<Test>& tests) const;

    // The variables that are not on the path of a node, in order.
    std::vector<std::uint32_t> free_variables(NodeId node) const;

    std::size_t n_bytes() const;

    template <class Archive>
    void archive(Archive& io) {
        io(steps_);
        io(paths_);
        if constexpr (Archive::loading) {
            check();
        }
    }

   private:
    void check();

    std::size_t n_variables_;   // M
    std::uint32_t levels_ = 0;  // the depth of the deepest node
    LargeVector<Step> steps_;   // by node
    std::vector<Path> paths_;   // by node
};

// Routes contexts through trees, many descents at once, so that their cache misses overlap, and tree by tree, so that a
// tree stays in the cache for all contexts. A context has n_variables + 1 codes, the last one zero. Writes the label of
// the leaf that context i reaches in tree j to labels[i * stride + j].
void route(std::span<const Tree* const> trees, std::span<const std::uint8_t> contexts, std::uint32_t* labels,
           std::size_t stride);

// The variance of the rewards that the splits of a tree explain, by variable: the differences of the means of the actions
// between the two sides of a split, summed over events, minus the expectation by chance. `recall` adds the plays and the
// sum of rewards of each action in a node, or returns that the node has no statistics.
using Recall = std::function<bool(NodeId node, double* plays, double* rewards)>;
std::vector<double> explained_variance(const Tree& tree, std::size_t n_actions, const Recall& recall);

}  // namespace bandit_forest
