// Greedy growth: trees that are grown from the log again and again, a linear part beside them, and decisions by both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "greedy/log.hpp"
#include "greedy/renewals.hpp"
#include "greedy/split.hpp"
#include "greedy/tree.hpp"
#include "greedy/variables.hpp"
#include "linear/linear_part.hpp"
#include "policy/exploration.hpp"
#include "policy/settings.hpp"
#include "util/archive.hpp"
#include "util/team.hpp"

namespace bandit_forest {

class GreedyGrowth {
   public:
    using Settings = GreedySettings;

    explicit GreedyGrowth(const GreedySettings& settings);

    std::span<const Tree* const> shapes() const { return shapes_; }
    const GreedyTree& tree(std::size_t number) const { return trees_.at(number); }
    std::size_t n_actions() const { return settings_->n_actions; }
    const LinearPart* linear() const { return linear_ ? &*linear_ : nullptr; }

    // The estimates of the trees of a group are added up, then the sums of all groups, so the sums do not depend on threads.
    using Partial = double;  // by group: means of the actions, then 1 / counts; at last means and variances of the line
    static constexpr std::size_t trees_together = 4;
    // The cost of an event in the linear part, roughly, in groups of trees.
    std::size_t work_beside_trees() const { return linear_ ? linear_->line().multiplications() / 4096 : 0; }
    static std::size_t n_partials(const Settings& settings) {
        return n_groups(settings) * 2 * Leaves::padded(settings.n_actions) + (settings.linear ? 2 * settings.n_actions : 0);
    }

    // Trees change together, from time to time: the cost of one event is the same for all members of a team.
    static constexpr std::uint64_t events_per_growth = 64;
    // The number of events, from this one on, that are routed through the same trees.
    static std::size_t events_until_change(std::uint64_t event) { return events_per_growth - event % events_per_growth; }
    static constexpr std::size_t most_until_change = events_per_growth;

    std::size_t context_words() const { return variables_.words(); }
    void pack(std::span<const std::uint8_t> context, Words out) const { variables_.pack(context, out); }

    void prefetch(std::span<const std::uint32_t> leaves, Range trees) const;
    // The estimates of some trees; the linear part belongs to the first tree, with variances of available actions only.
    void estimate(std::span<const std::uint8_t> context, std::span<const std::uint32_t> leaves, Range trees,
                  ConstWords available, std::span<Partial> out) const;
    void estimate_trees(std::span<const std::uint32_t> leaves, Range trees, std::span<Partial> out) const;
    void plan(std::span<const Partial> estimates, ConstWords available, std::uint64_t n_events, Plan& out) const;
    void remember(const Observation& event);
    // The linear part goes with the first tree.
    void learn(const Observation& event, std::span<const std::uint32_t> leaves, Range trees);
    // Works on the renewals of a group of trees; the weights of the linear part go with the first tree.
    void grow(Range trees, std::size_t member);

    // The steps of these two functions, for learning a part of the forest separately. The weights are learned only from the
    // notes of the parts about an event: the sums of the groups' means and the estimate of the line.
    static std::size_t n_groups(const Settings& settings) {
        return (settings.n_trees + trees_together - 1) / trees_together;
    }
    void learn_trees(const Observation& event, std::span<const std::uint32_t> leaves, Range trees);
    void learn_line(const Observation& event);
    void estimate_line(std::span<const std::uint8_t> context, ConstWords available, std::span<Partial> out) const;
    // The positions of the estimates of some parts among those of all parts.
    static Range partials_of(const Settings& settings, Range parts) {
        const std::size_t width = 2 * Leaves::padded(settings.n_actions);
        return {parts.first * width, parts.last > n_groups(settings) ? n_partials(settings) : parts.last * width};
    }
    void renew(std::size_t group, std::size_t member);
    double noted(std::uint64_t event, std::size_t group) const { return linear_ ? linear_->noted(event, group) : 0.0; }
    // Learns the weights from notes about the last events: a number for each group and the line, row by row.
    void learn_weights(std::span<const double> notes, std::span<const double> rewards);

    std::vector<double> mean_rewards(std::span<const std::uint8_t> context, std::span<const std::uint32_t> leaves) const;
    // The number of trees whose best available action an action is.
    std::vector<std::uint32_t> votes(std::span<const std::uint32_t> leaves, ConstWords available) const;
    // The variance of the linear estimates due to each variable, over the last events, with actions weighted by plays.
    std::vector<double> linear_importance() const;
    std::size_t n_bytes() const;

    template <class Archive>
    void archive(Archive& io, std::uint64_t n_events) {
        archive_in_sections(n_events, [&](auto&& section) { section(io); });
    }
    // Calls each(section) for the pieces of the archive in their order, where section(archive) reads or writes the piece:
    // the log, the trees of each group, the renewals of each group, the line, the weights.
    template <class Each>
    void archive_in_sections(std::uint64_t n_events, Each&& each) {
        each([&](auto& io) {
            log_.archive(io, settings_->n_actions);
            require(log_.n_events() == n_events, "the log and the forest count different events");
        });
        for (std::size_t group = 0; group < renewals_.size(); ++group) {
            each([&](auto& io) {
                for (GreedyTree& tree : trees_of(group)) {
                    tree.archive(io);
                }
            });
        }
        for (std::size_t group = 0; group < renewals_.size(); ++group) {
            each([&](auto& io) { renewals_[group].archive(io, log_, trees_of(group)); });
        }
        if (linear_) {
            each([&](auto& io) { linear_->archive_line(io); });
            each([&](auto& io) { linear_->archive_weights(io); });
        }
    }

   private:
    std::span<GreedyTree> trees_of(std::size_t group) {
        const std::size_t first = group * trees_together;
        return std::span(trees_).subspan(first, std::min(trees_together, trees_.size() - first));
    }
    // The sum of the means of the trees of a group for the action of an event, before they learned its reward.
    void note(const Observation& event, std::size_t group, double sum);
    // The means of all trees by action, then the means of 1 / counts.
    void add_up(std::span<const Partial> estimates, std::vector<double>& sums) const;

    const GreedySettings* settings_;    // of the forest
    Variables variables_;               // how contexts are kept
    EventLog log_;
    std::vector<GreedyTree> trees_;
    std::vector<const Tree*> shapes_;   // of the trees, for routing
    std::vector<Renewals> renewals_;    // by group of trees
    std::vector<Splitter> splitters_;   // by thread
    std::optional<LinearPart> linear_;
};

}  // namespace bandit_forest
