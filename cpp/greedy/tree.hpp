// A greedy tree as it stands: where contexts lead, and what its leaves have learned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "greedy/leaves.hpp"
#include "policy/random.hpp"
#include "policy/settings.hpp"
#include "tree/tree.hpp"
#include "util/archive.hpp"

namespace bandit_forest {

// Each tree of a forest has a number, and each time that it is renewed another generation: both draw its splits.
class GreedyTree {
   public:
    // A tree that is to be grown: a root, and no leaf yet.
    GreedyTree(const GreedySettings& settings, std::size_t number, std::uint64_t generation)
        : settings_(&settings),
          max_depth_(draw_depth(settings, number)),
          generation_(generation),
          tree_(settings.n_variables, root_key(settings.seed, number + settings.n_trees * generation)),
          gains_{0.0F},
          leaves_(settings.n_actions) {}

    bool may_split(NodeId node) const {
        return tree_.path(node).depth < max_depth_ && tree_.size() + 2 <= settings_->max_nodes;
    }
    // Returns the child of the contexts that fail the test, which the child of those that pass follows.
    NodeId split(NodeId node, Test test, double gain) {
        gains_[node] = static_cast<float>(gain);
        const NodeId child = tree_.split(node, test);
        gains_.resize(tree_.size(), 0.0F);
        return child;
    }
    void make_leaf(NodeId node, std::span<const float> means, std::span<const float> counts) {
        tree_.set_label(node, leaves_.add(means, counts));
    }

    void learn(Slot leaf, std::size_t action, float reward) {
        leaves_.learn(leaf, action, reward, static_cast<float>(settings_->shrinkage));
    }

    const Tree& tree() const { return tree_; }
    const Leaves& leaves() const { return leaves_; }
    std::size_t max_depth() const { return max_depth_; }
    std::uint64_t generation() const { return generation_; }
    double gain(NodeId node) const { return static_cast<double>(gains_[node]); }

    std::size_t n_bytes() const { return tree_.n_bytes() + gains_.capacity() * sizeof(float) + leaves_.n_bytes(); }

    template <class Archive>
    void archive(Archive& io) {
        io(generation_);
        tree_.archive(io);
        io(gains_);
        leaves_.archive(io);
        if constexpr (Archive::loading) {
            check();
        }
    }

   private:
    void check() const {
        require(gains_.size() == tree_.size(), "a tree's arrays differ in length");
        require(tree_.size() <= settings_->max_nodes && tree_.levels() <= max_depth_, "a tree is larger than it may be");
        std::vector<std::uint8_t> is_used(leaves_.size(), 0);
        std::size_t n_leaves = 0;
        for (NodeId node = 0; node < tree_.size(); ++node) {
            const Step& step = tree_.step(node);
            if (tree_.is_leaf(node)) {
                ++n_leaves;
                require(step.child < leaves_.size() && is_used[step.child]++ == 0, "a leaf has not its own slot");
            } else if (!settings_->levels.empty()) {
                require(step.test.threshold() < settings_->levels[step.test.variable()], "a test asks for too much");
            } else {
                require(step.test.threshold() == 1, "a test asks for too much");
            }
        }
        require(n_leaves == leaves_.size(), "a slot has no leaf");
    }

    const GreedySettings* settings_;  // of the forest, which outlives its trees
    std::size_t max_depth_;           // D
    std::uint64_t generation_;        // how often this tree has been renewed
    Tree tree_;                       // its leaves are labelled with their slots
    std::vector<float> gains_;        // by node: variance explained by its split
    Leaves leaves_;
};

}  // namespace bandit_forest
