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

    static constexpr std::size_t side_by_side = 4;  // squares of 64 by 64 bits that are transposed together

    // Takes the events of a node, in their order.
    void take(const Records& records, std::span<const EventId> events);

    // Continues with at most 64 of the events taken: those of a descendant node, which are the bits of `events`. They are
    // not read again, since their bits are stored.
    void narrow(std::uint64_t events);
    // Of the events taken, a bit for each of those that pass a test; after `best` has chosen it.
    std::uint64_t passing(Test test);

    // Means and counts of the events taken, with inherited means worth `shrinkage` events.
    void summarise(std::span<const float> inherited, std::span<float> means, std::span<float> counts) const;

    // The best split of the events taken, on a random share of the variables, those that `key` draws, or on all others;
    // none where no split explains more than noise would.
    std::optional<Split> best(std::span<const float> means, std::uint64_t key, bool others);

   private:
    // Plays and rewards of each action of a node, in the order of the first plays.
    struct Plays {
        std::vector<std::size_t> actions;     // that were played
        std::vector<std::uint64_t> played;    // by row and block: one bit per event that played it
        std::vector<std::uint64_t> rewarded;  // the same, of the events with reward 1
        std::vector<double> counts;           // by row: plays
        std::vector<double> sums;             // by row: sum of rewards
        std::vector<double> squares;          // by row: sum of squared rewards

        void clear();
    };

    void draw_variables(std::uint64_t key, bool others);
    void draw_candidates(std::uint64_t key, bool others);
    void draw_thresholds(std::uint32_t variable, std::uint64_t key);
    void fill_bits();
    // Where the square of a block of events and a word of their bits begins; its rows are side_by_side apart.
    std::size_t square(std::size_t block, std::size_t word) const {
        const std::size_t number = block * variables_->bit_words() + word;
        return number / side_by_side * side_by_side * 64 + number % side_by_side;
    }
    const std::uint8_t* codes_of(std::uint32_t variable);
    void fill_column(Test test, std::uint64_t* column);
    std::uint32_t add_row(std::size_t action);
    void add_up(std::size_t row);
    double score(std::span<const float> means);
    void count(const std::vector<std::uint64_t>& masks, std::size_t row, double* counts) const;
    void sum(std::size_t row, double* sums) const;
    bool varies(std::size_t candidate) const;

    const GreedySettings* settings_;        // of the forest
    const Variables* variables_ = nullptr;  // of the records
    std::size_t n_taken_ = 0;               // events taken
    std::size_t n_events_ = 0;              // of the node: those taken, or some of them
    std::size_t n_blocks_ = 0;              // of 64 events taken
    std::uint64_t mask_ = 0;                // where there is one block: the events of the node
    bool is_binary_ = true;                 // whether all rewards taken are 0 or 1
    bool has_bits_ = false;                 // whether bits_ are those of the events taken
    std::vector<const std::uint64_t*> records_;  // by event taken
    std::vector<float> rewards_;            // by event taken
    std::vector<std::uint64_t> rewarded_;   // by block: one bit per event taken with reward 1
    std::vector<std::uint8_t> event_bits_;  // where the events were narrowed: the bit of each
    std::vector<std::uint32_t> rows_;       // by action: where it is in the plays
    Plays taken_;                           // of the events taken, kept when they are narrowed
    Plays plays_;                           // of the node
    std::vector<std::uint32_t> drawn_;      // variables that are tried
    std::vector<Test> candidates_;          // in order
    std::vector<std::uint64_t> bits_;       // by square and bit of a context: one bit per event taken
    std::vector<std::uint8_t> has_codes_;   // by byte of an ordered variable: whether codes_ has its codes
    std::vector<std::uint8_t> codes_;       // by byte of an ordered variable and event taken
    std::vector<std::uint8_t> passes_;      // by event taken: whether it reaches a threshold, or has reward 1
    std::vector<std::uint64_t> columns_;    // by candidate and block: one bit per event of the node that passes
    std::vector<double> counts_;            // by candidate: plays of one action that pass
    std::vector<double> sums_;              // by candidate: sum of rewards of one action that pass
    std::vector<double> gains_;             // by candidate
};

}  // namespace bandit_forest
