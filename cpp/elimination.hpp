// Growth by elimination (Algorithms 2 to 4 and NewPath of Algorithm 6) on the nodes of one tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "archive.hpp"
#include "bits.hpp"
#include "exploration.hpp"
#include "pool.hpp"
#include "settings.hpp"
#include "tree.hpp"

namespace bandit_forest {

// One learned event, prepared once for all trees.
struct Event {
    std::span<const double> bits;  // the context as 0.0 and 1.0, padded with zeros to the stride
    std::size_t action;            // the action taken
    double weight;                 // 1, or 1 / propensity where rewards are weighted
    double gain;                   // reward times weight
};

// What is known of one action in one node.
struct Tally {
    std::uint64_t plays;  // events in which the action was taken
    double weight;        // sum of their weights
    double gain;          // sum of their gains
};

enum class Status : std::uint8_t {
    selecting,  // explores variables: a stump in the making
    split,      // has chosen its variable: the paths go on in its children
    terminal,   // chooses its action only
};

struct NodeState {
    std::uint64_t visits;  // events learned here
    std::uint64_t tested;  // plays of the least played remaining action at the last test
    double tolerance;      // ε of this node
    std::int32_t stump;    // where the sums by variable are; -1 before the first visit and after the choice
    Status status;
    std::uint8_t last_level;  // 1 where a stump would be the last of its path
    std::uint8_t padding[2];  // zeros, so that saved bytes are the same everywhere
};

// What a selecting node knows besides its sums of gains by variable. The sums are rows of actions and columns of
// variables, for value 1 alone: value 0 is the action's tally less value 1.
struct Stump {
    std::vector<std::uint64_t> remaining_variables;  // S
    // In nodes of the last level only, since A_{c,i,v} takes effect nowhere else:
    std::vector<double> plays;                      // events
    std::vector<double> weight;                     // sum of weights
    std::vector<std::uint64_t> remaining_actions;   // A_{c,i,v}, by variable and value

    template <class Archive>
    void archive(Archive& io) {
        io(remaining_variables);
        io(plays);
        io(weight);
        io(remaining_actions);
    }
};

class Elimination {
   public:
    Elimination(const EliminationSettings& settings, std::size_t tree_number);

    // Learns one event in the leaf that its context leads to.
    void learn(NodeId leaf, const Event& event);

    // Bring what is going to be touched nearer: for the decision, then for learning, once the action is known.
    void prefetch(NodeId leaf) const;
    void prefetch(NodeId leaf, const Event& event) const;

    const Tree& tree() const { return tree_; }
    const NodeState& state(NodeId node) const { return states_[node]; }
    ConstWords remaining_actions(NodeId node) const {
        return {remaining_.data() + node * action_words_, action_words_};
    }
    std::span<const Tally> tallies(NodeId node) const {
        return {tallies_.data() + node * settings_->n_actions, settings_->n_actions};
    }
    // S of a selecting node; empty for others.
    std::vector<std::uint64_t> remaining_variables(NodeId node) const;
    std::size_t max_depth() const { return max_depth_; }

    // What the gains of an action in a node are divided by.
    double denominator(NodeId node, std::size_t action) const;

    // The padded number of variables: columns of the sums.
    static std::size_t stride(std::size_t n_variables) { return (n_variables + 7) / 8 * 8; }

    std::size_t n_bytes() const;

    template <class Archive>
    void archive(Archive& io) {
        tree_.archive(io);
        io(states_);
        io(remaining_);
        io(tallies_);
        io(free_stumps_);
        std::uint64_t n_stumps = stumps_.size();
        io(n_stumps);
        if constexpr (Archive::loading) {
            require(n_stumps <= states_.size(), "a tree has more stumps than nodes");
            stumps_.resize(n_stumps);
            gains_.grow(n_stumps);
        }
        for (Stump& stump : stumps_) {
            stump.archive(io);
        }
        for (const NodeState& state : states_) {
            if (state.stump >= 0) {
                require(static_cast<std::size_t>(state.stump) < n_stumps, "a node's stump is not there");
                io.array(gains_.row(static_cast<std::size_t>(state.stump)), gains_.length());
            }
        }
        if constexpr (Archive::loading) {
            check();
        }
    }

   private:
    Words remaining(NodeId node) { return {remaining_.data() + node * action_words_, action_words_}; }
    Words remaining(Stump& stump, std::size_t variable, std::size_t value) const {
        return {stump.remaining_actions.data() + (2 * variable + value) * action_words_, action_words_};
    }
    Tally* tallies_of(NodeId node) { return tallies_.data() + node * settings_->n_actions; }
    double* gains_of(NodeId node) { return gains_.row(static_cast<std::size_t>(states_[node].stump)); }
    const double* gains_of(NodeId node) const { return gains_.row(static_cast<std::size_t>(states_[node].stump)); }
    Stump& stump_of(NodeId node) { return stumps_[static_cast<std::size_t>(states_[node].stump)]; }

    void new_path(NodeId node);
    std::vector<std::uint32_t> candidates(NodeId node) const;
    void make_stump(NodeId node);
    void release_stump(NodeId node);
    void count(NodeId node, const Event& event);
    void test(NodeId node);
    void eliminate_variables(NodeId node, std::uint64_t plays);
    void eliminate_actions_by_value(NodeId node);
    Tally given(NodeId node, std::size_t action, std::size_t variable, std::size_t value) const;
    void eliminate_actions(NodeId node, std::uint64_t plays);
    void choose_variable(NodeId node);
    void hand_over(NodeId node, std::uint32_t variable, NodeId child);
    void check() const;

    const EliminationSettings* settings_;        // of the forest, which outlives its trees
    std::size_t action_words_;        // words of a set of actions
    std::size_t max_depth_;           // D_θ
    double log_variable_hypotheses_;  // log(4 2^D K M D_θ L / δ), equation (3)
    double log_action_hypotheses_;    // log(4 2^D K L / δ), equation (4)
    Tree tree_;
    std::vector<NodeState> states_;         // by node
    std::vector<std::uint64_t> remaining_;  // actions in play, by node
    std::vector<Tally> tallies_;            // by node and action
    std::vector<Stump> stumps_;             // of the selecting nodes that have been visited
    Pool gains_;                            // their sums of gains by action and variable
    std::vector<std::int32_t> free_stumps_; // unused places in stumps_
};

// The trees, and the choice of an action from what remains in them.
class EliminationGrowth {
   public:
    using Settings = EliminationSettings;

    explicit EliminationGrowth(const EliminationSettings& settings);

    std::span<const Tree* const> shapes() const { return shapes_; }
    const Elimination& tree(std::size_t number) const { return trees_.at(number); }

    void prefetch(std::span<const NodeId> leaves) const;
    void plan(std::span<const NodeId> leaves, ConstWords available, Plan& out) const;
    void learn(const Observation& event, std::span<const NodeId> leaves);
    // NaN where no tree knows a mean.
    std::vector<double> mean_rewards(std::span<const NodeId> leaves) const;
    std::vector<std::uint32_t> votes(std::span<const NodeId> leaves, ConstWords available) const;
    std::size_t n_bytes() const;

    template <class Archive>
    void archive(Archive& io) {
        for (Elimination& tree : trees_) {
            tree.archive(io);
        }
    }

   private:
    const EliminationSettings* settings_;  // of the forest
    std::vector<Elimination> trees_;
    std::vector<const Tree*> shapes_;      // of the trees, for routing
};

}  // namespace bandit_forest
