#include "greedy/greedy.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "util/cpu_dispatch.hpp"
#include "policy/random.hpp"

namespace bandit_forest {

GreedyTree::GreedyTree(const GreedySettings& settings, std::size_t number, EventLists& lists)
    : settings_(&settings),
      lists_(&lists),
      number_(number),
      key_(mix(mix(settings.seed, Purpose::learning), number)),
      max_depth_(draw_depth(settings, number)),
      tree_(settings.n_variables, 0),
      leaves_(settings.n_actions) {
    plant(0);
}

// Each generation of the tree draws anew.
void GreedyTree::plant(std::uint64_t generation) {
    tree_ = Tree(settings_->n_variables, root_key(settings_->seed, number_ + settings_->n_trees * generation));
    gains_ = {0.0F};
    nodes_ = {0};
    due_.clear();
    for (Slot slot = 0; slot < leaves_.size(); ++slot) {
        lists_->release(leaves_.last_chunk(slot));
    }
    leaves_ = Leaves(settings_->n_actions);
    tree_.set_label(0, leaves_.add());
    leaves_.set_until_test(0, static_cast<std::uint32_t>(settings_->min_events));
}

// The trees take turns: number * lifetime / n_trees events ahead, which is written so that no product is too large.
std::uint64_t GreedyTree::age(std::uint64_t event) const {
    return event + settings_->lifetime / settings_->n_trees * number_ +
           settings_->lifetime % settings_->n_trees * number_ / settings_->n_trees;
}

bool GreedyTree::renew(std::uint64_t event) {
    if (settings_->lifetime == 0 || event == 0 || age(event) % settings_->lifetime != 0) {
        return false;
    }
    plant(age(event) / settings_->lifetime);
    return true;
}

std::uint64_t GreedyTree::until_renewal(std::uint64_t event) const {
    const std::uint64_t lifetime = settings_->lifetime;
    return (lifetime - age(event) % lifetime) % lifetime;
}

void GreedyTree::forget(const EventLog& log) {
    for (Slot slot = 0; slot < leaves_.size(); ++slot) {
        leaves_.set_last_chunk(slot, lists_->drop_oldest(leaves_.last_chunk(slot), [&](EventId event) {
            return !log.holds(event);
        }));
    }
}

bool GreedyTree::learns(std::uint64_t event) const {
    return settings_->learning_share >= 1.0 || uniform(mix(key_, event)) < settings_->learning_share;
}

void GreedyTree::learn(Slot leaf, EventId event, std::size_t action, float reward) {
    leaves_.learn(leaf, action, reward, static_cast<float>(settings_->shrinkage));
    const std::uint32_t until_test = leaves_.until_test(leaf);
    if (until_test == Leaves::never) {
        return;
    }
    leaves_.set_last_chunk(leaf, lists_->append(leaves_.last_chunk(leaf), event));
    if (until_test > 0) {
        leaves_.set_until_test(leaf, until_test - 1);
    }
    if (until_test == 1) {
        due_.push_back(leaf);
    }
}

bool GreedyTree::may_grow(NodeId node) const {
    return tree_.path(node).depth < std::min(max_depth_, settings_->n_variables) &&
           tree_.size() + 2 <= settings_->max_nodes;
}

void GreedyTree::try_split(Slot leaf, std::span<const EventId> events, const EventLog& log, Splitter& splitter) {
    const NodeId node = nodes_[leaf];
    if (!may_grow(node)) {
        lists_->release(leaves_.last_chunk(leaf));
        leaves_.set_last_chunk(leaf, Leaves::none);
        leaves_.set_until_test(leaf, Leaves::never);
        return;
    }
    const Split best = splitter.best(log, events, leaves_, leaf, mix(~tree_.path(node).key, events.size()));
    if (best.variable < settings_->n_variables) {
        split(leaf, best, events, log, splitter);
    } else {
        // It tries again when it holds twice as many.
        leaves_.set_until_test(leaf, static_cast<std::uint32_t>(std::max(events.size(), settings_->min_events)));
    }
}

void GreedyTree::split(Slot leaf, const Split& split, std::span<const EventId> events, const EventLog& log,
                       Splitter& splitter) {
    const NodeId node = nodes_[leaf];
    const NodeId child = tree_.split(node, split.variable);
    gains_[node] = static_cast<float>(split.gain);
    gains_.resize(tree_.size(), 0.0F);
    lists_->release(leaves_.last_chunk(leaf));
    const Slot slots[2] = {leaf, leaves_.add()};  // the parent's slot serves its first child
    nodes_.push_back(child + 1);
    nodes_[leaf] = child;
    leaves_.inherit(slots[1], leaf);
    leaves_.inherit(slots[0], leaf);
    std::vector<EventId> parts[2];
    for (std::size_t i = 0; i < events.size(); ++i) {
        parts[splitter.value(i, split.variable) ? 1 : 0].push_back(events[i]);
    }
    for (std::uint32_t value = 0; value < 2; ++value) {
        const Slot slot = slots[value];
        tree_.set_label(child + value, slot);
        splitter.pass_on(split.variable, value == 1, leaves_, slot);
        std::uint32_t chunk = Leaves::none;
        for (const EventId event : parts[value]) {
            chunk = lists_->append(chunk, event);
        }
        leaves_.set_last_chunk(slot, chunk);
        leaves_.set_until_test(slot, static_cast<std::uint32_t>(settings_->min_events - parts[value].size()));
    }
    for (std::size_t value = 0; value < 2; ++value) {
        if (parts[value].size() >= settings_->min_events) {  // at once, while its events are in the cache
            try_split(slots[value], parts[value], log, splitter);
        }
    }
}

std::size_t GreedyTree::n_bytes() const {
    return tree_.n_bytes() + gains_.capacity() * sizeof(float) + nodes_.capacity() * sizeof(NodeId) +
           leaves_.n_bytes();
}

void GreedyTree::check() const {
    require(gains_.size() == tree_.size() && nodes_.size() == leaves_.size(), "a tree's arrays differ in length");
    require(tree_.size() <= settings_->max_nodes && tree_.levels() <= max_depth_, "a tree is larger than it may be");
    std::size_t n_leaves = 0;
    for (NodeId node = 0; node < tree_.size(); ++node) {
        if (tree_.is_leaf(node)) {
            ++n_leaves;
            require(tree_.step(node).child < nodes_.size() && nodes_[tree_.step(node).child] == node,
                    "a leaf has not its own slot");
        }
    }
    require(n_leaves == nodes_.size(), "a slot has no leaf");
    std::vector<std::uint8_t> is_due(leaves_.size(), 0);
    for (const Slot slot : due_) {
        require(slot < leaves_.size() && is_due[slot]++ == 0, "a test is due twice or of no leaf");
        require(leaves_.last_chunk(slot) != Leaves::none, "a test is due of a leaf without events");
    }
    for (Slot slot = 0; slot < leaves_.size(); ++slot) {
        require((leaves_.until_test(slot) == 0) == (is_due[slot] == 1), "a leaf has missed its test");
    }
}

GreedyGrowth::GreedyGrowth(const GreedySettings& settings)
    : settings_(&settings),
      log_(settings.n_variables, settings.log_capacity),
      lists_((settings.n_trees + trees_together - 1) / trees_together),
      splitters_(settings.n_threads, Splitter(settings)) {
    trees_.reserve(settings.n_trees);
    for (std::size_t number = 0; number < settings.n_trees; ++number) {
        trees_.emplace_back(settings, number, lists_[number / trees_together]);
    }
    for (const GreedyTree& tree : trees_) {
        shapes_.push_back(&tree.tree());
    }
}

// Every chunk belongs to one leaf or is free.
void GreedyGrowth::check() const {
    for (std::size_t group = 0; group < lists_.size(); ++group) {
        std::vector<std::uint32_t> lists;
        const std::size_t last = std::min((group + 1) * trees_together, trees_.size());
        for (std::size_t tree = group * trees_together; tree < last; ++tree) {
            const Leaves& leaves = trees_[tree].leaves();
            for (Slot slot = 0; slot < leaves.size(); ++slot) {
                lists.push_back(leaves.last_chunk(slot));
            }
        }
        lists_[group].check(lists);
    }
}

std::size_t GreedyGrowth::n_alike(std::uint64_t event) const {
    std::uint64_t n = events_per_growth - event % events_per_growth;
    if (settings_->lifetime > 0) {
        for (const GreedyTree& tree : trees_) {
            n = std::min(n, tree.until_renewal(event) + 1);
        }
    }
    return n;
}

void GreedyGrowth::prefetch(std::span<const std::uint32_t> leaves, Range trees) const {
    for (std::size_t tree = trees.first; tree < trees.last; ++tree) {
        trees_[tree].leaves().prefetch(leaves[tree]);
    }
}

BANDIT_FOREST_CPU_DISPATCH
void GreedyGrowth::ask(std::span<const std::uint32_t> leaves, Range trees, std::span<Voice> voices) const {
    assert(trees.first % trees_together == 0);
    const std::size_t n = n_means(*settings_);
    for (std::size_t tree = trees.first; tree < trees.last; ++tree) {
        const std::span<Voice> sums = voices.subspan(tree / trees_together * 2 * n, 2 * n);
        if (tree % trees_together == 0) {
            std::ranges::fill(sums, 0.0);
        }
        const auto shrinkage = static_cast<float>(settings_->shrinkage);
        trees_[tree].leaves().add_to(sums.first(n), sums.last(n), leaves[tree], shrinkage);
    }
}

GreedyGrowth::Said GreedyGrowth::add_up(std::span<const Voice> voices) const {
    thread_local std::vector<double> sums;
    sums.assign(2 * n_means(*settings_), 0.0);
    for (std::size_t first = 0; first < voices.size(); first += sums.size()) {
        for (std::size_t i = 0; i < sums.size(); ++i) {
            sums[i] += voices[first + i];
        }
    }
    for (double& sum : sums) {
        sum /= static_cast<double>(trees_.size());
    }
    const std::span<const double> said(sums);
    return {said.first(settings_->n_actions), said.subspan(sums.size() / 2, settings_->n_actions)};
}

void GreedyGrowth::plan(std::span<const Voice> voices, ConstWords available, std::uint64_t n_events, Plan& out) const {
    thread_local std::vector<double> hopes;
    hopes.resize(settings_->n_actions);
    const auto [means, doubts] = add_up(voices);
    const auto age = static_cast<double>(settings_->lifetime == 0 ? n_events : std::min(n_events, settings_->lifetime));
    const double hope = settings_->optimism * std::sqrt(std::log1p(age));
    optimistic(means, doubts, hope, hopes);
    inverse_gap(hopes, available, settings_->greed * std::sqrt(age), out.probabilities);
    out.mode = Mode::draw;
}

void GreedyGrowth::remember(const Observation& event) {
    assert(event.number == log_.n_events());
    log_.append(event.context, event.action, static_cast<float>(event.reward));
}

void GreedyGrowth::find_learners(std::uint64_t event, std::span<const std::uint32_t> leaves, Range trees,
                                 Learners& out) {
    out.clear();
    for (std::size_t number = trees.first; number < trees.last; ++number) {
        GreedyTree& tree = trees_[number];
        const Slot leaf = tree.renew(event) ? 0 : leaves[number];
        if (tree.learns(event)) {
            tree.prefetch_events(leaf);
            out.emplace_back(&tree, leaf);
        }
    }
}

void GreedyGrowth::learn(const Observation& event, const Learners& learners) {
    const auto id = static_cast<EventId>(event.number);
    const auto reward = static_cast<float>(event.reward);
    for (const auto& [tree, leaf] : learners) {
        tree->learn(leaf, id, event.action, reward);
    }
}

void GreedyGrowth::gather(Range trees, std::vector<Attempt>& attempts) const {
    attempts.clear();
    for (std::size_t tree = trees.first; tree < trees.last; ++tree) {
        for (const Slot leaf : trees_[tree].due()) {
            const EventLists& lists = lists_[tree / trees_together];
            attempts.push_back({tree, leaf, lists.next(trees_[tree].leaves().last_chunk(leaf)), {}});
            lists.prefetch(attempts.back().chunk);
        }
    }
    // A chunk of each in turn, so that their cache misses overlap.
    for (bool more = true; more;) {
        more = false;
        for (Attempt& attempt : attempts) {
            more |= fetch(attempt);
        }
    }
}

// Reads a chunk of events; says whether there are more.
bool GreedyGrowth::fetch(Attempt& attempt) const {
    if (attempt.chunk == Leaves::none) {
        return false;
    }
    const GreedyTree& tree = trees_[attempt.tree];
    const EventLists& lists = lists_[attempt.tree / trees_together];
    for (const EventId event : lists.events(attempt.chunk)) {
        if (log_.holds(event)) {
            log_.prefetch(event);
            attempt.events.push_back(event);
        }
    }
    const bool is_last = attempt.chunk == tree.leaves().last_chunk(attempt.leaf);
    attempt.chunk = is_last ? Leaves::none : lists.next(attempt.chunk);
    lists.prefetch(attempt.chunk);
    return !is_last;
}

void GreedyGrowth::grow(Range trees, std::size_t member) {
    thread_local std::vector<Attempt> attempts;
    gather(trees, attempts);
    for (const Attempt& attempt : attempts) {
        trees_[attempt.tree].try_split(attempt.leaf, attempt.events, log_, splitters_[member]);
    }
    const std::size_t interval = std::max<std::size_t>(1, settings_->log_capacity / 8);
    for (std::size_t tree = trees.first; tree < trees.last; ++tree) {
        trees_[tree].end_growth();
        if (log_.n_events() % interval < events_per_growth) {
            trees_[tree].forget(log_);
        }
    }
}

std::vector<double> GreedyGrowth::mean_rewards(std::span<const std::uint32_t> leaves) const {
    std::vector<Voice> voices(n_voices(*settings_));
    ask(leaves, {0, trees_.size()}, voices);
    const std::span<const double> means = add_up(voices).means;
    return {means.begin(), means.end()};
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

std::size_t GreedyGrowth::n_bytes() const {
    std::size_t bytes = log_.n_bytes();
    for (const EventLists& lists : lists_) {
        bytes += lists.n_bytes();
    }
    for (const GreedyTree& tree : trees_) {
        bytes += tree.n_bytes();
    }
    return bytes;
}

}  // namespace bandit_forest
