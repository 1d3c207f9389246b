#include "forest.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <mutex>

#include "random.hpp"

namespace bandit_forest {

namespace {

constexpr std::size_t block = 256;  // events learned at a time before others may decide

}  // namespace

// Buffers for one event, kept by each thread so that no call allocates.
struct Forest::Scratch {
    std::vector<std::uint64_t> context;  // packed, with a spare zero bit
    std::vector<double> bits;            // the context as 0.0 and 1.0
    std::vector<NodeId> leaves;          // by tree
    std::vector<std::uint64_t> sets;     // remaining actions, by tree
    Plan plan;

    static Scratch& of(const Settings& settings) {
        thread_local Scratch scratch;
        scratch.context.resize(words_for(settings.n_variables + 1));
        scratch.bits.assign(Elimination::stride(settings.n_variables), 0.0);
        scratch.leaves.resize(settings.n_trees);
        scratch.sets.resize(settings.n_trees * words_for(settings.n_actions));
        return scratch;
    }
};

Forest::Forest(const Settings& settings) : settings_(settings) {
    trees_.reserve(settings_.n_trees);
    for (std::size_t number = 0; number < settings_.n_trees; ++number) {
        trees_.emplace_back(settings_, number);
    }
    for (const Elimination& tree : trees_) {
        shapes_.push_back(&tree.tree());
    }
}

Forest::Forest(const Settings& settings, std::span<const char> saved) : Forest(settings) {
    Reader reader(saved);
    archive(reader);
    reader.finish();
}

template <class Archive>
void Forest::archive(Archive& io) {
    std::uint64_t decisions = decisions_;
    std::uint64_t rotations = rotations_;
    io(decisions);
    io(rotations);
    io(events_);
    decisions_ = decisions;
    rotations_ = rotations;
    for (Elimination& tree : trees_) {
        tree.archive(io);
    }
}

std::string Forest::save() const {
    const std::unique_lock lock(mutex_);
    Writer writer;
    const_cast<Forest*>(this)->archive(writer);  // a Writer changes nothing
    return std::move(writer.bytes);
}

std::vector<std::uint64_t> Forest::all_actions() const {
    std::vector<std::uint64_t> set(words_for(settings_.n_actions));
    fill(set, settings_.n_actions);
    return set;
}

void Forest::route(std::span<const std::uint8_t> context, Scratch& scratch) const {
    assert(context.size() == settings_.n_variables);
    pack(context, scratch.context);
    std::ranges::copy(context, scratch.bits.begin());
    bandit_forest::route(shapes_, scratch.context, scratch.leaves);
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
        trees_[tree].prefetch(scratch.leaves[tree]);
    }
}

Choice Forest::choose(ConstWords available, Scratch& scratch) {
    const std::size_t words = available.size();
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
        std::ranges::copy(trees_[tree].remaining_actions(scratch.leaves[tree]),
                          scratch.sets.begin() + static_cast<std::ptrdiff_t>(tree * words));
    }
    plan(settings_, scratch.sets, available, scratch.plan);
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

void Forest::learn_routed(std::size_t action, double reward, double propensity, Scratch& scratch) {
    const double weight = settings_.estimate == Estimate::plays ? 1.0 : 1.0 / propensity;
    const Event event{scratch.bits, action, weight, reward * weight};
    constexpr std::size_t ahead = 4;  // trees whose sums are on their way while one is updated
    for (std::size_t tree = 0; tree < std::min(ahead, trees_.size()); ++tree) {
        trees_[tree].prefetch(scratch.leaves[tree], event);
    }
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
        if (tree + ahead < trees_.size()) {
            trees_[tree + ahead].prefetch(scratch.leaves[tree + ahead], event);
        }
        trees_[tree].learn(scratch.leaves[tree], event);
    }
    ++events_;
}

void Forest::decide(const Contexts& contexts, ConstWords available, std::span<std::int64_t> actions,
                    std::span<double> propensities) {
    Scratch& scratch = Scratch::of(settings_);
    const std::shared_lock lock(mutex_);
    for (std::size_t event = 0; event < contexts.n_events; ++event) {
        route(contexts.row(event), scratch);
        const Choice choice = choose(available, scratch);
        actions[event] = static_cast<std::int64_t>(choice.action);
        propensities[event] = choice.propensity;
    }
}

void Forest::learn(const Contexts& contexts, std::span<const std::int64_t> actions, std::span<const double> rewards,
                   std::span<const double> propensities) {
    Scratch& scratch = Scratch::of(settings_);
    for (std::size_t start = 0; start < contexts.n_events; start += block) {
        const std::unique_lock lock(mutex_);
        for (std::size_t event = start; event < std::min(start + block, contexts.n_events); ++event) {
            route(contexts.row(event), scratch);
            learn_routed(static_cast<std::size_t>(actions[event]), rewards[event], propensities[event], scratch);
        }
    }
}

void Forest::play(const Contexts& contexts, std::span<const double> rewards, std::span<std::int64_t> actions,
                  std::span<double> propensities, std::span<double> earned) {
    Scratch& scratch = Scratch::of(settings_);
    const std::vector<std::uint64_t> available = all_actions();
    const std::unique_lock lock(mutex_);
    for (std::size_t event = 0; event < contexts.n_events; ++event) {
        route(contexts.row(event), scratch);
        const Choice choice = choose(available, scratch);
        actions[event] = static_cast<std::int64_t>(choice.action);
        propensities[event] = choice.propensity;
        earned[event] = rewards[event * settings_.n_actions + choice.action];
        learn_routed(choice.action, earned[event], choice.propensity, scratch);
    }
}

std::vector<NodeId> Forest::leaves(std::span<const std::uint8_t> context) const {
    Scratch& scratch = Scratch::of(settings_);
    const std::shared_lock lock(mutex_);
    route(context, scratch);
    return scratch.leaves;
}

Plan Forest::plan_for(std::span<const std::uint8_t> context, ConstWords available) const {
    Scratch& scratch = Scratch::of(settings_);
    const std::shared_lock lock(mutex_);
    route(context, scratch);
    const std::size_t words = available.size();
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
        std::ranges::copy(trees_[tree].remaining_actions(scratch.leaves[tree]),
                          scratch.sets.begin() + static_cast<std::ptrdiff_t>(tree * words));
    }
    plan(settings_, scratch.sets, available, scratch.plan);
    return scratch.plan;
}

std::vector<double> Forest::mean_rewards(std::span<const std::uint8_t> context) const {
    Scratch& scratch = Scratch::of(settings_);
    const std::shared_lock lock(mutex_);
    route(context, scratch);
    std::vector<double> means(settings_.n_actions, 0.0);
    std::vector<double> known(settings_.n_actions, 0.0);
    for (std::size_t number = 0; number < trees_.size(); ++number) {
        const Elimination& tree = trees_[number];
        for (std::size_t action = 0; action < settings_.n_actions; ++action) {
            NodeId node = scratch.leaves[number];
            while (node != 0 && tree.tallies(node)[action].plays == 0) {
                node = tree.tree().path(node).parent;  // a young node speaks with its parent's voice
            }
            if (tree.tallies(node)[action].plays > 0) {
                means[action] += tree.tallies(node)[action].gain / tree.denominator(node, action);
                known[action] += 1.0;
            }
        }
    }
    for (std::size_t action = 0; action < settings_.n_actions; ++action) {
        means[action] = known[action] > 0.0 ? means[action] / known[action] : std::numeric_limits<double>::quiet_NaN();
    }
    return means;
}

std::uint64_t Forest::n_events() const {
    const std::shared_lock lock(mutex_);
    return events_;
}

std::size_t Forest::n_nodes() const {
    const std::shared_lock lock(mutex_);
    std::size_t nodes = 0;
    for (const Elimination& tree : trees_) {
        nodes += tree.tree().size();
    }
    return nodes;
}

std::size_t Forest::n_bytes() const {
    const std::shared_lock lock(mutex_);
    std::size_t bytes = sizeof(Forest);
    for (const Elimination& tree : trees_) {
        bytes += tree.n_bytes();
    }
    return bytes;
}

}  // namespace bandit_forest
