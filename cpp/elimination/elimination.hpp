// Growth by elimination (Algorithms 2 to 4 and NewPath of Algorithm 6) on the nodes of one tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "util/archive.hpp"
#include "util/bits.hpp"
#include "policy/exploration.hpp"
#include "policy/settings.hpp"
#include "util/team.hpp"
#include "elimination/stumps.hpp"
#include "tree/tree.hpp"

namespace bandit_forest {

// One learned event, prepared once for all trees.
struct Event {
    ConstWords context;  // packed, with a spare zero bit
    std::size_t action;  // the action taken
    double weight;       // 1, or 1 / propensity where rewards are weighted
    double gain;         // reward times weight
};

// Statistics of one action in one node.
struct Tally {
    std::uint64_t plays;  // events in which the action was taken
    double weight;        // sum of their weights
    double gain;          // sum of their gains

    // A mean of rewards for any weights; the values that elimination compares may not be means.
    double mean() const { return gain / weight; }
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
    std::int32_t stump;    // number of its stump; -1 before the first visit and after the choice
    Status status;
    std::uint8_t last_level;  // 1 where a stump would be the last of its path
    std::uint16_t pending;    // rewarded events that are not yet in the sums by variable
};

class Elimination {
   public:
    Elimination(const EliminationSettings& settings, std::size_t tree_number, Stumps& stumps);

    // Learns one event in the leaf that its context leads to.
    void learn(NodeId leaf, const Event& event);

    // Prefetch the memory that is read next: for the decision, then for learning, once the action is known.
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

    // The padded number of variables: columns of the sums.
    static std::size_t stride(std::size_t n_variables) { return (n_variables + 7) / 8 * 8; }

    std::size_t n_bytes() const;

    // Words of the pending events of a stump.
    static std::size_t buffer_words(std::size_t n_variables);

    template <class Archive>
    void archive(Archive& io) {
        if constexpr (!Archive::loading) {
            flush_all();
        }
        tree_.archive(io);
        io(remaining_);
        io(tallies_);
        archive_states(io);
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
    // Saved states contain only whether a node has a stump, not its number.
    template <class Archive>
    void archive_states(Archive& io) {
        std::vector<NodeState> states(states_.begin(), states_.end());
        for (NodeState& state : states) {
            state.stump = std::min(state.stump, 0);
        }
        io(states);
        if constexpr (Archive::loading) {
            states_ = states;
            for (NodeState& state : states_) {
                state.stump = state.stump == 0 ? stumps_->acquire() : -1;
            }
        }
        for (const NodeState& state : states_) {
            if (state.stump >= 0) {
                stumps_->at(state.stump).archive(io);
                io.array(stumps_->gains(state.stump), stumps_->n_cells());
            }
        }
    }

    double* gains_of(NodeId node) { return stumps_->gains(states_[node].stump); }
    Stump& stump_of(NodeId node) { return stumps_->at(states_[node].stump); }

    void new_path(NodeId node);
    std::vector<std::uint32_t> candidates(NodeId node) const;
    void make_stump(NodeId node);
    void release_stump(NodeId node);
    void count(NodeId node, const Event& event);
    void append(NodeId node, const Event& event);
    void flush(NodeId node);
    void flush_all();
    void test(NodeId node);
    double denominator(NodeId node, std::size_t action) const;
    void eliminate_variables(NodeId node);
    void eliminate_actions_by_value(NodeId node);
    Tally given(NodeId node, std::size_t action, std::size_t variable, std::size_t value) const;
    void eliminate_actions(NodeId node);
    void choose_variable(NodeId node);
    void hand_over(NodeId node, std::uint32_t variable, NodeId child);
    void check() const;

    const EliminationSettings* settings_;        // of the forest, which outlives its trees
    std::size_t action_words_;        // words of a set of actions
    std::size_t max_depth_;           // D_θ
    double log_variable_hypotheses_;  // log(4 2^D K M D_θ L / δ), equation (3)
    double log_action_hypotheses_;    // log(4 2^D K L / δ), equation (4)
    Stumps* stumps_;                  // of the forest, which outlives its trees
    Tree tree_;
    std::vector<NodeState> states_;         // by node
    std::vector<std::uint64_t> remaining_;  // actions in play, by node
    std::vector<Tally> tallies_;            // by node and action
};

// The trees, and the choice of an action from what remains in them.
class EliminationGrowth {
   public:
    using Settings = EliminationSettings;

    explicit EliminationGrowth(const EliminationSettings& settings);

    std::span<const Tree* const> shapes() const { return shapes_; }
    const Elimination& tree(std::size_t number) const { return trees_.at(number); }

    using Partial = std::uint64_t;  // words of the remaining actions of each tree
    static std::size_t n_partials(const Settings& settings) { return settings.n_trees * words_for(settings.n_actions); }
    static constexpr std::size_t trees_together = 1;
    static std::size_t work_beside_trees() { return 0; }
    static constexpr std::uint64_t events_per_growth = 0;  // a tree grows while it learns
    static constexpr std::size_t most_until_change = 1;
    // The number of events, from this one on, that are routed through the same trees: any event may split a path.
    static std::size_t events_until_change(std::uint64_t /*event*/) { return 1; }

    void prefetch(std::span<const NodeId> leaves, Range trees) const;
    std::size_t context_words() const { return words_for(settings_->n_variables + 1); }  // with a spare zero bit
    void pack(std::span<const std::uint8_t> context, Words out) const { bandit_forest::pack(context, out); }
    void estimate(std::span<const std::uint8_t> context, std::span<const NodeId> leaves, Range trees,
                  ConstWords available, std::span<Partial> out) const;
    void plan(std::span<const Partial> estimates, ConstWords available, std::uint64_t n_events, Plan& out) const;
    void remember(const Observation&) {}  // leaves keep all that learning needs
    void learn(const Observation& event, std::span<const NodeId> leaves, Range trees);
    // NaN where no tree has a mean.
    std::vector<double> mean_rewards(std::span<const std::uint8_t> context, std::span<const NodeId> leaves) const;
    std::vector<std::uint32_t> votes(std::span<const NodeId> leaves, ConstWords available) const;
    std::size_t n_bytes() const;

    template <class Archive>
    void archive(Archive& io, std::uint64_t /*n_events*/) {
        for (Elimination& tree : trees_) {
            tree.archive(io);
        }
    }

   private:
    const EliminationSettings* settings_;  // of the forest
    std::unique_ptr<Stumps> stumps_;       // of all trees
    std::vector<Elimination> trees_;
    std::vector<const Tree*> shapes_;      // of the trees, for routing
};

}  // namespace bandit_forest
