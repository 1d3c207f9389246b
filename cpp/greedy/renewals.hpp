// The renewals of a group of trees: one tree after the other is grown anew from the log and takes the place of the old one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "greedy/grower.hpp"
#include "greedy/log.hpp"
#include "greedy/split.hpp"
#include "greedy/tree.hpp"
#include "policy/settings.hpp"
#include "util/archive.hpp"
#include "util/change_detector.hpp"

namespace bandit_forest {

// Each event allows `renewal_work` units of work per tree. A grown tree learns the events that arrived meanwhile, then it
// replaces the old tree. So the time of the replacement depends only on the lessons, and no event waits for a tree.
class Renewals {
   public:
    Renewals(const GreedySettings& settings, std::size_t first_tree, std::size_t n_trees)
        : settings_(&settings), first_tree_(first_tree), n_trees_(n_trees) {}

    // Does the work allowed by this number of events; `trees` are those of the group.
    void advance(std::uint64_t n_events, const EventLog& log, Splitter& splitter, std::span<GreedyTree> trees);

    // If trees have a lifetime: records the estimate of the group for the action of an event, and its reward. Once the
    // rewards show that the world has changed, trees are renewed from the events since the change.
    void notice(double estimate, double reward, std::uint64_t event) { change_.learn(estimate, reward, event); }

    std::size_t n_bytes() const { return grower_ ? grower_->n_bytes() : 0; }

    // A renewal under way is saved as the work that was done, and done again when it is loaded.
    template <class Archive>
    void archive(Archive& io, const EventLog& log, std::span<const GreedyTree> trees) {
        std::uint8_t is_growing = grower_ ? 1 : 0;
        io(turn_);
        io(balance_);
        io(first_);
        io(last_);
        io(done_);
        io(learned_);
        io(is_growing);
        if (settings_->lifetime > 0) {
            change_.archive(io);
        }
        if constexpr (Archive::loading) {
            require(turn_ < n_trees_ && is_growing <= 1, "a renewal is of no tree");
            require(change_.start() <= log.n_events(), "a world changed with an event that is not there");
            if (is_growing == 1) {
                redo(log, trees);
            }
        }
    }

   private:
    bool start(const EventLog& log, std::span<const GreedyTree> trees);
    void redo(const EventLog& log, std::span<const GreedyTree> trees);
    // Each returns whether there is no more work to do, or no more work is allowed.
    bool grow(const EventLog& log, Splitter& splitter);
    bool catch_up(const EventLog& log);
    void learn(const EventLog& log, std::uint64_t last);

    const GreedySettings* settings_;    // of the forest
    std::size_t first_tree_;            // number of the first tree of the group
    std::size_t n_trees_;               // of the group
    std::uint64_t turn_ = 0;            // the tree, from the first of the group, that is renewed next or now
    std::int64_t balance_ = 0;          // units of work that events have allowed for and that have not been used
    std::uint64_t first_ = 0;           // the tree is grown from the events [first, last)
    std::uint64_t last_ = 0;
    std::uint64_t done_ = 0;            // units of work that its growth has cost
    std::uint64_t learned_ = 0;         // it has learned the events up to here
    ChangeDetector change_;             // where trees have a lifetime
    std::optional<TreeGrower> grower_;  // of the tree that is being renewed
};

}  // namespace bandit_forest
