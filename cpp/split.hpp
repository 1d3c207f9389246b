// Where to split a leaf: the variable whose two values explain most of the variance of the rewards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "leaves.hpp"
#include "log.hpp"
#include "settings.hpp"

namespace bandit_forest {

struct Split {
    std::uint32_t variable;  // n_variables where no split is good enough
    double gain;             // variance that it explains, summed over the events
};

// Counts the events of a leaf 64 at a time: a block of 64 contexts is transposed, then one AND and one POPCNT for each
// candidate and action count plays, and rewards where all are 0 or 1.
class Splitter {
   public:
    explicit Splitter(const GreedySettings& settings);

    // The best split of the events of a leaf on one of the candidates, in order.
    Split best(const EventLog& log, std::span<const EventId> events, const Leaves& leaves, Slot leaf,
               std::vector<std::uint32_t> candidates);

   private:
    void collect(const EventLog& log, std::span<const EventId> events);
    void add_fractions(const EventLog& log, std::span<const EventId> events);
    double score(const Leaves& leaves, Slot leaf);

    const GreedySettings* settings_;         // of the forest
    std::size_t words_;                      // of a context
    std::size_t n_blocks_ = 0;               // of 64 events
    bool binary_ = true;                     // whether all rewards are 0 or 1
    std::vector<std::uint32_t> candidates_;  // variables, in order
    std::vector<std::uint64_t> blocks_;      // by block and variable: one bit an event
    std::vector<std::size_t> actions_;       // that the events took, in order of their first play
    std::vector<std::uint32_t> row_of_;      // where an action is in actions_
    std::vector<std::uint64_t> plays_;       // by action of actions_ and block: one bit an event
    std::vector<std::uint64_t> rewarded_;    // the same, of the events with reward 1
    std::vector<double> n_plays_;            // by action of actions_
    std::vector<double> n_rewards_;          // by action of actions_: sum of rewards
    std::vector<double> squares_;            // by action of actions_: sum of squared rewards
    std::vector<double> counts_;             // by candidate: plays of one action with value 1
    std::vector<double> sums_;               // by candidate: sum of rewards of one action with value 1
    std::vector<double> fractions_;          // by action of actions_ and variable: the same where it cannot be counted
    std::vector<double> gains_;              // by candidate
    std::vector<double> ones_;               // by candidate: events with value 1
};

}  // namespace bandit_forest
