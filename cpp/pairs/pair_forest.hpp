// A forest over pairs: one model of the reward of a context and an action together, and draws among offered actions.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "greedy/growth.hpp"
#include "linear/blend.hpp"
#include "pairs/name_table.hpp"
#include "pairs/named_forest.hpp"
#include "pairs/offers.hpp"
#include "pairs/pair_line.hpp"
#include "pairs/pair_settings.hpp"

namespace bandit_forest {

// The trees are those of a greedy forest with a single action. Safe for concurrent calls: deciding shares the forest,
// learning has it alone.
class PairForest {
   public:
    explicit PairForest(const PairSettings& settings);
    PairForest(const PairSettings& settings, std::span<const char> saved);

    PairForest(const PairForest&) = delete;
    PairForest& operator=(const PairForest&) = delete;

    const GreedySettings& settings() const { return tree_settings_; }
    std::size_t n_context_variables() const { return settings_.n_context_variables; }
    std::size_t n_action_variables() const { return settings_.n_variables - settings_.n_context_variables; }

    // `keys` number the draws, one for each event; where it is empty, the forest numbers them. `actions` are counted from
    // the first that an event offers.
    void decide_many(const Offers& offers, std::span<const std::uint64_t> keys, std::span<std::int64_t> actions,
                     std::span<double> propensities);
    // Orders the offered actions of each event, one draw after the other, without replacement; the first is the one that
    // decide_many would draw. The propensities are those of being the first, by offered action.
    void rank_many(const Offers& offers, std::span<const std::uint64_t> keys, std::span<std::int64_t> orders,
                   std::span<double> propensities);
    // One number for each offered action.
    void propensities_many(const Offers& offers, std::span<double> out) const;
    void mean_rewards_many(const Offers& offers, std::span<double> out) const;

    // Learns pairs in their order; `names` is empty where the actions have none.
    void learn_many(const Contexts& contexts, const Contexts& actions, std::span<const std::uint64_t> names,
                    std::span<const double> rewards);

    std::string save();

    // To be held by the caller of what follows.
    std::shared_mutex& mutex() const { return mutex_; }
    const GreedyGrowth& growth() const { return growth_; }
    const Blend& blend() const { return blend_; }
    const NameTable& names() const { return names_; }
    const NamedForest& named() const { return named_; }
    std::uint64_t n_events() const { return events_; }
    std::size_t n_bytes() const;

   private:
    Optimism optimism() const;
    // Estimates of the actions that an event offers, raised.
    void estimate(const Offers& offers, std::size_t event, Optimism optimism, std::vector<double>& out) const;
    void estimate_by_trees(std::span<const std::uint32_t> leaves, std::vector<double>& means,
                           std::vector<double>& inverse_counts) const;
    const std::vector<double>& plan(const Offers& offers, std::size_t event) const;
    double number_of_draw(std::span<const std::uint64_t> keys, std::size_t event, std::uint64_t decision,
                          std::uint64_t turn) const;
    void learn(std::span<const std::uint8_t> context, std::span<const std::uint8_t> action,
               const std::uint64_t* name, double reward);

    template <class Archive>
    void archive(Archive& io);

    const PairSettings settings_;
    const GreedySettings tree_settings_;       // of the trees: a single action, no linear part of their own
    GreedyGrowth growth_;                      // trees, and the log of pairs
    std::optional<PairLine> line_;
    Blend blend_;                              // weights of trees and line
    NameTable names_;                          // corrections by name, where names are many
    NamedForest named_;                        // estimates by name and context, where names are few
    std::atomic<std::uint64_t> decisions_{0};  // numbers the draws
    std::uint64_t events_ = 0;                 // events learned
    mutable std::shared_mutex mutex_;
};

}  // namespace bandit_forest
