// Greedy growth: a leaf that holds enough events splits on the variable that explains most, and its events move on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "util/archive.hpp"
#include "policy/exploration.hpp"
#include "greedy/leaves.hpp"
#include "greedy/log.hpp"
#include "policy/settings.hpp"
#include "greedy/split.hpp"
#include "util/team.hpp"
#include "tree/tree.hpp"

namespace bandit_forest {

class GreedyTree {
   public:
    GreedyTree(const GreedySettings& settings, std::size_t number, EventLists& lists);

    // Learns an event in the leaf that its context leads to.
    void learn(Slot leaf, EventId event, std::size_t action, float reward);

    // The leaves that try to split when the tree grows next.
    std::span<const Slot> due() const { return due_; }
    // Splits a leaf if its events, those that the log still holds, are enough for it.
    void try_split(Slot leaf, std::span<const EventId> events, const EventLog& log, Splitter& splitter);
    // Forgets which leaves were due, when all have tried.
    void end_growth() { due_.clear(); }

    // Whether this tree learns an event: an independent draw for each tree and event.
    bool learns(std::uint64_t event) const;

    // Starts anew when its lifetime is over; says whether it did.
    bool renew(std::uint64_t event);
    // How many events come before the one at which it does.
    std::uint64_t until_renewal(std::uint64_t event) const;

    // Lets go of events that the log does not hold any more.
    void forget(const EventLog& log);

    const Tree& tree() const { return tree_; }
    const Leaves& leaves() const { return leaves_; }
    std::size_t max_depth() const { return max_depth_; }
    double gain(NodeId node) const { return static_cast<double>(gains_[node]); }

    void prefetch_events(Slot leaf) const { lists_->prefetch(leaves_.last_chunk(leaf)); }

    std::size_t n_bytes() const;

    template <class Archive>
    void archive(Archive& io) {
        tree_.archive(io);
        io(gains_);
        io(nodes_);
        leaves_.archive(io);
        io(due_);
        if constexpr (Archive::loading) {
            check();
        }
    }

   private:
    void plant(std::uint64_t generation);
    std::uint64_t age(std::uint64_t event) const;
    void split(Slot leaf, const Split& split, std::span<const EventId> events, const EventLog& log, Splitter& splitter);
    bool may_grow(NodeId node) const;
    void check() const;

    const GreedySettings* settings_;    // of the forest, which outlives its trees
    EventLists* lists_;                 // of its group of trees
    std::size_t number_;                // of this tree
    std::uint64_t key_;                 // of the draws of this tree
    std::size_t max_depth_;             // D
    Tree tree_;                         // its leaves are labelled with their slots
    std::vector<float> gains_;          // by node: variance explained by its split
    std::vector<NodeId> nodes_;         // by slot: the node of a leaf
    std::vector<Slot> due_;             // leaves that try to split when the tree grows next
    Leaves leaves_;
};

// A leaf that is due, while its events are fetched chunk by chunk.
struct Attempt {
    std::size_t tree;             // its number
    Slot leaf;
    std::uint32_t chunk;          // of its list, the next to be read; none when all have been
    std::vector<EventId> events;  // that the log still holds
};

// The trees, their log, and the decision by the mean of their means and of their doubts.
class GreedyGrowth {
   public:
    using Settings = GreedySettings;

    explicit GreedyGrowth(const GreedySettings& settings);

    std::span<const Tree* const> shapes() const { return shapes_; }
    const GreedyTree& tree(std::size_t number) const { return trees_.at(number); }

    // What some trees say is added up, then what all such groups say: the same sums whoever adds up a group.
    using Voice = double;  // by group: the means of the actions, then their doubts
    static constexpr std::size_t trees_together = 10;
    static std::size_t n_voices(const Settings& settings) {
        return (settings.n_trees + trees_together - 1) / trees_together * 2 * n_means(settings);
    }
    // All trees grow together, now and then: what one event costs is the same for all members of a team.
    static constexpr std::uint64_t events_per_growth = 64;
    // How many events, this one being the first, lead through the same trees: until they grow, or one starts anew.
    std::size_t n_alike(std::uint64_t event) const;
    static constexpr std::size_t most_alike = events_per_growth;

    void prefetch(std::span<const std::uint32_t> leaves, Range trees) const;
    void ask(std::span<const std::uint32_t> leaves, Range trees, std::span<Voice> voices) const;
    void plan(std::span<const Voice> voices, ConstWords available, std::uint64_t n_events, Plan& out) const;
    void remember(const Observation& event);
    // The trees that learn an event, and the leaves that they learn it in, whatever the action will be. Starts those anew
    // whose lifetime is over: to be called once an event.
    using Learners = std::vector<std::pair<GreedyTree*, Slot>>;
    void find_learners(std::uint64_t event, std::span<const std::uint32_t> leaves, Range trees, Learners& out);
    void learn(const Observation& event, const Learners& learners);
    // Lets trees grow by the events that were remembered.
    void grow(Range trees, std::size_t member);
    std::vector<double> mean_rewards(std::span<const std::uint32_t> leaves) const;
    // The trees whose best available action an action is.
    std::vector<std::uint32_t> votes(std::span<const std::uint32_t> leaves, ConstWords available) const;
    std::size_t n_bytes() const;

    template <class Archive>
    void archive(Archive& io, std::uint64_t n_events) {
        log_.archive(io, settings_->n_actions);
        for (EventLists& lists : lists_) {
            lists.archive(io);
        }
        for (GreedyTree& tree : trees_) {
            tree.archive(io);
        }
        if constexpr (Archive::loading) {
            require(log_.n_events() == n_events, "the log and the forest count different events");
            check();
        }
    }

   private:
    // The number of actions, rounded up to a multiple of what is added at a time.
    static std::size_t n_means(const Settings& settings) {
        return (settings.n_actions + Leaves::at_a_time - 1) / Leaves::at_a_time * Leaves::at_a_time;
    }
    // What all trees say on average: the means of the actions, then their doubts.
    struct Said {
        std::span<const double> means;
        std::span<const double> doubts;
    };
    Said add_up(std::span<const Voice> voices) const;
    void gather(Range trees, std::vector<Attempt>& attempts) const;
    bool fetch(Attempt& attempt) const;
    void check() const;

    const GreedySettings* settings_;    // of the forest
    EventLog log_;
    std::vector<EventLists> lists_;     // by group of trees, so that huge pages serve even small trees
    std::vector<GreedyTree> trees_;
    std::vector<const Tree*> shapes_;   // of the trees, for routing
    std::vector<Splitter> splitters_;   // by thread
};

}  // namespace bandit_forest
