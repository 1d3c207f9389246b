#include "forest.hpp"

#include <algorithm>
#include <cassert>
#include <mutex>
#include <utility>

#include "elimination.hpp"
#include "greedy.hpp"
#include "random.hpp"

namespace bandit_forest {

namespace {

constexpr std::size_t events_per_lock = 256;  // events learned at a time before others may decide

}  // namespace

template <class Growth>
Forest<Growth>::Forest(const Settings& settings) : settings_(settings), growth_(settings_) {}

template <class Growth>
Forest<Growth>::Forest(const Settings& settings, std::span<const char> saved) : Forest(settings) {
    Reader reader(saved);
    archive(reader);
    reader.finish();
}

template <class Growth>
template <class Archive>
void Forest<Growth>::archive(Archive& io) {
    std::uint64_t decisions = decisions_;
    std::uint64_t rotations = rotations_;
    io(decisions);
    io(rotations);
    io(events_);
    decisions_ = decisions;
    rotations_ = rotations;
    growth_.archive(io);
}

template <class Growth>
std::string Forest<Growth>::save() {
    const std::unique_lock lock(mutex_);
    Writer writer;
    archive(writer);
    return std::move(writer.bytes);
}

template <class Growth>
typename Forest<Growth>::Scratch& Forest<Growth>::scratch_of(const Settings& settings) {
    thread_local Scratch scratch;
    scratch.context.resize(words_for(settings.n_variables + 1));
    scratch.leaves.resize(settings.n_trees);
    return scratch;
}

template <class Growth>
void Forest<Growth>::route(std::span<const std::uint8_t> context, Scratch& scratch) const {
    assert(context.size() == settings_.n_variables);
    pack(context, scratch.context);
    bandit_forest::route(growth_.shapes(), scratch.context, scratch.leaves);
    growth_.prefetch(scratch.leaves);
}

template <class Growth>
Choice Forest<Growth>::choose(ConstWords available, Scratch& scratch) {
    growth_.plan(scratch.leaves, available, scratch.plan);
    const std::vector<double>& probabilities = scratch.plan.probabilities;
    const std::uint64_t decision = decisions_.fetch_add(1, std::memory_order_relaxed);
    std::size_t action = 0;
    if (scratch.plan.mode == Mode::rotate) {
        std::size_t turn = rotations_.fetch_add(1, std::memory_order_relaxed) % count(available);
        for_each(available, [&](std::size_t candidate) { action = turn-- == 0 ? candidate : action; });
    } else {
        action = pick(probabilities, draw(settings_.seed, Purpose::decision, decision));
    }
    return {action, probabilities[action]};
}

template <class Growth>
void Forest<Growth>::learn_routed(std::size_t action, double reward, double propensity, Scratch& scratch) {
    growth_.learn({scratch.context, action, reward, propensity}, scratch.leaves);
    ++events_;
}

template <class Growth>
Choice Forest<Growth>::decide_one(std::span<const std::uint8_t> context, ConstWords available) {
    Scratch& scratch = scratch_of(settings_);
    route(context, scratch);
    return choose(available, scratch);
}

template <class Growth>
void Forest<Growth>::learn_one(std::span<const std::uint8_t> context, std::size_t action, double reward,
                               double propensity) {
    Scratch& scratch = scratch_of(settings_);
    route(context, scratch);
    learn_routed(action, reward, propensity, scratch);
}

template <class Growth>
void Forest<Growth>::decide(const Contexts& contexts, ConstWords available, std::span<std::int64_t> actions,
                            std::span<double> propensities) {
    const std::shared_lock lock(mutex_);
    for (std::size_t event = 0; event < contexts.n_events; ++event) {
        const Choice choice = decide_one(contexts.row(event), available);
        actions[event] = static_cast<std::int64_t>(choice.action);
        propensities[event] = choice.propensity;
    }
}

template <class Growth>
void Forest<Growth>::learn(const Contexts& contexts, std::span<const std::int64_t> actions,
                           std::span<const double> rewards, std::span<const double> propensities) {
    for (std::size_t start = 0; start < contexts.n_events; start += events_per_lock) {
        const std::unique_lock lock(mutex_);
        for (std::size_t event = start; event < std::min(start + events_per_lock, contexts.n_events); ++event) {
            learn_one(contexts.row(event), static_cast<std::size_t>(actions[event]), rewards[event],
                      propensities[event]);
        }
    }
}

template <class Growth>
void Forest<Growth>::play(const Contexts& contexts, std::span<const double> rewards, std::span<std::int64_t> actions,
                          std::span<double> propensities, std::span<double> earned) {
    Scratch& scratch = scratch_of(settings_);
    std::vector<std::uint64_t> available(words_for(settings_.n_actions));
    fill(available, settings_.n_actions);
    for (std::size_t start = 0; start < contexts.n_events; start += events_per_lock) {
        const std::unique_lock lock(mutex_);
        for (std::size_t event = start; event < std::min(start + events_per_lock, contexts.n_events); ++event) {
            route(contexts.row(event), scratch);
            const Choice choice = choose(available, scratch);
            actions[event] = static_cast<std::int64_t>(choice.action);
            propensities[event] = choice.propensity;
            earned[event] = rewards[event * settings_.n_actions + choice.action];
            learn_routed(choice.action, earned[event], choice.propensity, scratch);
        }
    }
}

template <class Growth>
std::vector<std::uint32_t> Forest<Growth>::leaves(std::span<const std::uint8_t> context) const {
    Scratch& scratch = scratch_of(settings_);
    route(context, scratch);
    return scratch.leaves;
}

template class Forest<EliminationGrowth>;
template class Forest<GreedyGrowth>;

}  // namespace bandit_forest
