#include "greedy/growth.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "util/cpu_dispatch.hpp"

namespace bandit_forest {

GreedyGrowth::GreedyGrowth(const GreedySettings& settings)
    : settings_(&settings),
      variables_(settings.n_variables, settings.levels),
      log_(variables_, settings.log_capacity),
      splitters_(settings.n_threads, Splitter(settings)) {
    const std::vector<float> zeros(settings.n_actions, 0.0F);
    trees_.reserve(settings.n_trees);
    for (std::size_t number = 0; number < settings.n_trees; ++number) {
        trees_.emplace_back(settings, number, 0);
        trees_.back().make_leaf(0, zeros, zeros);
    }
    for (const GreedyTree& tree : trees_) {
        shapes_.push_back(&tree.tree());
    }
    for (std::size_t group = 0; group < n_groups(settings); ++group) {
        renewals_.emplace_back(settings, group * trees_together, trees_of(group).size());
    }
    if (settings.linear) {
        linear_.emplace(settings, renewals_.size(), events_per_growth);
    }
}

void GreedyGrowth::prefetch(std::span<const std::uint32_t> leaves, Range trees) const {
    for (std::size_t tree = trees.first; tree < trees.last; ++tree) {
        trees_[tree].leaves().prefetch(leaves[tree]);
    }
}

BANDIT_FOREST_CPU_DISPATCH
void GreedyGrowth::estimate(std::span<const std::uint8_t> context, std::span<const std::uint32_t> leaves, Range trees,
                            ConstWords available, std::span<Partial> out) const {
    estimate_trees(leaves, trees, out);
    if (trees.first == 0 && trees.last > 0) {  // a member without trees may stand there too
        estimate_line(context, available, out);
    }
}

void GreedyGrowth::estimate_trees(std::span<const std::uint32_t> leaves, Range trees, std::span<Partial> out) const {
    assert(trees.first % trees_together == 0);
    const std::size_t n = Leaves::padded(settings_->n_actions);
    const auto shrinkage = static_cast<float>(settings_->shrinkage);
    for (std::size_t tree = trees.first; tree < trees.last; ++tree) {
        const std::span<Partial> sums = out.subspan(tree / trees_together * 2 * n, 2 * n);
        if (tree % trees_together == 0) {
            std::ranges::fill(sums, 0.0);
        }
        trees_[tree].leaves().add_to(sums.first(n), sums.last(n), leaves[tree], shrinkage);
    }
}

void GreedyGrowth::estimate_line(std::span<const std::uint8_t> context, ConstWords available,
                                 std::span<Partial> out) const {
    if (linear_) {
        thread_local TermValues values;
        const Line& line = linear_->line();
        const auto of_line = out.last(2 * settings_->n_actions);
        std::ranges::fill(of_line, 0.0);
        if (linear_->blend().line() == 0.0) {  // nothing that the line says counts
            return;
        }
        line.terms().of(context, values);
        line.estimate_means(values, of_line.first(settings_->n_actions));
        const auto variances = of_line.last(settings_->n_actions);
        for_each(available, [&](std::size_t action) { variances[action] = line.variance(values, action); });
    }
}

void GreedyGrowth::add_up(std::span<const Partial> estimates, std::vector<double>& sums) const {
    sums.assign(2 * Leaves::padded(settings_->n_actions), 0.0);
    for (std::size_t group = 0; group < renewals_.size(); ++group) {
        for (std::size_t i = 0; i < sums.size(); ++i) {
            sums[i] += estimates[group * sums.size() + i];
        }
    }
    for (double& sum : sums) {
        sum /= static_cast<double>(trees_.size());
    }
}

void GreedyGrowth::plan(std::span<const Partial> estimates, ConstWords available, std::uint64_t n_events,
                        Plan& out) const {
    thread_local std::vector<double> sums;
    thread_local std::vector<double> bounds;
    const std::size_t n = settings_->n_actions;
    add_up(estimates, sums);
    const std::span<const double> all(sums);
    bounds.resize(n);
    const auto age = static_cast<double>(settings_->lifetime == 0 ? n_events : std::min(n_events, settings_->lifetime));
    upper_bounds(all.first(n), all.subspan(all.size() / 2, n), standard_errors(*settings_, age), bounds);
    if (linear_) {
        const std::span<const double> of_line = estimates.last(2 * n);
        for (std::size_t action = 0; action < n; ++action) {
            const double bound = of_line[action] + settings_->linear_optimism * std::sqrt(of_line[n + action]);
            bounds[action] = linear_->blend().trees() * bounds[action] + linear_->blend().line() * bound;
        }
    }
    inverse_gap(bounds, available, settings_->gamma_scale * std::cbrt(age), out.probabilities);
    out.mode = Mode::draw;
}

void GreedyGrowth::remember(const Observation& event) {
    assert(event.number == log_.n_events());
    log_.append(event.packed, event.action, static_cast<float>(event.reward));
}

void GreedyGrowth::learn(const Observation& event, std::span<const std::uint32_t> leaves, Range trees) {
    learn_trees(event, leaves, trees);
    if (trees.first == 0 && trees.last > 0) {  // a member without trees may stand there too
        learn_line(event);
    }
}

void GreedyGrowth::learn_trees(const Observation& event, std::span<const std::uint32_t> leaves, Range trees) {
    const auto reward = static_cast<float>(event.reward);
    double sum = 0.0;  // of the means of a group of trees
    for (std::size_t tree = trees.first; tree < trees.last; ++tree) {
        sum += static_cast<double>(trees_[tree].leaves().mean(leaves[tree], event.action));
        trees_[tree].learn(leaves[tree], event.action, reward);
        if (tree + 1 == trees_.size() || (tree + 1) % trees_together == 0) {
            note(event, tree / trees_together, sum);
            sum = 0.0;
        }
    }
}

void GreedyGrowth::note(const Observation& event, std::size_t group, double sum) {
    if (linear_) {
        linear_->note(event.number, group, sum);
    }
    if (settings_->lifetime > 0) {
        const double estimate = sum / static_cast<double>(trees_of(group).size());
        renewals_[group].notice(estimate, static_cast<double>(static_cast<float>(event.reward)), event.number);
    }
}

void GreedyGrowth::learn_line(const Observation& event) {
    if (linear_) {
        const auto reward = static_cast<double>(static_cast<float>(event.reward));
        linear_->learn(event.context, event.action, reward, event.number);
    }
}

void GreedyGrowth::grow(Range trees, std::size_t member) {
    if (linear_ && trees.first == 0) {
        linear_->learn_weights(log_.n_events() - 1);
    }
    renew(trees.first / trees_together, member);
}

void GreedyGrowth::renew(std::size_t group, std::size_t member) {
    renewals_[group].advance(events_per_growth, log_, splitters_[member], trees_of(group));
}

void GreedyGrowth::learn_weights(std::span<const double> notes, std::span<const double> rewards) {
    const std::size_t n_notes = renewals_.size() + 1;
    for (std::size_t i = 0; linear_ && i < rewards.size(); ++i) {
        const std::uint64_t event = log_.n_events() - rewards.size() + i;
        for (std::size_t group = 0; group < renewals_.size(); ++group) {
            linear_->note(event, group, notes[i * n_notes + group]);
        }
        linear_->note_line(event, notes[i * n_notes + renewals_.size()], static_cast<double>(static_cast<float>(rewards[i])));
        if ((event + 1) % events_per_growth == 0) {
            linear_->learn_weights(event);
        }
    }
}

std::vector<double> GreedyGrowth::mean_rewards(std::span<const std::uint8_t> context,
                                               std::span<const std::uint32_t> leaves) const {
    thread_local std::vector<Partial> estimates;
    estimates.resize(n_partials(*settings_));
    estimate_trees(leaves, {0, trees_.size()}, estimates);
    std::vector<double> means;
    add_up(estimates, means);
    means.resize(settings_->n_actions);
    if (linear_) {
        thread_local TermValues values;
        linear_->line().terms().of(context, values);
        const std::span<double> of_line = std::span<double>(estimates).last(settings_->n_actions);
        linear_->line().estimate_means(values, of_line);
        for (std::size_t action = 0; action < means.size(); ++action) {
            const double mean = linear_->blend().trees() * means[action] + linear_->blend().line() * of_line[action];
            means[action] = std::min(mean, 1.0);
        }
    }
    return means;
}

std::vector<std::uint32_t> GreedyGrowth::votes(std::span<const std::uint32_t> leaves, ConstWords available) const {
    std::vector<std::uint32_t> votes(settings_->n_actions, 0);
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
        const Leaves& means = trees_[tree].leaves();
        std::size_t best = first(available);
        for_each(available, [&](std::size_t action) {
            best = means.mean(leaves[tree], action) > means.mean(leaves[tree], best) ? action : best;
        });
        ++votes[best];
    }
    return votes;
}

std::vector<double> GreedyGrowth::linear_importance() const {
    constexpr std::uint64_t most_events = 1024;
    const std::size_t n_actions = settings_->n_actions;
    const std::size_t n_variables = settings_->n_variables;
    const std::uint64_t n_events = std::min({log_.n_events(), most_events, std::uint64_t{settings_->log_capacity}});
    std::vector<double> sums(n_variables * n_actions), squares(sums.size()), parts(sums.size());
    std::vector<double> plays(n_actions);
    std::vector<std::uint8_t> context(n_variables);
    TermValues values;
    const Line& line = linear_->line();
    const Records records = log_.records();
    for (std::uint64_t event = log_.n_events() - n_events; event < log_.n_events(); ++event) {
        variables_.unpack(records.at(static_cast<EventId>(event)), context);
        line.terms().of(context, values);
        plays[records.action(static_cast<EventId>(event))] += 1.0;
        std::ranges::fill(parts, 0.0);
        for (const std::uint32_t term : std::span(values.nonzero).first(values.nonzero.size() - 1)) {
            for (std::size_t action = 0; action < n_actions; ++action) {
                parts[line.terms().variable(term) * n_actions + action] +=
                    values.values[term] * line.weights()[term * n_actions + action];
            }
        }
        for (std::size_t i = 0; i < parts.size(); ++i) {
            sums[i] += parts[i];
            squares[i] += parts[i] * parts[i];
        }
    }
    std::vector<double> importance(n_variables, 0.0);
    const double n = std::max(static_cast<double>(n_events), 1.0);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const double variance = std::max(squares[i] / n - sums[i] / n * (sums[i] / n), 0.0);
        importance[i / n_actions] += plays[i % n_actions] / n * variance;
    }
    return importance;
}

std::size_t GreedyGrowth::n_bytes() const {
    std::size_t bytes = log_.n_bytes() + (linear_ ? linear_->n_bytes() : 0);
    for (const GreedyTree& tree : trees_) {
        bytes += tree.n_bytes();
    }
    for (const Renewals& renewals : renewals_) {
        bytes += renewals.n_bytes();
    }
    return bytes;
}

}  // namespace bandit_forest
