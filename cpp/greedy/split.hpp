// Where to split a leaf: the variable whose two values explain most of the variance of the rewards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "greedy/leaves.hpp"
#include "greedy/log.hpp"
#include "policy/settings.hpp"

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

    // The best split of the events of a leaf on a random share of the variables, those that `key` draws.
    Split best(const EventLog& log, std::span<const EventId> events, const Leaves& leaves, Slot leaf, std::uint64_t key);

    // Of the events that were last given to `best`: which value an event has,
    bool value(std::size_t event, std::uint32_t variable) const;
    // and what those with one value have earned, added to what a new leaf has inherited.
    void pass_on(std::uint32_t variable, bool value, Leaves& leaves, Slot child);

   private:
    void choose_candidates(std::uint64_t key);
    void collect(const EventLog& log, std::span<const EventId> events);
    std::size_t row_of(std::size_t action);
    void add_up(const EventLog& log, std::span<const EventId> events);
    double score(const Leaves& leaves, Slot leaf);
    void count(const std::vector<std::uint64_t>& masks, std::size_t row, std::span<const std::uint32_t> variables,
               double* counts) const;
    void sum(std::size_t row, std::span<const std::uint32_t> variables, double* sums) const;
    bool varies(std::uint32_t variable, std::size_t n_events) const;

    const GreedySettings* settings_;         // of the forest
    std::size_t words_;                      // of a context
    std::size_t n_blocks_ = 0;               // of 64 events
    bool binary_ = true;                     // whether all rewards are 0 or 1
    std::vector<std::uint32_t> candidates_;  // variables, in order
    std::vector<std::uint64_t> blocks_;      // by block and variable: one bit an event
    std::vector<std::size_t> actions_;       // that the events took, in order of their first play
    std::vector<std::uint32_t> rows_;        // by action: where it is in actions_
    std::vector<std::uint64_t> plays_;       // by action of actions_ and block: one bit an event
    std::vector<std::uint64_t> rewarded_;    // the same, of the events with reward 1
    std::vector<double> n_plays_;            // by action of actions_
    std::vector<double> n_rewards_;          // by action of actions_: sum of rewards
    std::vector<double> squares_;            // by action of actions_: sum of squared rewards
    std::vector<double> fractions_;          // by action of actions_ and variable: rewards with value 1 that are no bits
    std::vector<double> counts_;             // by candidate: plays of one action with value 1
    std::vector<double> sums_;               // by candidate: sum of rewards of one action with value 1
    std::vector<double> gains_;              // by candidate
};

}  // namespace bandit_forest
