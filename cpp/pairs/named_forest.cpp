#include "pairs/named_forest.hpp"

#include <numeric>

#include "pairs/tree_means.hpp"
#include "policy/exploration.hpp"
#include "tree/tree.hpp"

namespace bandit_forest {

namespace {

GreedySettings settings_of(const PairSettings& pairs) {
    GreedySettings settings = pairs;
    settings.n_variables = pairs.n_context_variables;
    settings.n_actions = pairs.n_named_actions;
    settings.n_threads = 1;
    settings.levels.resize(std::min(pairs.levels.size(), pairs.n_context_variables));
    return settings;
}

void find_leaves(const GreedyGrowth& growth, std::span<const std::uint8_t> context,
                 std::vector<std::uint32_t>& leaves) {
    thread_local std::vector<std::uint8_t> codes;  // and a spare zero
    codes.assign(context.begin(), context.end());
    codes.push_back(0);
    leaves.resize(growth.shapes().size());
    route(growth.shapes(), codes, leaves.data(), leaves.size());
}

}  // namespace

NamedForest::NamedForest(const PairSettings& settings)
    : settings_(settings_of(settings)),
      growth_(settings_.n_actions > 0 ? std::make_unique<GreedyGrowth>(settings_) : nullptr) {}

void NamedForest::move(std::span<const std::uint8_t> context, std::span<const std::uint64_t> names, Optimism optimism,
                       std::span<double> estimates) const {
    thread_local std::vector<double> of_names;
    if (names_.empty() || weight() == 0.0) {  // then nothing moves
        return;
    }
    estimate(context, optimism, of_names);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::size_t action = action_of(names[i]);
        if (action < names_.size()) {
            estimates[i] += weight() * shift(action, estimates[i], of_names[action]);
        }
    }
}

void NamedForest::learn(std::span<const std::uint8_t> context, std::uint64_t name, double reward, double of_pair) {
    thread_local std::vector<std::uint32_t> leaves;
    thread_local std::vector<std::uint64_t> packed;
    const std::size_t action = action_of(name);
    if (action == settings_.n_actions) {
        close();
        return;
    }
    if (action == names_.size()) {
        names_.push_back(name);
        counts_.push_back(0);
    }
    find_leaves(*growth_, context, leaves);
    const double known = shift(action, of_pair, growth_->mean_rewards(context, leaves)[action]);
    shift_shift_ += known * known;
    shift_error_ += known * (reward - of_pair);
    packed.resize(growth_->context_words());
    growth_->pack(context, packed);
    const Observation event{context, packed, action, reward, 1.0, n_events_};
    growth_->remember(event);
    growth_->learn(event, leaves, {0, settings_.n_trees});
    ++counts_[action];
    ++n_events_;
    if (n_events_ % GreedyGrowth::events_per_growth == 0) {
        for (std::size_t first = 0; first < settings_.n_trees; first += GreedyGrowth::trees_together) {
            growth_->grow({first, std::min(first + GreedyGrowth::trees_together, settings_.n_trees)}, 0);
        }
    }
}

void NamedForest::check(std::uint8_t was_open) const {
    require(was_open <= (is_open() ? 1 : 0), "names have actions that are not there");
    require(names_.size() <= settings_.n_actions && counts_.size() == names_.size(),
            "names are not as many as their counts");
    require(std::ranges::all_of(counts_, [this](std::uint64_t count) { return 0 < count && count <= n_events_; }) &&
                std::reduce(counts_.begin(), counts_.end()) == n_events_,
            "names have learned what the forest has not");
    require(std::isfinite(shift_shift_) && shift_shift_ >= 0.0 && std::isfinite(shift_error_),
            "the weight of named actions is not a number");
}

void NamedForest::close() {
    growth_.reset();
    names_.clear();
    counts_.clear();
    n_events_ = 0;
    shift_shift_ = shift_error_ = 0.0;
}

std::size_t NamedForest::action_of(std::uint64_t name) const {
    return static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
}

double NamedForest::shift(std::size_t action, double of_pair, double of_name) const {
    const auto n = static_cast<double>(counts_[action]);
    return (of_name - of_pair) * (n / (n + shrinkage));
}

void NamedForest::estimate(std::span<const std::uint8_t> context, Optimism optimism, std::vector<double>& out) const {
    thread_local std::vector<std::uint32_t> leaves;
    thread_local std::vector<double> means, inverse_counts;
    const std::size_t n = names_.size();
    find_leaves(*growth_, context, leaves);
    average_trees(
        *growth_, settings_, n, [](std::size_t action, std::size_t tree) { return LeafAction{leaves[tree], action}; },
        means, inverse_counts);
    out.resize(n);
    upper_bounds(means, inverse_counts, optimism.trees, out);
    if (const LinearPart* const linear = growth_->linear()) {
        thread_local TermValues terms;
        const Line& line = linear->line();
        line.terms().of(context, terms);
        for (std::size_t action = 0; action < n; ++action) {
            const double bound = line.mean(terms, action) + optimism.line * std::sqrt(line.variance(terms, action));
            out[action] = linear->blend().trees() * out[action] + linear->blend().line() * bound;
        }
    }
}

}  // namespace bandit_forest
