// A forest with fixed actions beside the pairs: while there are few names, each name has an action there.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "greedy/growth.hpp"
#include "pairs/pair_settings.hpp"
#include "util/archive.hpp"

namespace bandit_forest {

// Numbers of standard errors by which estimates are raised.
struct Optimism {
    double trees;
    double line;
};

// A name that is learned for the first time takes the next free action. When there is none left, the forest is closed
// for good.
class NamedForest {
   public:
    explicit NamedForest(const PairSettings& settings);

    NamedForest(const NamedForest&) = delete;
    NamedForest& operator=(const NamedForest&) = delete;

    // Whether every name so far has an action.
    bool is_open() const { return growth_ != nullptr; }
    // Weight of the names' estimates, in [0, 1]; the rest is that of the pairs.
    double weight() const { return std::clamp(shift_error_ / (shift_shift_ + ridge), 0.0, 1.0); }

    // Moves the estimates of offered actions, which are raised, towards those of their names, raised alike.
    void move(std::span<const std::uint8_t> context, std::span<const std::uint64_t> names, Optimism optimism,
              std::span<double> estimates) const;
    // Learns the reward of an action, whose estimate as a pair was `of_pair`.
    void learn(std::span<const std::uint8_t> context, std::uint64_t name, double reward, double of_pair);

    std::size_t n_bytes() const { return growth_ ? growth_->n_bytes() : 0; }

    template <class Archive>
    void archive(Archive& io) {
        std::uint8_t was_open = is_open() ? 1 : 0;
        io(was_open);
        io(n_events_);
        io(names_);
        io(counts_);
        io(shift_shift_);
        io(shift_error_);
        if constexpr (Archive::loading) {
            check(was_open);
        }
        if (was_open == 0) {
            close();
        } else {
            growth_->archive(io, n_events_);
        }
    }

   private:
    static constexpr double shrinkage = 4.0;  // events that the estimate of the pair is worth
    static constexpr double ridge = 1.0;      // of the regression for the weight

    void check(std::uint8_t was_open) const;
    void close();
    // The action of a name; of a new one, the next free action.
    std::size_t action_of(std::uint64_t name) const;
    // The estimate of a name less that of the pair, shrunk while the name has few events.
    double shift(std::size_t action, double of_pair, double of_name) const;
    // Estimates of all names in a context, raised.
    void estimate(std::span<const std::uint8_t> context, Optimism optimism, std::vector<double>& out) const;

    const GreedySettings settings_;         // of the forest with fixed actions
    std::unique_ptr<GreedyGrowth> growth_;  // none where it is closed
    std::uint64_t n_events_ = 0;            // events that were learned
    std::vector<std::uint64_t> names_;      // by action
    std::vector<std::uint64_t> counts_;     // by action: events that were learned
    double shift_shift_ = 0.0;              // sums for the regression of the pairs' errors on shifts
    double shift_error_ = 0.0;
};

}  // namespace bandit_forest
