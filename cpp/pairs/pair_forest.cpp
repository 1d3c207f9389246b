#include "pairs/pair_forest.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <mutex>
#include <utility>

#include "pairs/tree_means.hpp"
#include "policy/exploration.hpp"
#include "policy/random.hpp"
#include "tree/tree.hpp"

namespace bandit_forest {

namespace {

GreedySettings trees_of(const PairSettings& settings) {
    GreedySettings trees = settings;
    trees.n_actions = 1;
    trees.n_threads = 1;
    trees.linear = false;
    return trees;
}

}  // namespace

PairForest::PairForest(const PairSettings& settings)
    : settings_(settings),
      tree_settings_(trees_of(settings)),
      growth_(tree_settings_),
      names_(settings.n_names),
      named_(settings) {
    if (settings_.linear) {
        line_.emplace(settings_);
    }
}

PairForest::PairForest(const PairSettings& settings, std::span<const char> saved) : PairForest(settings) {
    Reader reader(saved);
    archive(reader);
    reader.finish();
}

template <class Archive>
void PairForest::archive(Archive& io) {
    std::uint64_t decisions = decisions_;
    io(decisions);
    io(events_);
    decisions_ = decisions;
    if constexpr (Archive::loading) {
        require(events_ < (1ULL << 53U), "a forest has learned more events than there can be");
    }
    growth_.archive(io, events_);
    if (line_) {
        line_->archive(io);
    }
    blend_.archive(io);
    names_.archive(io);
    if (settings_.n_named_actions > 0) {
        named_.archive(io);
    }
}

std::string PairForest::save() {
    const std::unique_lock lock(mutex_);
    Writer writer;
    archive(writer);
    return std::move(writer.bytes);
}

std::size_t PairForest::n_bytes() const {
    return sizeof(PairForest) + growth_.n_bytes() + (line_ ? line_->n_bytes() : 0) + names_.n_bytes() +
           named_.n_bytes();
}

Optimism PairForest::optimism() const {
    return {standard_errors(settings_, static_cast<double>(events_)), settings_.linear_optimism};
}

void PairForest::estimate_by_trees(std::span<const std::uint32_t> leaves, std::vector<double>& means,
                                   std::vector<double>& inverse_counts) const {
    const std::size_t n_trees = settings_.n_trees;
    average_trees(
        growth_, tree_settings_, leaves.size() / n_trees,
        [&](std::size_t pair, std::size_t tree) { return LeafAction{leaves[pair * n_trees + tree], 0}; }, means,
        inverse_counts);
}

void PairForest::estimate(const Offers& offers, std::size_t event, Optimism optimism, std::vector<double>& out) const {
    thread_local std::vector<std::uint8_t> pairs;   // codes and a spare zero, by offered action
    thread_local std::vector<std::uint32_t> leaves;  // by offered action and tree
    thread_local std::vector<double> means, inverse_counts, context, actions, line_means, variances;
    const std::size_t n = offers.n_offered(event);
    const std::size_t first = offers.first(event);
    pairs.resize(n * (settings_.n_variables + 1));
    leaves.resize(n * settings_.n_trees);
    auto code = pairs.begin();
    for (std::size_t i = 0; i < n; ++i) {
        code = std::ranges::copy(offers.contexts.row(event), code).out;
        code = std::ranges::copy(offers.actions.row(first + i), code).out;
        *code++ = 0;
    }
    route(growth_.shapes(), pairs, leaves.data(), settings_.n_trees);
    estimate_by_trees(leaves, means, inverse_counts);
    out.resize(n);
    upper_bounds(means, inverse_counts, optimism.trees, out);
    if (line_) {
        context.resize(line_->context_terms().size());
        actions.resize(line_->action_terms().size() * n);
        line_means.resize(n);
        variances.resize(n);
        line_->context_terms().of(offers.contexts.row(event), context.data(), 1);
        for (std::size_t i = 0; i < n; ++i) {
            line_->action_terms().of(offers.actions.row(first + i), actions.data() + i, n);
        }
        line_->estimate(context, actions, line_means, variances);
        for (std::size_t i = 0; i < n; ++i) {
            const double bound = line_means[i] + optimism.line * std::sqrt(variances[i]);
            out[i] = blend_.trees() * out[i] + blend_.line() * bound;
        }
    }
    if (offers.names.empty()) {
        return;
    }
    if (named_.is_open()) {
        named_.move(offers.contexts.row(event), offers.names.subspan(first, n), optimism, out);
        return;
    }
    for (std::size_t i = 0; i < n; ++i) {
        out[i] += names_.estimate(offers.names[first + i]);
    }
}

const std::vector<double>& PairForest::plan(const Offers& offers, std::size_t event) const {
    thread_local std::vector<double> bounds, probabilities;
    thread_local std::vector<std::uint64_t> all;
    estimate(offers, event, optimism(), bounds);
    all.assign(words_for(bounds.size()), 0);
    fill(all, bounds.size());
    inverse_gap(bounds, all, settings_.gamma_scale * std::cbrt(static_cast<double>(events_)), probabilities);
    return probabilities;
}

double PairForest::number_of_draw(std::span<const std::uint64_t> keys, std::size_t event, std::uint64_t decision,
                                  std::uint64_t turn) const {
    const std::uint64_t seed = turn == 0 ? settings_.seed : mix(settings_.seed, turn);
    return keys.empty() ? draw(seed, Purpose::decision, decision) : draw(seed, Purpose::key, keys[event]);
}

void PairForest::decide_many(const Offers& offers, std::span<const std::uint64_t> keys, std::span<std::int64_t> actions,
                             std::span<double> propensities) {
    const std::shared_lock lock(mutex_);
    for (std::size_t event = 0; event < offers.n_events(); ++event) {
        const std::vector<double>& probabilities = plan(offers, event);
        const std::uint64_t decision = keys.empty() ? decisions_.fetch_add(1, std::memory_order_relaxed) : 0;
        const std::size_t action = pick(probabilities, number_of_draw(keys, event, decision, 0));
        actions[event] = static_cast<std::int64_t>(action);
        propensities[event] = probabilities[action];
    }
}

void PairForest::rank_many(const Offers& offers, std::span<const std::uint64_t> keys, std::span<std::int64_t> orders,
                           std::span<double> propensities) {
    const std::shared_lock lock(mutex_);
    std::vector<double> left;  // probabilities of the actions that have no rank yet
    for (std::size_t event = 0; event < offers.n_events(); ++event) {
        const std::uint64_t decision = keys.empty() ? decisions_.fetch_add(1, std::memory_order_relaxed) : 0;
        left = plan(offers, event);
        std::ranges::copy(left, propensities.subspan(offers.first(event)).begin());
        for (std::size_t turn = 0; turn < left.size(); ++turn) {
            double total = 0.0;
            for (const double probability : left) {
                total += probability;
            }
            const double number = number_of_draw(keys, event, decision, turn);
            const std::size_t action = pick(left, turn == 0 ? number : number * total);
            orders[offers.first(event) + turn] = static_cast<std::int64_t>(action);
            left[action] = 0.0;
        }
    }
}

void PairForest::propensities_many(const Offers& offers, std::span<double> out) const {
    const std::shared_lock lock(mutex_);
    for (std::size_t event = 0; event < offers.n_events(); ++event) {
        std::ranges::copy(plan(offers, event), out.subspan(offers.first(event)).begin());
    }
}

void PairForest::mean_rewards_many(const Offers& offers, std::span<double> out) const {
    const std::shared_lock lock(mutex_);
    std::vector<double> means;
    for (std::size_t event = 0; event < offers.n_events(); ++event) {
        estimate(offers, event, {0.0, 0.0}, means);
        std::ranges::transform(means, out.subspan(offers.first(event)).begin(),
                               [](double mean) { return std::clamp(mean, 0.0, 1.0); });
    }
}

void PairForest::learn_many(const Contexts& contexts, const Contexts& actions, std::span<const std::uint64_t> names,
                            std::span<const double> rewards) {
    constexpr std::size_t events_per_lock = 256;  // events learned at a time before others may decide
    for (std::size_t first = 0; first < contexts.n_events; first += events_per_lock) {
        const std::unique_lock lock(mutex_);
        for (std::size_t event = first; event < std::min(first + events_per_lock, contexts.n_events); ++event) {
            learn(contexts.row(event), actions.row(event), names.empty() ? nullptr : &names[event], rewards[event]);
        }
    }
}

void PairForest::learn(std::span<const std::uint8_t> context, std::span<const std::uint8_t> action,
                       const std::uint64_t* name, double reward) {
    thread_local std::vector<std::uint8_t> pair;
    thread_local std::vector<std::uint32_t> leaves;
    thread_local std::vector<std::uint64_t> packed;
    thread_local std::vector<double> means, inverse_counts, context_terms, action_terms;
    pair.assign(context.begin(), context.end());
    pair.insert(pair.end(), action.begin(), action.end());
    pair.push_back(0);
    leaves.resize(settings_.n_trees);
    packed.resize(growth_.context_words());
    route(growth_.shapes(), pair, leaves.data(), settings_.n_trees);
    estimate_by_trees(leaves, means, inverse_counts);
    const auto value = static_cast<double>(static_cast<float>(reward));
    double estimate = means[0];
    if (line_) {
        context_terms.resize(line_->context_terms().size());
        action_terms.resize(line_->action_terms().size());
        line_->context_terms().of(context, context_terms.data(), 1);
        line_->action_terms().of(action, action_terms.data(), 1);
        const double linear = line_->mean(context_terms, action_terms);
        estimate = blend_.trees() * means[0] + blend_.line() * linear;
        line_->learn(context_terms, action_terms, value);
        blend_.learn(means[0], linear, value, static_cast<double>(events_ + 1));
        blend_.solve();
    }
    if (name != nullptr) {
        names_.learn(*name, value - estimate);
        if (named_.is_open()) {
            named_.learn(context, *name, value, estimate);
        }
    }
    const std::span<const std::uint8_t> codes = std::span<const std::uint8_t>(pair).first(settings_.n_variables);
    growth_.pack(codes, packed);
    const Observation event{codes, packed, 0, reward, 1.0, events_};
    growth_.remember(event);
    growth_.learn(event, leaves, {0, settings_.n_trees});
    if ((events_ + 1) % GreedyGrowth::events_per_growth == 0) {
        for (std::size_t first = 0; first < settings_.n_trees; first += GreedyGrowth::trees_together) {
            growth_.grow({first, std::min(first + GreedyGrowth::trees_together, settings_.n_trees)}, 0);
        }
    }
    ++events_;
}

}  // namespace bandit_forest
