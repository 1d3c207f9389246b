#include "elimination/elimination.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "util/cpu_dispatch.hpp"
#include "policy/random.hpp"

namespace bandit_forest {

namespace {

// Rewarded events wait in their leaf until there are `buffer_events`, or until it tests for elimination. Adding them to
// the sums then loads each row once, and not once an event.
constexpr std::size_t buffer_events = 64;

// Words of a pending event: context, gain, action.
std::size_t record_words(std::size_t n_variables) { return words_for(n_variables + 1) + 2; }

// sums[i] += value where bit i is set: a mask instead of a branch.
BANDIT_FOREST_CPU_DISPATCH
void add(double* __restrict sums, const std::uint64_t* __restrict words, double value, std::size_t n) {
    const auto pattern = std::bit_cast<std::uint64_t>(value);
    for (std::size_t start = 0; start < n; start += 64) {
        const std::uint64_t word = words[start / 64];
        const std::size_t end = std::min<std::size_t>(64, n - start);
        for (std::size_t i = 0; i < end; ++i) {
            const std::uint64_t mask = 0 - ((word >> i) & 1U);
            sums[start + i] += std::bit_cast<double>(pattern & mask);
        }
    }
}

double log_hypotheses(const EliminationSettings& s, double estimates) {
    return std::log(estimates) + static_cast<double>(s.depth_high) * std::log(2.0) - std::log(s.delta);
}

}  // namespace

Elimination::Elimination(const EliminationSettings& settings, std::size_t tree_number, Stumps& stumps)
    : settings_(&settings),
      action_words_(words_for(settings.n_actions)),
      max_depth_(draw_depth(settings, tree_number)),
      log_variable_hypotheses_(log_hypotheses(
          settings, 4.0 * static_cast<double>(settings.n_actions) * static_cast<double>(settings.n_variables) *
                        static_cast<double>(max_depth_) * static_cast<double>(settings.n_trees))),
      log_action_hypotheses_(log_hypotheses(
          settings, 4.0 * static_cast<double>(settings.n_actions) * static_cast<double>(settings.n_trees))),
      stumps_(&stumps),
      tree_(settings.n_variables, root_key(settings.seed, tree_number)) {
    new_path(0);
    fill(remaining(0), settings.n_actions);
}

void Elimination::new_path(NodeId node) {
    assert(node == states_.size());
    const EliminationSettings& s = *settings_;
    const Path& path = tree_.path(node);
    const double tolerance =
        s.min_tolerance + (s.max_tolerance - s.min_tolerance) * uniform(mix(path.key, Purpose::tolerance));
    const bool selects = path.depth < max_depth_ && path.depth < s.n_variables;
    states_.push_back({0, 0, tolerance, -1, selects ? Status::selecting : Status::terminal,
                       static_cast<std::uint8_t>(path.depth + std::size_t{1} == max_depth_), 0});
    remaining_.resize(remaining_.size() + action_words_, 0);
    tallies_.resize(tallies_.size() + s.n_actions, Tally{0, 0.0, 0.0});
}

void Elimination::learn(NodeId leaf, const Event& event) {
    assert(tree_.is_leaf(leaf));
    NodeState& state = states_[leaf];
    if (state.status == Status::selecting && state.stump < 0) {
        make_stump(leaf);
    }
    ++state.visits;
    Tally& tally = tallies_of(leaf)[event.action];
    ++tally.plays;
    tally.weight += event.weight;
    tally.gain += event.gain;
    if (state.status == Status::selecting) {
        count(leaf, event);
    }
    if (state.visits % settings_->test_interval == 0) {
        test(leaf);
    }
}

void Elimination::prefetch([[maybe_unused]] NodeId leaf) const {
#if defined(__GNUC__)
    __builtin_prefetch(&remaining_[leaf * action_words_]);
    __builtin_prefetch(&states_[leaf], 1);
#endif
}

void Elimination::prefetch([[maybe_unused]] NodeId leaf, [[maybe_unused]] const Event& event) const {
#if defined(__GNUC__)
    __builtin_prefetch(&tallies_[leaf * settings_->n_actions + event.action], 1);
    const NodeState& state = states_[leaf];
    if (state.stump >= 0 && event.gain != 0.0) {
        __builtin_prefetch(
            stumps_->buffer(state.stump) + state.pending * record_words(settings_->n_variables), 1);
    }
#endif
}

std::vector<std::uint32_t> Elimination::candidates(NodeId node) const {
    return random_subset(tree_.path(node).key, tree_.free_variables(node), settings_->variable_share);
}

void Elimination::make_stump(NodeId node) {
    const EliminationSettings& s = *settings_;
    states_[node].stump = stumps_->acquire();
    Stump& stump = stump_of(node);
    stump.remaining_variables.assign(words_for(s.n_variables), 0);
    for (const std::uint32_t variable : candidates(node)) {
        insert(stump.remaining_variables, variable);
    }
    if (states_[node].last_level != 0) {
        stump.plays.assign(stumps_->n_cells(), 0.0);
        stump.weight.assign(stumps_->n_cells(), 0.0);
        stump.remaining_actions.resize(2 * s.n_variables * action_words_);
        for (std::size_t i = 0; i < s.n_variables; ++i) {
            fill(remaining(stump, i, 0), s.n_actions);
            fill(remaining(stump, i, 1), s.n_actions);
        }
    }
}

void Elimination::release_stump(NodeId node) {
    stumps_->release(states_[node].stump);
    states_[node].stump = -1;
}

void Elimination::count(NodeId node, const Event& event) {
    if (event.gain != 0.0) {
        append(node, event);
    }
    if (states_[node].last_level != 0) {
        const std::size_t columns = stride(settings_->n_variables);
        const std::size_t row = event.action * columns;
        Stump& stump = stump_of(node);
        add(stump.plays.data() + row, event.context.data(), 1.0, columns);
        add(stump.weight.data() + row, event.context.data(), event.weight, columns);
    }
}

void Elimination::append(NodeId node, const Event& event) {
    NodeState& state = states_[node];
    std::uint64_t* record = stumps_->buffer(state.stump) + state.pending * record_words(settings_->n_variables);
    record = std::ranges::copy(event.context, record).out;
    record[0] = std::bit_cast<std::uint64_t>(event.gain);
    record[1] = event.action;
    if (++state.pending == buffer_events) {
        flush(node);
    }
}

// Adds the pending events to the sums, in their order.
void Elimination::flush(NodeId node) {
    const std::size_t columns = stride(settings_->n_variables);
    const std::size_t words = words_for(settings_->n_variables + 1);
    const std::uint64_t* record = stumps_->buffer(states_[node].stump);
    for (std::size_t i = 0; i < states_[node].pending; ++i, record += words + 2) {
        add(gains_of(node) + record[words + 1] * columns, record, std::bit_cast<double>(record[words]), columns);
    }
    states_[node].pending = 0;
}

void Elimination::flush_all() {
    for (NodeId node = 0; node < states_.size(); ++node) {
        if (states_[node].pending > 0) {
            flush(node);
        }
    }
}

void Elimination::choose_variable(NodeId node) {
    if (tree_.size() + 2 > settings_->max_nodes) {
        states_[node].status = Status::terminal;  // no room: go on with the actions of the path
        release_stump(node);
        return;
    }
    const auto variable = static_cast<std::uint32_t>(first(stump_of(node).remaining_variables));
    const NodeId child = tree_.split(node, Test(variable, 1));
    states_[node].status = Status::split;
    for (NodeId next = child; next < child + 2; ++next) {
        new_path(next);
        if (settings_->remaining == Remaining::inherited) {
            std::ranges::copy(remaining_actions(node), remaining(next).begin());
        } else {
            fill(remaining(next), settings_->n_actions);
        }
    }
    if (tree_.path(child).depth == max_depth_) {
        hand_over(node, variable, child);
    }
    release_stump(node);
}

// The stump of the last level goes on in its two values, with the actions that each has left.
void Elimination::hand_over(NodeId node, std::uint32_t variable, NodeId child) {
    for (std::uint32_t value = 0; value < 2; ++value) {
        const NodeId next = child + value;
        for (std::size_t k = 0; k < settings_->n_actions; ++k) {
            tallies_of(next)[k] = given(node, k, variable, value);
            states_[next].visits += tallies_of(next)[k].plays;
        }
        std::ranges::copy(remaining(stump_of(node), variable, value), remaining(next).begin());
    }
}

std::vector<std::uint64_t> Elimination::remaining_variables(NodeId node) const {
    std::vector<std::uint64_t> set(words_for(settings_->n_variables), 0);
    const NodeState& state = states_[node];
    if (state.stump >= 0) {
        return stumps_->at(state.stump).remaining_variables;
    }
    if (state.status == Status::selecting) {
        for (const std::uint32_t variable : candidates(node)) {
            insert(set, variable);
        }
    }
    return set;
}

std::size_t Elimination::buffer_words(std::size_t n_variables) { return buffer_events * record_words(n_variables); }

std::size_t Elimination::n_bytes() const {
    return tree_.n_bytes() + states_.capacity() * sizeof(NodeState) + remaining_.capacity() * sizeof(std::uint64_t) +
           tallies_.capacity() * sizeof(Tally);
}

void Elimination::check() const {
    const EliminationSettings& s = *settings_;
    const std::size_t n = tree_.size();
    require(n <= s.max_nodes || n == 1, "a tree has too many nodes");
    require(states_.size() == n && remaining_.size() == n * action_words_ && tallies_.size() == n * s.n_actions,
            "a tree's arrays differ in length");
    const std::size_t cells = stumps_->n_cells();
    for (NodeId node = 0; node < n; ++node) {
        const NodeState& state = states_[node];
        require(state.status <= Status::terminal, "a node has an unknown status");
        require(state.last_level == static_cast<std::uint8_t>(tree_.path(node).depth + std::size_t{1} == max_depth_),
                "a node's level is not its depth");
        require(!tree_.is_leaf(node) || tree_.step(node).child == node, "a leaf is not labelled with its number");
        require((state.status == Status::split) == !tree_.is_leaf(node), "a node's status is not its shape");
        require(state.pending == 0, "a node has pending events");
        require(std::ranges::all_of(tallies(node), [](const Tally& tally) { return tally.plays < (1ULL << 53U); }),
                "a node has more plays than there can be");
        const ConstWords actions = remaining_actions(node);
        require(is_set_below(actions, s.n_actions), "a node's actions are not actions");
        if (state.stump < 0) {
            continue;
        }
        require(state.status == Status::selecting, "a node has sums that it does not need");
        const Stump& stump = stumps_->at(state.stump);
        const bool last = state.last_level != 0;
        require(stump.plays.size() == (last ? cells : 0) &&
                    stump.weight.size() == stump.plays.size() &&
                    stump.remaining_variables.size() == words_for(s.n_variables) &&
                    stump.remaining_actions.size() == (last ? 2 * s.n_variables * action_words_ : 0),
                "a stump's arrays differ in length");
        require(is_set_below(stump.remaining_variables, s.n_variables), "a stump's variables are not variables");
        require(std::ranges::all_of(stump.plays, [](double plays) { return plays >= 0.0 && plays < 0x1p53; }),
                "a stump's plays are not numbers of plays");
        for (std::size_t set = 0; last && set < 2 * s.n_variables; ++set) {
            require(is_set_below(ConstWords(stump.remaining_actions).subspan(set * action_words_, action_words_),
                                s.n_actions),
                    "a stump's actions are not actions");
        }
    }
}

}  // namespace bandit_forest
