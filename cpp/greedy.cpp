#include "greedy.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "random.hpp"

namespace bandit_forest {

GreedyTree::GreedyTree(const GreedySettings& settings, std::size_t number)
    : settings_(&settings),
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
    leaves_ = Leaves(settings_->n_actions);
    lists_ = EventLists();
    tree_.set_label(0, leaves_.add());
    leaves_.set_until_test(0, static_cast<std::uint32_t>(settings_->min_events));
}

bool GreedyTree::renew(std::uint64_t event) {
    if (settings_->lifetime == 0 || event == 0) {
        return false;
    }
    const std::uint64_t age = event + number_ * settings_->lifetime / settings_->n_trees;  // the trees take turns
    if (age % settings_->lifetime != 0) {
        return false;
    }
    plant(age / settings_->lifetime);
    return true;
}

void GreedyTree::forget(const EventLog& log) {
    for (Slot slot = 0; slot < leaves_.size(); ++slot) {
        leaves_.set_last_chunk(slot, lists_.drop_oldest(leaves_.last_chunk(slot), [&](EventId event) {
            return !log.holds(event);
        }));
    }
}

bool GreedyTree::learns(std::uint64_t event) const {
    return settings_->learning_share >= 1.0 || uniform(mix(key_, event)) < settings_->learning_share;
}

void GreedyTree::learn(Slot leaf, EventId event, const EventLog& log, Splitter& splitter) {
    leaves_.learn(leaf, log.action(event), log.reward(event), static_cast<float>(settings_->shrinkage));
    const std::uint32_t until_test = leaves_.until_test(leaf);
    if (until_test == Leaves::never) {
        return;
    }
    leaves_.set_last_chunk(leaf, lists_.append(leaves_.last_chunk(leaf), event));
    leaves_.set_until_test(leaf, until_test - 1);
    if (until_test == 1) {
        try_split(leaf, log, splitter);
    }
}

bool GreedyTree::may_grow(NodeId node) const {
    return tree_.path(node).depth < std::min(max_depth_, settings_->n_variables) &&
           tree_.size() + 2 <= settings_->max_nodes;
}

void GreedyTree::try_split(Slot leaf, const EventLog& log, Splitter& splitter) {
    const NodeId node = nodes_[leaf];
    if (!may_grow(node)) {
        lists_.release(leaves_.last_chunk(leaf));
        leaves_.set_last_chunk(leaf, Leaves::none);
        leaves_.set_until_test(leaf, Leaves::never);
        return;
    }
    thread_local std::vector<EventId> events;
    events.clear();
    lists_.for_each(leaves_.last_chunk(leaf), [&](EventId event) {
        if (log.holds(event)) {
            log.prefetch(event);
            events.push_back(event);
        }
    });
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
    lists_.release(leaves_.last_chunk(leaf));
    const Slot slots[2] = {leaf, leaves_.add()};  // the parent's slot serves its first child
    nodes_.push_back(child + 1);
    nodes_[leaf] = child;
    leaves_.inherit(slots[1], leaf);
    leaves_.inherit(slots[0], leaf);
    std::uint32_t chunks[2] = {Leaves::none, Leaves::none};
    std::size_t sizes[2] = {0, 0};
    for (std::size_t i = 0; i < events.size(); ++i) {
        const std::size_t value = splitter.value(i, split.variable) ? 1 : 0;
        chunks[value] = lists_.append(chunks[value], events[i]);
        ++sizes[value];
    }
    for (std::uint32_t value = 0; value < 2; ++value) {
        const Slot slot = slots[value];
        tree_.set_label(child + value, slot);
        splitter.pass_on(split.variable, value == 1, leaves_, slot);
        leaves_.set_last_chunk(slot, chunks[value]);
        leaves_.set_until_test(slot, static_cast<std::uint32_t>(settings_->min_events - sizes[value]));
    }
    for (std::size_t value = 0; value < 2; ++value) {
        if (sizes[value] >= settings_->min_events) {  // at once, while its events are in the cache
            try_split(slots[value], log, splitter);
        }
    }
}

std::size_t GreedyTree::n_bytes() const {
    return tree_.n_bytes() + gains_.capacity() * sizeof(float) + nodes_.capacity() * sizeof(NodeId) + leaves_.n_bytes() +
           lists_.n_bytes();
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
    for (Slot slot = 0; slot < leaves_.size(); ++slot) {
        require(leaves_.until_test(slot) > 0, "a leaf has missed its test");
    }
}

GreedyGrowth::GreedyGrowth(const GreedySettings& settings)
    : settings_(&settings),
      log_(settings.n_variables, settings.log_capacity),
      splitters_(settings.n_threads, Splitter(settings)) {
    trees_.reserve(settings.n_trees);
    for (std::size_t number = 0; number < settings.n_trees; ++number) {
        trees_.emplace_back(settings, number);
    }
    for (const GreedyTree& tree : trees_) {
        shapes_.push_back(&tree.tree());
    }
}

void GreedyGrowth::prefetch(std::span<const std::uint32_t> leaves, Range trees) const {
    for (std::size_t tree = trees.first; tree < trees.last; ++tree) {
        trees_[tree].leaves().prefetch(leaves[tree]);
    }
}

void GreedyGrowth::ask(std::span<const std::uint32_t> leaves, Range trees, std::span<Voice> voices) const {
    assert(trees.first % trees_together == 0);
    for (std::size_t tree = trees.first; tree < trees.last; ++tree) {
        const std::span<Voice> sums = voices.subspan(tree / trees_together * settings_->n_actions, settings_->n_actions);
        if (tree % trees_together == 0) {
            std::ranges::fill(sums, 0.0);
        }
        trees_[tree].leaves().add_means(leaves[tree], sums);
    }
}

// The mean over all trees.
void GreedyGrowth::add_up(std::span<const Voice> voices, std::span<double> means) const {
    std::ranges::fill(means, 0.0);
    for (std::size_t i = 0; i < voices.size(); ++i) {
        means[i % means.size()] += voices[i];
    }
    for (double& mean : means) {
        mean /= static_cast<double>(trees_.size());
    }
}

void GreedyGrowth::plan(std::span<const Voice> voices, ConstWords available, std::uint64_t n_events, Plan& out) const {
    thread_local std::vector<double> means;
    means.resize(settings_->n_actions);
    add_up(voices, means);
    const std::uint64_t horizon = settings_->lifetime == 0 ? n_events : std::min(n_events, settings_->lifetime);
    inverse_gap(means, available, settings_->greed * std::sqrt(static_cast<double>(horizon)), out.probabilities);
    out.mode = Mode::draw;
}

void GreedyGrowth::remember(const Observation& event) {
    assert(event.number == log_.n_events());
    log_.append(event.context, event.action, static_cast<float>(event.reward));
}

void GreedyGrowth::learn(const Observation& event, std::span<const std::uint32_t> leaves, Range trees,
                         std::size_t member) {
    const auto id = static_cast<EventId>(event.number);
    const bool sweep = event.number % std::max<std::size_t>(1, settings_->log_capacity / 8) == 0;
    for (std::size_t tree = trees.first; tree < trees.last; ++tree) {
        trees_[tree].prefetch_events(leaves[tree]);
    }
    for (std::size_t tree = trees.first; tree < trees.last; ++tree) {
        const bool renewed = trees_[tree].renew(event.number);
        if (trees_[tree].learns(event.number)) {
            trees_[tree].learn(renewed ? 0 : leaves[tree], id, log_, splitters_[member]);
        }
        if (sweep) {
            trees_[tree].forget(log_);
        }
    }
}

std::vector<double> GreedyGrowth::mean_rewards(std::span<const std::uint32_t> leaves) const {
    std::vector<Voice> voices(n_voices(*settings_));
    ask(leaves, {0, trees_.size()}, voices);
    std::vector<double> means(settings_->n_actions);
    add_up(voices, means);
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

std::size_t GreedyGrowth::n_bytes() const {
    std::size_t bytes = log_.n_bytes();
    for (const GreedyTree& tree : trees_) {
        bytes += tree.n_bytes();
    }
    return bytes;
}

}  // namespace bandit_forest
