#include <algorithm>
#include <limits>

#include "elimination/elimination.hpp"

namespace bandit_forest {

namespace {

constexpr double max_weight = 1e9;  // no draw is that rare: a smaller propensity must not make a sum infinite

}  // namespace

EliminationGrowth::EliminationGrowth(const EliminationSettings& settings)
    : settings_(&settings),
      stumps_(std::make_unique<Stumps>(settings.n_actions * Elimination::stride(settings.n_variables),
                                       Elimination::buffer_words(settings.n_variables))) {
    trees_.reserve(settings.n_trees);
    for (std::size_t number = 0; number < settings.n_trees; ++number) {
        trees_.emplace_back(settings, number, *stumps_);
    }
    for (const Elimination& tree : trees_) {
        shapes_.push_back(&tree.tree());
    }
}

void EliminationGrowth::prefetch(std::span<const NodeId> leaves, Range trees) const {
    for (std::size_t tree = trees.first; tree < trees.last; ++tree) {
        trees_[tree].prefetch(leaves[tree]);
    }
}

void EliminationGrowth::estimate(std::span<const std::uint8_t>, std::span<const NodeId> leaves, Range trees,
                                 ConstWords, std::span<Partial> out) const {
    const std::size_t words = words_for(settings_->n_actions);
    for (std::size_t tree = trees.first; tree < trees.last; ++tree) {
        std::ranges::copy(trees_[tree].remaining_actions(leaves[tree]), out.subspan(tree * words).begin());
    }
}

void EliminationGrowth::plan(std::span<const Partial> remaining, ConstWords available, std::uint64_t, Plan& out) const {
    plan_by_remaining(*settings_, remaining, available, out);
}

std::vector<std::uint32_t> EliminationGrowth::votes(std::span<const NodeId> leaves, ConstWords available) const {
    std::vector<Partial> remaining(n_partials(*settings_));
    estimate({}, leaves, {0, trees_.size()}, available, remaining);
    Plan planned;
    plan(remaining, available, 0, planned);
    return planned.votes;
}

void EliminationGrowth::learn(const Observation& event, std::span<const NodeId> leaves, Range trees) {
    const double weight = settings_->estimate == Estimate::plays ? 1.0 : std::min(1.0 / event.propensity, max_weight);
    const Event weighted{event.packed, event.action, weight, event.reward * weight};
    constexpr std::size_t ahead = 4;  // trees whose buffers are on their way while one is updated
    for (std::size_t tree = trees.first; tree < std::min(trees.first + ahead, trees.last); ++tree) {
        trees_[tree].prefetch(leaves[tree], weighted);
    }
    for (std::size_t tree = trees.first; tree < trees.last; ++tree) {
        if (tree + ahead < trees.last) {
            trees_[tree + ahead].prefetch(leaves[tree + ahead], weighted);
        }
        trees_[tree].learn(leaves[tree], weighted);
    }
}

std::vector<double> EliminationGrowth::mean_rewards(std::span<const std::uint8_t>,
                                                    std::span<const NodeId> leaves) const {
    std::vector<double> means(settings_->n_actions, 0.0);
    std::vector<double> known(settings_->n_actions, 0.0);
    for (std::size_t number = 0; number < trees_.size(); ++number) {
        const Elimination& tree = trees_[number];
        for (std::size_t action = 0; action < settings_->n_actions; ++action) {
            NodeId node = leaves[number];
            while (node != 0 && tree.tallies(node)[action].plays == 0) {
                node = tree.tree().path(node).parent;  // a young node knows what its parent knows
            }
            if (tree.tallies(node)[action].plays > 0) {
                means[action] += tree.tallies(node)[action].mean();
                known[action] += 1.0;
            }
        }
    }
    for (std::size_t action = 0; action < settings_->n_actions; ++action) {
        means[action] = known[action] > 0.0 ? means[action] / known[action] : std::numeric_limits<double>::quiet_NaN();
    }
    return means;
}

std::size_t EliminationGrowth::n_bytes() const {
    std::size_t bytes = stumps_->n_bytes();
    for (const Elimination& tree : trees_) {
        bytes += tree.n_bytes();
    }
    return bytes;
}

}  // namespace bandit_forest
