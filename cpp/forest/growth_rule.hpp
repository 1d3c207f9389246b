// What a growth rule must offer so that a forest can grow by it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "policy/exploration.hpp"
#include "policy/settings.hpp"
#include "tree/tree.hpp"
#include "util/archive.hpp"
#include "util/bits.hpp"
#include "util/team.hpp"

namespace bandit_forest {

// A tree with what its nodes have learned.
template <class T>
concept GrowingTree = requires(const T& growth) {
    { growth.tree() } -> std::same_as<const Tree&>;
    { growth.max_depth() } -> std::same_as<std::size_t>;
};

// A forest calls its growth rule with the labels of an event's leaves in all trees, and with the trees that it means. Calls
// that do not change the rule come from several threads at once; where its settings have several threads, so do those for
// trees of different groups. A forest that learns in parts asks more of its rule: that is GreedyGrowth's own.
template <class G>
concept GrowthRule = requires(G& growth, const G& fixed, const typename G::Settings& settings, const Observation& event,
                              std::span<const std::uint8_t> context, std::span<const std::uint32_t> leaves, Range trees,
                              ConstWords available, std::size_t tree, std::size_t thread, std::uint64_t n_events) {
    // It is made from settings, which the forest keeps for it.
    requires std::derived_from<typename G::Settings, Settings>;
    requires std::constructible_from<G, const typename G::Settings&>;

    // Its trees: all their shapes, which route contexts, and each with what it has learned.
    { fixed.shapes() } -> std::same_as<std::span<const Tree* const>>;
    { fixed.tree(tree) } -> GrowingTree;

    // How trees are shared out to threads: the size of the groups that belong together, and what an event costs beside the
    // trees, in such groups.
    requires std::same_as<decltype(G::trees_together), const std::size_t>;
    { fixed.work_beside_trees() } -> std::same_as<std::size_t>;

    // How many events, one being the first, lead through the same trees and are routed together, and the most that may be.
    // After how many events `grow` is called, which works on the trees of one group; 0 where trees grow while they learn.
    { G::events_until_change(n_events) } -> std::same_as<std::size_t>;
    requires std::same_as<decltype(G::most_until_change), const std::size_t>;
    requires std::same_as<decltype(G::events_per_growth), const std::uint64_t>;
    requires G::events_per_growth == 0 || requires { growth.grow(trees, thread); };

    // A context as the rule keeps it.
    { fixed.context_words() } -> std::same_as<std::size_t>;
    fixed.pack(context, Words());

    // A decision: leaves on their way into the cache, what some trees estimate put among the estimates of all, and from
    // those of all the probabilities of the actions.
    typename G::Partial;
    { G::n_partials(settings) } -> std::same_as<std::size_t>;
    fixed.prefetch(leaves, trees);
    fixed.estimate(context, leaves, trees, available, std::span<typename G::Partial>());
    requires requires(std::span<const typename G::Partial> estimates, Plan& out) {
        fixed.plan(estimates, available, n_events, out);
    };

    // A lesson: remembered once, and learned by all trees, some at a time.
    growth.remember(event);
    growth.learn(event, leaves, trees);

    // What it tells: mean rewards as it estimates them and votes of its trees, by action, and the memory that it takes.
    { fixed.mean_rewards(context, leaves) } -> std::same_as<std::vector<double>>;
    { fixed.votes(leaves, available) } -> std::same_as<std::vector<std::uint32_t>>;
    { fixed.n_bytes() } -> std::same_as<std::size_t>;

    // Its state after a number of events, written and read.
    requires requires(Writer& writer, Reader& reader) {
        growth.archive(writer, n_events);
        growth.archive(reader, n_events);
    };
};

}  // namespace bandit_forest
