// Greedy growth: a leaf that holds enough events splits on the variable that explains most, and its events move on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "archive.hpp"
#include "exploration.hpp"
#include "leaves.hpp"
#include "log.hpp"
#include "settings.hpp"
#include "split.hpp"
#include "team.hpp"
#include "tree.hpp"

namespace bandit_forest {

class GreedyTree {
   public:
    GreedyTree(const GreedySettings& settings, std::size_t number);

    // Learns the newest event of the log in the leaf that its context leads to.
    void learn(Slot leaf, EventId event, const EventLog& log, Splitter& splitter);

    // Whether this tree learns an event: an independent draw for each tree and event.
    bool learns(std::uint64_t event) const;

    // Starts anew when its lifetime is over; says whether it did.
    bool renew(std::uint64_t event);

    // Lets go of events that the log does not hold any more.
    void forget(const EventLog& log);

    const Tree& tree() const { return tree_; }
    const Leaves& leaves() const { return leaves_; }
    std::size_t max_depth() const { return max_depth_; }
    double gain(NodeId node) const { return static_cast<double>(gains_[node]); }

    void prefetch_events(Slot leaf) const { lists_.prefetch(leaves_.last_chunk(leaf)); }

    std::size_t n_bytes() const;

    template <class Archive>
    void archive(Archive& io) {
        tree_.archive(io);
        io(gains_);
        io(nodes_);
        leaves_.archive(io);
        lists_.archive(io, leaves_);
        if constexpr (Archive::loading) {
            check();
        }
    }

   private:
    void plant(std::uint64_t generation);
    void try_split(Slot leaf, const EventLog& log, Splitter& splitter);
    void split(Slot leaf, const Split& split, std::span<const EventId> events, const EventLog& log, Splitter& splitter);
    bool may_grow(NodeId node) const;
    void check() const;

    const GreedySettings* settings_;    // of the forest, which outlives its trees
    std::size_t number_;                // of this tree
    std::uint64_t key_;                 // of the draws of this tree
    std::size_t max_depth_;             // D
    Tree tree_;                         // its leaves are labelled with their slots
    std::vector<float> gains_;          // by node: variance explained by its split
    std::vector<NodeId> nodes_;         // by slot: the node of a leaf
    Leaves leaves_;
    EventLists lists_;
};

// The trees, their log, and the decision by the mean of their means.
class GreedyGrowth {
   public:
    using Settings = GreedySettings;

    explicit GreedyGrowth(const GreedySettings& settings);

    std::span<const Tree* const> shapes() const { return shapes_; }
    const GreedyTree& tree(std::size_t number) const { return trees_.at(number); }

    // The means of some trees are added up, then those of all such groups: the same sums whoever adds up a group.
    using Voice = double;  // by group and action
    static constexpr std::size_t trees_together = 16;
    static std::size_t n_voices(const Settings& settings) { return n_groups(settings) * settings.n_actions; }

    void prefetch(std::span<const std::uint32_t> leaves, Range trees) const;
    void ask(std::span<const std::uint32_t> leaves, Range trees, std::span<Voice> voices) const;
    void plan(std::span<const Voice> voices, ConstWords available, std::uint64_t n_events, Plan& out) const;
    void remember(const Observation& event);
    // Learns the event that was remembered last.
    void learn(const Observation& event, std::span<const std::uint32_t> leaves, Range trees, std::size_t member);
    std::vector<double> mean_rewards(std::span<const std::uint32_t> leaves) const;
    // The trees whose best available action an action is.
    std::vector<std::uint32_t> votes(std::span<const std::uint32_t> leaves, ConstWords available) const;
    std::size_t n_bytes() const;

    template <class Archive>
    void archive(Archive& io) {
        log_.archive(io, settings_->n_actions);
        for (GreedyTree& tree : trees_) {
            tree.archive(io);
        }
    }

   private:
    static std::size_t n_groups(const Settings& settings) {
        return (settings.n_trees + trees_together - 1) / trees_together;
    }
    void add_up(std::span<const Voice> voices, std::span<double> means) const;

    const GreedySettings* settings_;    // of the forest
    EventLog log_;
    std::vector<GreedyTree> trees_;
    std::vector<const Tree*> shapes_;   // of the trees, for routing
    std::vector<Splitter> splitters_;   // by thread
};

}  // namespace bandit_forest
