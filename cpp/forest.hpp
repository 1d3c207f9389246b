// A forest: trees grown by elimination, and the choice of an action from what remains in them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "elimination.hpp"
#include "exploration.hpp"
#include "settings.hpp"

namespace bandit_forest {

struct Choice {
    std::size_t action;
    double propensity;
};

// A batch of contexts: rows of n_variables bytes, zeros and ones.
struct Contexts {
    const std::uint8_t* rows;
    std::size_t n_events;
    std::size_t n_variables;

    std::span<const std::uint8_t> row(std::size_t event) const { return {rows + event * n_variables, n_variables}; }
};

// Safe for concurrent calls: deciding shares the forest, learning has it alone.
class Forest {
   public:
    explicit Forest(const Settings& settings);
    Forest(const Settings& settings, std::span<const char> saved);

    Forest(const Forest&) = delete;
    Forest& operator=(const Forest&) = delete;

    const Settings& settings() const { return settings_; }

    void decide(const Contexts& contexts, ConstWords available, std::span<std::int64_t> actions,
                std::span<double> propensities);
    void learn(const Contexts& contexts, std::span<const std::int64_t> actions, std::span<const double> rewards,
               std::span<const double> propensities);
    // Decides and learns event by event; `rewards` has a row of n_actions an event.
    void play(const Contexts& contexts, std::span<const double> rewards, std::span<std::int64_t> actions,
              std::span<double> propensities, std::span<double> earned);

    // The plan for one context: probabilities and votes of all actions.
    Plan plan_for(std::span<const std::uint8_t> context, ConstWords available) const;
    // Mean reward of each action, over the trees that know one; NaN where none does.
    std::vector<double> mean_rewards(std::span<const std::uint8_t> context) const;
    // The leaf of each tree that a context leads to.
    std::vector<NodeId> leaves(std::span<const std::uint8_t> context) const;

    // Calls visit(tree) while nobody learns.
    template <class Visit>
    auto read_tree(std::size_t number, Visit&& visit) const {
        const std::shared_lock lock(mutex_);
        return visit(trees_.at(number));
    }

    std::uint64_t n_events() const;
    std::size_t n_nodes() const;
    std::size_t n_bytes() const;
    std::string save() const;

   private:
    struct Scratch;

    template <class Archive>
    void archive(Archive& io);
    void route(std::span<const std::uint8_t> context, Scratch& scratch) const;
    Choice choose(ConstWords available, Scratch& scratch);
    void learn_routed(std::size_t action, double reward, double propensity, Scratch& scratch);
    std::vector<std::uint64_t> all_actions() const;

    const Settings settings_;
    std::vector<Elimination> trees_;
    std::vector<const Tree*> shapes_;           // of the trees, for routing
    std::atomic<std::uint64_t> decisions_{0};   // numbers the draws
    std::atomic<std::uint64_t> rotations_{0};   // events played in rotation
    std::uint64_t events_ = 0;                  // events learned
    mutable std::shared_mutex mutex_;
};

}  // namespace bandit_forest
