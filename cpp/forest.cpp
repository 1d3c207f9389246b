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
    growth_.archive(io, events_);
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
    scratch.values.resize(settings.n_variables + 1);
    scratch.context.resize(words_for(settings.n_variables + 1));
    scratch.leaves.resize(settings.n_trees);
    scratch.voices.resize(Growth::n_voices(settings));
    return scratch;
}

template <class Growth>
void Forest<Growth>::route(std::span<const std::uint8_t> context, Range trees, Scratch& scratch) const {
    assert(context.size() == settings_.n_variables);
    pack(context, scratch.context);
    std::ranges::copy(context, scratch.values.begin());
    scratch.values[settings_.n_variables] = 0;
    bandit_forest::route(growth_.shapes().subspan(trees.first, trees.size()), scratch.values,
                         std::span(scratch.leaves).subspan(trees.first, trees.size()));
    growth_.prefetch(scratch.leaves, trees);
}

template <class Growth>
void Forest<Growth>::plan_one(std::span<const std::uint8_t> context, ConstWords available, Scratch& scratch) const {
    route(context, all_trees(), scratch);
    growth_.ask(scratch.leaves, all_trees(), scratch.voices);
    growth_.plan(scratch.voices, available, events_, scratch.plan);
}

template <class Growth>
Choice Forest<Growth>::choose(ConstWords available, std::uint64_t decision, const Plan& plan) {
    std::size_t action = 0;
    if (plan.mode == Mode::rotate) {
        std::size_t turn = rotations_.fetch_add(1, std::memory_order_relaxed) % count(available);
        for_each(available, [&](std::size_t candidate) { action = turn-- == 0 ? candidate : action; });
    } else {
        action = pick(plan.probabilities, draw(settings_.seed, Purpose::decision, decision));
    }
    return {action, plan.probabilities[action]};
}

template <class Growth>
Choice Forest<Growth>::decide_one(std::span<const std::uint8_t> context, ConstWords available) {
    Scratch& scratch = scratch_of(settings_);
    plan_one(context, available, scratch);
    return choose(available, decisions_.fetch_add(1, std::memory_order_relaxed), scratch.plan);
}

template <class Growth>
void Forest<Growth>::learn_one(std::span<const std::uint8_t> context, std::size_t action, double reward,
                               double propensity) {
    Scratch& scratch = scratch_of(settings_);
    route(context, all_trees(), scratch);
    const Observation event{scratch.context, action, reward, propensity, events_};
    growth_.remember(event);
    growth_.learn(event, scratch.leaves, all_trees());
    Team alone(1);
    grow(alone, 0, events_);
    ++events_;
}

template <class Growth>
Range Forest<Growth>::trees_of(std::size_t group) const {
    const std::size_t first = group * Growth::trees_together;
    return {first, std::min(first + Growth::trees_together, settings_.n_trees)};
}

template <class Growth>
void Forest<Growth>::grow(Team& team, std::size_t member, std::uint64_t event) {
    if constexpr (Growth::events_per_growth > 0) {
        if ((event + 1) % Growth::events_per_growth == 0) {
            team.meet();
            const std::size_t groups = (settings_.n_trees + Growth::trees_together - 1) / Growth::trees_together;
            team.share_out(groups, [&](std::size_t group) { growth_.grow(trees_of(group), member); });
            team.meet();
        }
    }
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
template <class Work>
void Forest<Growth>::work_on(std::size_t n_events, Work&& work) {
    for (std::size_t first = 0; first < n_events; first += events_per_lock) {
        const std::unique_lock lock(mutex_);
        const std::size_t last = std::min(first + events_per_lock, n_events);
        Team team(settings_.n_threads);
        team.run([&](std::size_t member) {
            work(team, member, team.share(member, settings_.n_trees, Growth::trees_together), first, last);
        });
        events_ += last - first;
    }
}

template <class Growth>
void Forest<Growth>::learn(const Contexts& contexts, std::span<const std::int64_t> actions,
                           std::span<const double> rewards, std::span<const double> propensities) {
    work_on(contexts.n_events, [&](Team& team, std::size_t member, Range trees, std::size_t first, std::size_t last) {
        Scratch& scratch = scratch_of(settings_);
        for (std::size_t event = first; event < last; ++event) {
            route(contexts.row(event), trees, scratch);
            const Observation observed{scratch.context, static_cast<std::size_t>(actions[event]), rewards[event],
                                       propensities[event], events_ + (event - first)};
            if (member == 0) {
                growth_.remember(observed);  // what growing alone reads
            }
            growth_.learn(observed, scratch.leaves, trees);
            grow(team, member, observed.number);
        }
    });
}

template <class Growth>
void Forest<Growth>::play(const Contexts& contexts, std::span<const double> rewards, std::span<std::int64_t> actions,
                          std::span<double> propensities, std::span<double> earned) {
    std::vector<std::uint64_t> available(words_for(settings_.n_actions));
    fill(available, settings_.n_actions);
    // Of two events, so that nobody overwrites what others still read: one meeting an event is enough.
    const std::size_t n_voices = Growth::n_voices(settings_);
    std::vector<typename Growth::Voice> all_voices(2 * n_voices);
    work_on(contexts.n_events, [&](Team& team, std::size_t member, Range trees, std::size_t first, std::size_t last) {
        Scratch& scratch = scratch_of(settings_);
        const std::uint64_t decision = decisions_;
        for (std::size_t event = first; event < last; ++event) {
            const std::uint64_t number = event - first;
            const auto voices = std::span(all_voices).subspan(event % 2 * n_voices, n_voices);
            route(contexts.row(event), trees, scratch);
            growth_.ask(scratch.leaves, trees, voices);
            team.meet();
            growth_.plan(voices, available, events_ + number, scratch.plan);
            const Choice choice = choose(available, decision + number, scratch.plan);  // the same for all members
            const Observation observed{scratch.context, choice.action,
                                       rewards[event * settings_.n_actions + choice.action], choice.propensity,
                                       events_ + number};
            if (member == 0) {
                actions[event] = static_cast<std::int64_t>(choice.action);
                propensities[event] = choice.propensity;
                earned[event] = observed.reward;
                growth_.remember(observed);
            }
            growth_.learn(observed, scratch.leaves, trees);
            grow(team, member, observed.number);
        }
        team.meet();
        if (member == 0) {
            decisions_ += last - first;
        }
    });
}

template <class Growth>
Plan Forest<Growth>::plan(std::span<const std::uint8_t> context, ConstWords available) const {
    Scratch& scratch = scratch_of(settings_);
    plan_one(context, available, scratch);
    return scratch.plan;
}

template <class Growth>
std::vector<std::uint32_t> Forest<Growth>::leaves(std::span<const std::uint8_t> context) const {
    Scratch& scratch = scratch_of(settings_);
    route(context, all_trees(), scratch);
    return scratch.leaves;
}

template class Forest<EliminationGrowth>;
template class Forest<GreedyGrowth>;

}  // namespace bandit_forest
