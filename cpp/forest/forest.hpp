// A forest: packs and routes contexts, lets its growth rule plan and learn, and draws the actions.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "forest/growth_rule.hpp"
#include "policy/contexts.hpp"
#include "policy/exploration.hpp"
#include "policy/settings.hpp"
#include "util/team.hpp"
#include "tree/tree.hpp"

namespace bandit_forest {

// Safe for concurrent calls: deciding shares the forest, learning has it alone.
template <GrowthRule Growth>
class Forest {
   public:
    using Settings = typename Growth::Settings;

    explicit Forest(const Settings& settings);
    Forest(const Settings& settings, std::span<const char> saved);

    Forest(const Forest&) = delete;
    Forest& operator=(const Forest&) = delete;

    const Settings& settings() const { return settings_; }

    // `available` has a set of actions for all events, or one for each. `keys` number the draws, one for each event; where
    // it is empty, the forest numbers them.
    void decide_many(const Contexts& contexts, ConstWords available, std::span<const std::uint64_t> keys,
                     std::span<std::int64_t> actions, std::span<double> propensities);
    // The probabilities of all actions, one row of n_actions for each event.
    void propensities_many(const Contexts& contexts, ConstWords available, std::span<double> out) const;
    // The estimated mean rewards of all actions, one row of n_actions for each event.
    void mean_rewards_many(const Contexts& contexts, std::span<double> out) const;
    void learn_many(const Contexts& contexts, std::span<const std::int64_t> actions, std::span<const double> rewards,
                    std::span<const double> propensities);
    // Decides and learns event by event; `rewards` has one row of n_actions per event.
    void play(const Contexts& contexts, std::span<const double> rewards, std::span<std::int64_t> actions,
              std::span<double> propensities, std::span<double> earned);

    // Parts of a forest that learn separately: the groups of trees, and after them the linear part. The parts in `parts`
    // learn, the others do not change. `notes` gets one row per event, with the note of each of these parts about it.
    void learn_parts(const Contexts& contexts, std::span<const std::int64_t> actions, std::span<const double> rewards,
                     Range parts, std::span<double> notes);
    // The estimates of these parts, one row per event. Actions are drawn by the rows of all parts side by side.
    std::vector<double> estimate_parts(const Contexts& contexts, Range parts) const;
    void decide_by(std::span<const double> estimates, std::span<std::int64_t> actions, std::span<double> propensities);
    // Learns the weights of trees and line from the notes of all parts about the last events.
    void learn_weights(std::span<const double> notes, std::span<const double> rewards);
    // The result of `save` in pieces: counts and log, the trees of each group, the renewals of each group, the line,
    // and the weights.
    std::vector<std::string> sections();

    // The caller of the following functions holds it, shared or alone.
    std::shared_mutex& mutex() const { return mutex_; }
    Choice decide(std::span<const std::uint8_t> context, ConstWords available, std::optional<std::uint64_t> key);
    void learn(std::span<const std::uint8_t> context, std::size_t action, double reward, double propensity);
    const Growth& growth() const { return growth_; }
    std::uint64_t n_events() const { return events_; }
    // The labels of the leaves that a context leads to.
    std::vector<std::uint32_t> leaves(std::span<const std::uint8_t> context) const;
    // The probabilities with which actions would be drawn.
    Plan plan(std::span<const std::uint8_t> context, ConstWords available) const;

    std::string save();

   private:
    using Leaves = std::span<const std::uint32_t>;  // labels of the leaves of an event, by tree

    // Buffers for some events, kept by each thread so that no call allocates.
    struct Scratch {
        std::vector<std::uint8_t> values;       // of the variables, and a spare zero, by event
        std::vector<std::uint32_t> labels;      // of the leaves, by event and tree
        std::vector<std::uint64_t> packed;      // a context as the growth rule keeps it
        std::vector<typename Growth::Partial> estimates;  // of the trees
        Plan plan;
    };

    Scratch& scratch() const;

    template <class Archive>
    void archive(Archive& io);
    template <class Archive>
    void archive_counts(Archive& io);
    // The trees of the groups among some parts.
    Range trees_of_parts(Range parts) const;
    Range all_trees() const { return {0, settings_.n_trees}; }
    Range trees_of(std::size_t group) const;
    // Finds the leaves of one context, or of consecutive contexts; returns the leaves of the first.
    Leaves route(std::span<const std::uint8_t> context, Range trees, Scratch& scratch) const;
    Leaves route(const Contexts& contexts, Range events, Range trees, Scratch& scratch) const;
    // Calls visit(event, leaves) for some events of a batch in turn, which may be learned; routes ahead as far as it can.
    template <class Visit>
    void visit(const Contexts& contexts, Range events, Range trees, Scratch& scratch, Visit&& visit) const;
    Leaves leaves_of(std::size_t event, const Scratch& scratch) const;
    const Plan& plan_by(std::span<const std::uint8_t> context, Leaves leaves, ConstWords available, Scratch& scratch) const;
    Choice choose(ConstWords available, const Plan& plan);
    Choice choose(ConstWords available, const Plan& plan, std::uint64_t decision);
    // The same draw for the same key, whatever was decided before; actions in rotation are drawn, too.
    Choice choose_by_key(const Plan& plan, std::uint64_t key) const;
    std::vector<std::uint64_t> all_actions() const;
    ConstWords available_to(std::size_t event, const Contexts& contexts, ConstWords available) const;
    // Lets the trees grow when it is time after an event.
    void grow(Team& team, std::size_t member, std::uint64_t event);
    // Calls work(team, member, trees, events) for the events of a batch, some at a time, while nobody decides.
    template <class Work>
    void work_on(std::size_t n_events, Work&& work);

    const Settings settings_;
    Growth growth_;
    std::atomic<std::uint64_t> decisions_{0};  // numbers the draws
    std::atomic<std::uint64_t> rotations_{0};  // events played in rotation
    std::uint64_t events_ = 0;                 // events learned
    mutable std::shared_mutex mutex_;
};

}  // namespace bandit_forest
