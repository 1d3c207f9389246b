// Where to split a node: the test whose two outcomes explain most of the variance of the rewards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "greedy/log.hpp"
#include "policy/settings.hpp"
#include "tree/test.hpp"

namespace bandit_forest {

struct Split {
    Test test;
    double gain;  // variance that it explains, summed over the events
};

// Counts the events of a node 64 at a time: each candidate has one bit per event, then one AND and one POPCNT for each
// candidate and action count plays, and rewards where all are 0 or 1.
class Splitter {
   public:
    explicit Splitter(const GreedySettings& settings);

    // Takes the events of a node, in their order.
    void take(const EventLog& log, std::span<const EventId> events);

    // Means and counts of the events taken, with inherited means worth `shrinkage` events.
    void summarise(std::span<const float> inherited, std::span<float> means, std::span<float> counts) const;

    // The best split of the events taken, on a random share of the variables, those that `key` draws, or on all others;
    // none where no split explains more than noise would.
    std::optional<Split> best(std::span<const float> means, std::uint64_t key, bool others);

   private:
    void draw_candidates(std::uint64_t key, bool others);
    void draw_thresholds(std::uint32_t variable, std::uint64_t key);
    void fill_bits(std::size_t words);
    void fill_columns();
    void add_column(std::uint32_t threshold, std::uint64_t* column);
    std::size_t row_of(std::size_t action);
    double score(std::span<const float> means);
    void count(const std::vector<std::uint64_t>& masks, std::size_t row, double* counts) const;
    void sum(std::size_t row, double* sums) const;
    bool varies(std::size_t candidate) const;

    const GreedySettings* settings_;         // of the forest
    const Variables* variables_ = nullptr;   // of the log
    std::size_t n_events_ = 0;               // events taken
    std::size_t n_blocks_ = 0;               // of 64 events
    bool binary_ = true;                     // whether all rewards are 0 or 1
    std::vector<const std::uint64_t*> records_;  // by event
    std::vector<float> rewards_;             // by event
    std::vector<std::size_t> actions_;       // that the events took, in order of their first play
    std::vector<std::uint32_t> rows_;        // by action: where it is in actions_
    std::vector<std::uint64_t> plays_;       // by action of actions_ and block: one bit per event
    std::vector<std::uint64_t> rewarded_;    // the same, of the events with reward 1
    std::vector<double> n_plays_;            // by action of actions_
    std::vector<double> n_rewards_;          // by action of actions_: sum of rewards
    std::vector<double> squares_;            // by action of actions_: sum of squared rewards
    std::vector<Test> candidates_;           // in order
    std::vector<std::uint64_t> bits_;        // by block and bit of a context: one bit per event
    std::vector<std::uint8_t> codes_;        // by event: the code of one ordered variable
    std::vector<std::uint64_t> columns_;     // by candidate and block: one bit per event that passes
    std::vector<double> counts_;             // by candidate: plays of one action that pass
    std::vector<double> sums_;               // by candidate: sum of rewards of one action that pass
    std::vector<double> gains_;              // by candidate
};

}  // namespace bandit_forest
