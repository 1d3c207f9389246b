#include "forest/forest.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <mutex>
#include <utility>

#include "elimination/elimination.hpp"
#include "greedy/growth.hpp"
#include "policy/random.hpp"

namespace bandit_forest {

namespace {

constexpr std::size_t events_per_lock = 256;  // events learned at a time before others may decide

}  // namespace

template <GrowthRule Growth>
Forest<Growth>::Forest(const Settings& settings) : settings_(settings), growth_(settings_) {}

template <GrowthRule Growth>
Forest<Growth>::Forest(const Settings& settings, std::span<const char> saved) : Forest(settings) {
    Reader reader(saved);
    archive(reader);
    reader.finish();
}

template <GrowthRule Growth>
template <class Archive>
void Forest<Growth>::archive(Archive& io) {
    archive_counts(io);
    growth_.archive(io, events_);
}

template <GrowthRule Growth>
template <class Archive>
void Forest<Growth>::archive_counts(Archive& io) {
    std::uint64_t decisions = decisions_;
    std::uint64_t rotations = rotations_;
    io(decisions);
    io(rotations);
    io(events_);
    decisions_ = decisions;
    rotations_ = rotations;
    if constexpr (Archive::loading) {
        require(events_ < (1ULL << 53U), "a forest has learned more events than there can be");
    }
}

template <GrowthRule Growth>
std::string Forest<Growth>::save() {
    const std::unique_lock lock(mutex_);
    Writer writer;
    archive(writer);
    return std::move(writer.bytes);
}

template <GrowthRule Growth>
typename Forest<Growth>::Scratch& Forest<Growth>::scratch() const {
    thread_local Scratch scratch;
    scratch.packed.resize(growth_.context_words());
    scratch.estimates.resize(Growth::n_partials(settings_));
    return scratch;
}

template <GrowthRule Growth>
typename Forest<Growth>::Leaves Forest<Growth>::leaves_of(std::size_t event, const Scratch& scratch) const {
    return Leaves(scratch.labels).subspan(event * settings_.n_trees, settings_.n_trees);
}

template <GrowthRule Growth>
typename Forest<Growth>::Leaves Forest<Growth>::route(const Contexts& contexts, Range events, Range trees,
                                                      Scratch& scratch) const {
    assert(contexts.n_variables == settings_.n_variables && events.size() <= Growth::most_until_change);
    // These only grow: a thread may take turns with forests of different sizes, and with one event and many.
    scratch.values.resize(std::max(scratch.values.size(), events.size() * (settings_.n_variables + 1)));
    scratch.labels.resize(std::max(scratch.labels.size(), events.size() * settings_.n_trees));
    auto values = scratch.values.begin();
    for (std::size_t event = events.first; event < events.last; ++event) {
        values = std::ranges::copy(contexts.row(event), values).out;
        *values++ = 0;
    }
    bandit_forest::route(growth_.shapes().subspan(trees.first, trees.size()), {scratch.values.begin(), values},
                         scratch.labels.data() + trees.first, settings_.n_trees);
    growth_.prefetch(leaves_of(0, scratch), trees);
    return leaves_of(0, scratch);
}

template <GrowthRule Growth>
typename Forest<Growth>::Leaves Forest<Growth>::route(std::span<const std::uint8_t> context, Range trees,
                                                      Scratch& scratch) const {
    return route({context.data(), 1, context.size()}, {0, 1}, trees, scratch);
}

template <GrowthRule Growth>
template <class Visit>
void Forest<Growth>::visit(const Contexts& contexts, Range events, Range trees, Scratch& scratch,
                           Visit&& visit) const {
    for (Range same{events.first, events.first}; same.first < events.last; same.first = same.last) {
        const std::uint64_t number = events_ + (same.first - events.first);
        same.last = std::min(same.first + growth_.events_until_change(number), events.last);
        route(contexts, same, trees, scratch);
        for (std::size_t event = same.first; event < same.last; ++event) {
            if (event + 1 < same.last) {
                growth_.prefetch(leaves_of(event + 1 - same.first, scratch), trees);
            }
            visit(event, leaves_of(event - same.first, scratch));
        }
    }
}

template <GrowthRule Growth>
const Plan& Forest<Growth>::plan_by(std::span<const std::uint8_t> context, Leaves leaves, ConstWords available,
                                    Scratch& scratch) const {
    growth_.estimate(context, leaves, all_trees(), available, scratch.estimates);
    growth_.plan(scratch.estimates, available, events_, scratch.plan);
    return scratch.plan;
}

template <GrowthRule Growth>
Choice Forest<Growth>::choose(ConstWords available, const Plan& plan) {
    return choose(available, plan, decisions_.fetch_add(1, std::memory_order_relaxed));
}

template <GrowthRule Growth>
Choice Forest<Growth>::choose(ConstWords available, const Plan& plan, std::uint64_t decision) {
    std::size_t action = 0;
    if (plan.mode == Mode::rotate) {
        // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): an event without available actions is refused before
        std::size_t turn = rotations_.fetch_add(1, std::memory_order_relaxed) % count(available);
        for_each(available, [&](std::size_t candidate) { action = turn-- == 0 ? candidate : action; });
    } else {
        action = pick(plan.probabilities, draw(settings_.seed, Purpose::decision, decision));
    }
    return {action, plan.probabilities[action]};
}

template <GrowthRule Growth>
Choice Forest<Growth>::choose_by_key(const Plan& plan, std::uint64_t key) const {
    const std::size_t action = pick(plan.probabilities, draw(settings_.seed, Purpose::key, key));
    return {action, plan.probabilities[action]};
}

template <GrowthRule Growth>
Choice Forest<Growth>::decide(std::span<const std::uint8_t> context, ConstWords available,
                              std::optional<std::uint64_t> key) {
    Scratch& scratch = this->scratch();
    const Plan& plan = plan_by(context, route(context, all_trees(), scratch), available, scratch);
    return key ? choose_by_key(plan, *key) : choose(available, plan);
}

template <GrowthRule Growth>
void Forest<Growth>::learn(std::span<const std::uint8_t> context, std::size_t action, double reward,
                           double propensity) {
    Scratch& scratch = this->scratch();
    const Leaves leaves = route(context, all_trees(), scratch);
    growth_.pack(context, scratch.packed);
    const Observation event{context, scratch.packed, action, reward, propensity, events_};
    growth_.remember(event);
    growth_.learn(event, leaves, all_trees());
    Team alone(1);
    grow(alone, 0, events_);
    ++events_;
}

template <GrowthRule Growth>
Range Forest<Growth>::trees_of(std::size_t group) const {
    const std::size_t first = group * Growth::trees_together;
    return {first, std::min(first + Growth::trees_together, settings_.n_trees)};
}

template <GrowthRule Growth>
void Forest<Growth>::grow(Team& team, std::size_t member, std::uint64_t event) {
    if constexpr (Growth::events_per_growth > 0) {
        if ((event + 1) % Growth::events_per_growth == 0) {
            const std::size_t groups = (settings_.n_trees + Growth::trees_together - 1) / Growth::trees_together;
            team.share_out(member, groups, [&](std::size_t group) { growth_.grow(trees_of(group), member); });
        }
    }
}

template <GrowthRule Growth>
std::vector<std::uint64_t> Forest<Growth>::all_actions() const {
    std::vector<std::uint64_t> available(words_for(settings_.n_actions));
    fill(available, settings_.n_actions);
    return available;
}

template <GrowthRule Growth>
ConstWords Forest<Growth>::available_to(std::size_t event, [[maybe_unused]] const Contexts& contexts,
                                        ConstWords available) const {
    const std::size_t words = words_for(settings_.n_actions);
    assert(available.size() == words || available.size() == contexts.n_events * words);
    return available.size() == words ? available : available.subspan(event * words, words);
}

template <GrowthRule Growth>
void Forest<Growth>::decide_many(const Contexts& contexts, ConstWords available, std::span<const std::uint64_t> keys,
                                 std::span<std::int64_t> actions, std::span<double> propensities) {
    const std::shared_lock lock(mutex_);
    Scratch& scratch = this->scratch();
    visit(contexts, {0, contexts.n_events}, all_trees(), scratch, [&](std::size_t event, Leaves leaves) {
        const ConstWords open = available_to(event, contexts, available);
        const Plan& plan = plan_by(contexts.row(event), leaves, open, scratch);
        const Choice choice = keys.empty() ? choose(open, plan) : choose_by_key(plan, keys[event]);
        actions[event] = static_cast<std::int64_t>(choice.action);
        propensities[event] = choice.propensity;
    });
}

template <GrowthRule Growth>
void Forest<Growth>::propensities_many(const Contexts& contexts, ConstWords available, std::span<double> out) const {
    const std::shared_lock lock(mutex_);
    Scratch& scratch = this->scratch();
    visit(contexts, {0, contexts.n_events}, all_trees(), scratch, [&](std::size_t event, Leaves leaves) {
        const Plan& plan = plan_by(contexts.row(event), leaves, available_to(event, contexts, available), scratch);
        std::ranges::copy(plan.probabilities, out.subspan(event * settings_.n_actions).begin());
    });
}

template <GrowthRule Growth>
void Forest<Growth>::mean_rewards_many(const Contexts& contexts, std::span<double> out) const {
    const std::shared_lock lock(mutex_);
    visit(contexts, {0, contexts.n_events}, all_trees(), this->scratch(), [&](std::size_t event, Leaves leaves) {
        std::ranges::copy(growth_.mean_rewards(contexts.row(event), leaves),
                          out.subspan(event * settings_.n_actions).begin());
    });
}

template <GrowthRule Growth>
template <class Work>
void Forest<Growth>::work_on(std::size_t n_events, Work&& work) {
    Team team(settings_.n_threads);
    team.run([&](std::size_t member) {
        const Range trees = team.share(member, settings_.n_trees, Growth::trees_together, growth_.work_beside_trees());
        std::unique_lock lock(mutex_, std::defer_lock);
        for (Range events{0, 0}; events.first < n_events; events.first = events.last) {
            events.last = std::min(events.first + events_per_lock, n_events);
            if (member == 0) {
                lock.lock();
            }
            team.meet(member);
            work(team, member, trees, events);
            team.meet(member);
            if (member == 0) {
                events_ += events.size();
                lock.unlock();
            }
        }
    });
}

template <GrowthRule Growth>
void Forest<Growth>::learn_many(const Contexts& contexts, std::span<const std::int64_t> actions,
                                std::span<const double> rewards, std::span<const double> propensities) {
    work_on(contexts.n_events, [&](Team& team, std::size_t member, Range trees, Range events) {
        Scratch& scratch = this->scratch();
        visit(contexts, events, trees, scratch, [&](std::size_t event, Leaves leaves) {
            growth_.pack(contexts.row(event), scratch.packed);
            const Observation observed{contexts.row(event),
                                       scratch.packed,
                                       static_cast<std::size_t>(actions[event]),
                                       rewards[event],
                                       propensities[event],
                                       events_ + (event - events.first)};
            if (member == 0) {
                growth_.remember(observed);  // what growing alone reads
            }
            growth_.learn(observed, leaves, trees);
            grow(team, member, observed.number);
        });
    });
}

template <GrowthRule Growth>
void Forest<Growth>::play(const Contexts& contexts, std::span<const double> rewards, std::span<std::int64_t> actions,
                          std::span<double> propensities, std::span<double> earned) {
    const std::vector<std::uint64_t> available = all_actions();
    // Of two events, so that nobody overwrites what others still read: one meeting an event is enough.
    const std::size_t n_partials = Growth::n_partials(settings_);
    std::vector<typename Growth::Partial> all_estimates(2 * n_partials);
    work_on(contexts.n_events, [&](Team& team, std::size_t member, Range trees, Range events) {
        Scratch& scratch = this->scratch();
        const std::uint64_t decision = decisions_;
        visit(contexts, events, trees, scratch, [&](std::size_t event, Leaves leaves) {
            const std::uint64_t number = event - events.first;
            const auto estimates = std::span(all_estimates).subspan(event % 2 * n_partials, n_partials);
            growth_.estimate(contexts.row(event), leaves, trees, available, estimates);
            const Team::Meeting meeting = team.arrive(member);
            growth_.pack(contexts.row(event), scratch.packed);  // while the others arrive
            team.wait(meeting);
            growth_.plan(estimates, available, events_ + number, scratch.plan);
            const Choice choice = choose(available, scratch.plan, decision + number);  // the same for all members
            const Observation observed{contexts.row(event),
                                       scratch.packed,
                                       choice.action,
                                       rewards[event * settings_.n_actions + choice.action],
                                       choice.propensity,
                                       events_ + number};
            if (member == 0) {
                actions[event] = static_cast<std::int64_t>(choice.action);
                propensities[event] = choice.propensity;
                earned[event] = observed.reward;
                growth_.remember(observed);
            }
            growth_.learn(observed, leaves, trees);
            grow(team, member, observed.number);
        });
        if (member == 0) {  // the others have met since they read it
            decisions_ += events.size();
        }
    });
}

template <>
Range Forest<GreedyGrowth>::trees_of_parts(Range parts) const {
    return {std::min(parts.first * GreedyGrowth::trees_together, settings_.n_trees),
            std::min(parts.last * GreedyGrowth::trees_together, settings_.n_trees)};
}

template <>
std::vector<double> Forest<GreedyGrowth>::estimate_parts(const Contexts& contexts, Range parts) const {
    const Range kept = GreedyGrowth::partials_of(settings_, parts);
    std::vector<double> estimates;
    estimates.reserve(contexts.n_events * kept.size());
    const std::vector<std::uint64_t> available = all_actions();
    const std::shared_lock lock(mutex_);
    Scratch& scratch = this->scratch();
    visit(contexts, {0, contexts.n_events}, trees_of_parts(parts), scratch, [&](std::size_t event, Leaves leaves) {
        growth_.estimate(contexts.row(event), leaves, trees_of_parts(parts), available, scratch.estimates);
        if (parts.last > GreedyGrowth::n_groups(settings_)) {
            growth_.estimate_line(contexts.row(event), available, scratch.estimates);
        }
        const std::span<const double> all(scratch.estimates);
        std::ranges::copy(all.subspan(kept.first, kept.size()), std::back_inserter(estimates));
    });
    return estimates;
}

template <>
void Forest<GreedyGrowth>::decide_by(std::span<const double> estimates, std::span<std::int64_t> actions,
                                     std::span<double> propensities) {
    const std::vector<std::uint64_t> available = all_actions();
    const std::size_t n_partials = GreedyGrowth::n_partials(settings_);
    const std::shared_lock lock(mutex_);
    Plan plan;
    for (std::size_t event = 0; event < actions.size(); ++event) {
        growth_.plan(estimates.subspan(event * n_partials, n_partials), available, events_, plan);
        const Choice choice = choose(available, plan);
        actions[event] = static_cast<std::int64_t>(choice.action);
        propensities[event] = choice.propensity;
    }
}

template <>
void Forest<GreedyGrowth>::learn_parts(const Contexts& contexts, std::span<const std::int64_t> actions,
                                       std::span<const double> rewards, Range parts, std::span<double> notes) {
    const std::size_t n_groups = GreedyGrowth::n_groups(settings_);
    const Range groups{std::min(parts.first, n_groups), std::min(parts.last, n_groups)};
    const Range trees = trees_of_parts(parts);
    const std::unique_lock lock(mutex_);
    Scratch& scratch = this->scratch();
    visit(contexts, {0, contexts.n_events}, trees, scratch, [&](std::size_t event, Leaves leaves) {
        growth_.pack(contexts.row(event), scratch.packed);
        const auto action = static_cast<std::size_t>(actions[event]);
        const Observation observed{contexts.row(event), scratch.packed, action, rewards[event], 1.0, events_ + event};
        growth_.remember(observed);
        growth_.learn_trees(observed, leaves, trees);
        if (parts.last > n_groups) {
            growth_.learn_line(observed);
        }
        for (std::size_t part = parts.first; part < parts.last; ++part) {
            notes[event * parts.size() + part - parts.first] = growth_.noted(observed.number, part);
        }
        for (std::size_t group = groups.first;
             group < groups.last && GreedyGrowth::events_until_change(observed.number) == 1; ++group) {
            growth_.renew(group, 0);
        }
    });
    events_ += contexts.n_events;
}

template <>
void Forest<GreedyGrowth>::learn_weights(std::span<const double> notes, std::span<const double> rewards) {
    const std::unique_lock lock(mutex_);
    growth_.learn_weights(notes, rewards);
}

template <>
std::vector<std::string> Forest<GreedyGrowth>::sections() {
    const std::unique_lock lock(mutex_);
    std::vector<std::string> sections;
    growth_.archive_in_sections(events_, [&](auto&& write) {
        Writer writer;
        if (sections.empty()) {
            archive_counts(writer);
        }
        write(writer);
        sections.push_back(std::move(writer.bytes));
    });
    return sections;
}

template <GrowthRule Growth>
Plan Forest<Growth>::plan(std::span<const std::uint8_t> context, ConstWords available) const {
    Scratch& scratch = this->scratch();
    return plan_by(context, route(context, all_trees(), scratch), available, scratch);
}

template <GrowthRule Growth>
std::vector<std::uint32_t> Forest<Growth>::leaves(std::span<const std::uint8_t> context) const {
    const Leaves leaves = route(context, all_trees(), scratch());
    return {leaves.begin(), leaves.end()};
}

static_assert(GrowthRule<EliminationGrowth>);
static_assert(GrowthRule<GreedyGrowth>);

template class Forest<EliminationGrowth>;
template class Forest<GreedyGrowth>;

}  // namespace bandit_forest
