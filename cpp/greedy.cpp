#include "greedy.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "random.hpp"

namespace bandit_forest {

GreedyTree::GreedyTree(const GreedySettings& settings, std::size_t number)
    : settings_(&settings),
      key_(mix(mix(settings.seed, Purpose::learning), number)),
      max_depth_(draw_depth(settings, number)),
      tree_(settings.n_variables, root_key(settings.seed, number)),
      gains_{0.0F},
      nodes_{0},
      leaves_(settings.n_actions) {
    tree_.set_label(0, leaves_.add());
    keep(0, {});
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
    lists_.read(leaves_.last_chunk(leaf), events);
    const std::size_t n_forgotten = std::erase_if(events, [&](EventId event) { return !log.holds(event); });
    const Split best = splitter.best(
        log, events, leaves_, leaf,
        random_subset(tree_.path(node).key, tree_.free_variables(node), settings_->variable_share));
    if (best.variable < settings_->n_variables) {
        lists_.release(leaves_.last_chunk(leaf));
        split(leaf, best, events, log);
        return;
    }
    if (n_forgotten > 0) {
        lists_.release(leaves_.last_chunk(leaf));
        keep(leaf, events);
    }
    // It tries again when it holds twice as many.
    leaves_.set_until_test(leaf, static_cast<std::uint32_t>(std::max(events.size(), settings_->min_events)));
}

// Gives a leaf its events; it tries to split when it holds min_events.
void GreedyTree::keep(Slot leaf, std::span<const EventId> events) {
    std::uint32_t chunk = Leaves::none;
    for (const EventId event : events) {
        chunk = lists_.append(chunk, event);
    }
    leaves_.set_last_chunk(leaf, chunk);
    const std::size_t missing = settings_->min_events - std::min(events.size(), settings_->min_events - 1);
    leaves_.set_until_test(leaf, static_cast<std::uint32_t>(missing));
}

void GreedyTree::split(Slot leaf, const Split& split, std::span<const EventId> events, const EventLog& log) {
    const NodeId node = nodes_[leaf];
    const NodeId child = tree_.split(node, split.variable);
    gains_[node] = static_cast<float>(split.gain);
    gains_.resize(tree_.size(), 0.0F);
    std::vector<float> inherited(settings_->n_actions);
    for (std::size_t action = 0; action < inherited.size(); ++action) {
        inherited[action] = leaves_.mean(leaf, action);
    }
    leaves_.clear(leaf);
    const Slot slots[2] = {leaf, leaves_.add()};  // the parent's slot serves its first child
    nodes_.push_back(child + 1);
    nodes_[leaf] = child;
    std::vector<EventId> part;
    for (std::uint32_t value = 0; value < 2; ++value) {
        const Slot slot = slots[value];
        tree_.set_label(child + value, slot);
        for (std::size_t action = 0; action < inherited.size(); ++action) {
            leaves_.set_mean(slot, action, inherited[action]);
        }
        part.clear();
        for (const EventId event : events) {
            if (contains(log.context(event), split.variable) == (value == 1)) {
                leaves_.learn(slot, log.action(event), log.reward(event), static_cast<float>(settings_->shrinkage));
                part.push_back(event);
            }
        }
        keep(slot, part);
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
    : settings_(&settings), log_(settings.n_variables, settings.log_capacity), splitter_(settings) {
    trees_.reserve(settings.n_trees);
    for (std::size_t number = 0; number < settings.n_trees; ++number) {
        trees_.emplace_back(settings, number);
    }
    for (const GreedyTree& tree : trees_) {
        shapes_.push_back(&tree.tree());
    }
}

void GreedyGrowth::prefetch(std::span<const std::uint32_t> leaves) const {
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
        trees_[tree].leaves().prefetch(leaves[tree]);
    }
}

void GreedyGrowth::add_means(std::span<const std::uint32_t> leaves, std::span<double> means) const {
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
        trees_[tree].leaves().add_means(leaves[tree], means);
    }
    for (double& mean : means) {
        mean /= static_cast<double>(trees_.size());
    }
}

void GreedyGrowth::plan(std::span<const std::uint32_t> leaves, ConstWords available, Plan& out) const {
    thread_local std::vector<double> means;
    means.assign(settings_->n_actions, 0.0);
    add_means(leaves, means);
    inverse_gap(means, available, settings_->greed * std::sqrt(static_cast<double>(log_.n_events())), out.probabilities);
    out.mode = Mode::draw;
}

void GreedyGrowth::learn(const Observation& event, std::span<const std::uint32_t> leaves) {
    const std::uint64_t number = log_.n_events();
    const EventId id = log_.next();
    log_.append(event.context, event.action, static_cast<float>(event.reward));
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
        trees_[tree].prefetch_events(leaves[tree]);
    }
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
        if (trees_[tree].learns(number)) {
            trees_[tree].learn(leaves[tree], id, log_, splitter_);
        }
    }
}

std::vector<double> GreedyGrowth::mean_rewards(std::span<const std::uint32_t> leaves) const {
    std::vector<double> means(settings_->n_actions, 0.0);
    add_means(leaves, means);
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
