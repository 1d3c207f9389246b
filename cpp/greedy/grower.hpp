// A tree that is grown from logged events, one bounded piece of work at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "greedy/log.hpp"
#include "greedy/split.hpp"
#include "greedy/tree.hpp"
#include "policy/settings.hpp"

namespace bandit_forest {

// Nodes are visited depth first. A node chooses its split by a sample of its events, then all its events move on to its
// children; a node without a split is a leaf. The events of a node of moderate size are copied, so that its subtree is
// grown from adjacent memory. The subtree of a node whose events fit into a word is grown at once, with one bit per event.
class TreeGrower {
   public:
    // Events [first, last) of the log, which must hold them until the tree is grown.
    TreeGrower(const GreedySettings& settings, std::size_t number, std::uint64_t generation, std::uint64_t first,
               std::uint64_t last);

    bool is_grown() const { return pending_.empty() && phase_ == Phase::visiting; }
    // Does a piece of work; returns its cost, roughly the number of events that were read.
    std::uint64_t step(const EventLog& log, Splitter& splitter);

    GreedyTree& tree() { return tree_; }
    std::size_t n_bytes() const {
        return tree_.n_bytes() + (events_.capacity() + passing_.capacity()) * sizeof(EventId) +
               copies_.capacity() * sizeof(std::uint64_t);
    }

    static constexpr std::size_t sample_size = 4096;  // events that a split is chosen by
    static constexpr std::size_t piece = 4096;        // events that are parted, joined or added up in one step
    static constexpr std::size_t copied_words = std::size_t{1} << 16U;  // largest size of the copies of a node's events
    static constexpr std::size_t word = 64;           // most events of a node whose subtree is grown at once

   private:
    enum class Phase : std::uint8_t {
        visiting,   // the next node is to be visited
        parting,    // the events of a node are parted by its test
        joining,    // those that pass the test are put behind those that fail
        settling,   // the events of a large leaf are being added up
    };

    // A node whose events stand in events_[first, last).
    struct Pending {
        NodeId node;
        std::uint32_t first;
        std::uint32_t last;

        std::size_t size() const { return last - first; }
    };

    // A node whose events are bits of a word.
    struct Small {
        NodeId node;
        std::uint64_t events;
    };

    std::uint64_t visit(const EventLog& log, Splitter& splitter);
    std::uint64_t part(const Records& records);
    std::uint64_t join();
    std::uint64_t settle(const Records& records);
    std::uint64_t grow_small(const EventLog& log, Splitter& splitter);
    // Chooses the split of a node whose events the splitter has, and adds its cost.
    std::optional<Split> choose(NodeId node, std::size_t n_events, std::size_t n_sample, Splitter& splitter,
                                std::uint64_t& cost);
    std::span<const EventId> sample_of(const Pending& node);
    void add_pending(const Pending& node);
    void inherit();
    void copy_events(const EventLog& log);
    bool is_copied() const { return copied_first_ <= here_.first && here_.last <= copied_last_; }
    Records records(const EventLog& log) const;
    // The events of the root are in their own order until they are parted; they are not stored before.
    EventId event_at(std::uint32_t index) const { return here_.node == 0 && !is_copied() ? first_ + index : events_[index]; }
    std::uint32_t piece_end(std::size_t last) const { return static_cast<std::uint32_t>(std::min(last, cursor_ + piece)); }

    const GreedySettings* settings_;      // of the forest
    Work work_;                           // what pieces of work cost
    GreedyTree tree_;                     // as far as it is grown
    EventId first_;                       // the first event
    std::vector<EventId> events_;         // in the order of the leaves to come; those of a node in their own order
    std::vector<std::uint64_t> copies_;   // records of the events at [copied_first, copied_last), which are their numbers
    std::uint32_t copied_first_ = 0;
    std::uint32_t copied_last_ = 0;
    std::size_t most_copied_ = word;      // events whose copies are not too long; a power of two
    std::vector<Pending> pending_;        // nodes that are to be visited, the last one next
    std::vector<Small> small_;            // the same below a node whose events fit into a word
    std::vector<float> inherited_;        // by pending node and action: mean rewards of its parent
    Phase phase_ = Phase::visiting;
    Pending here_{};                      // the node that is worked on
    Split split_{};                       // of that node
    std::uint32_t cursor_ = 0;            // index of the event that is read next
    std::uint32_t failing_ = 0;           // where the next event that fails the test of that node goes
    std::vector<EventId> passing_;        // events that pass it
    std::vector<EventId> sample_;         // of a large node
    std::vector<float> means_, counts_;   // of that node, by action
    std::vector<float> parent_means_;     // of that node's parent, by action
    std::vector<double> n_plays_, sums_;  // of a large leaf, by action
};

}  // namespace bandit_forest
