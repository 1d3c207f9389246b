#include "greedy/split.hpp"

#include <algorithm>
#include <bit>

#include "util/cpu_dispatch.hpp"
#include "policy/random.hpp"

namespace bandit_forest {

namespace {

constexpr std::uint32_t unseen = 0xFFFFFFFFU;

// Bit j of word i becomes bit i of word j: blocks of halves change places, then of quarters, and so on.
BANDIT_FOREST_CPU_DISPATCH
void transpose(std::uint64_t* block) {
    std::uint64_t mask = 0x00000000FFFFFFFFU;
    for (unsigned width = 32; width != 0; width >>= 1U, mask ^= mask << width) {
        for (unsigned i = 0; i < 64; i = ((i | width) + 1) & ~width) {
            const std::uint64_t swapped = ((block[i] >> width) ^ block[i | width]) & mask;
            block[i] ^= swapped << width;
            block[i | width] ^= swapped;
        }
    }
}

// counts[j] = number of events, among those in `mask`, with value 1 of variable j.
BANDIT_FOREST_CPU_DISPATCH
void count_ones(const std::uint64_t* blocks, const std::uint64_t* mask, std::size_t n_blocks, std::size_t columns,
                const std::uint32_t* variables, std::size_t n, double* counts) {
    for (std::size_t j = 0; j < n; ++j) {
        const std::uint64_t* const column = blocks + variables[j];
        int count = 0;
        for (std::size_t block = 0; block < n_blocks; ++block) {
            count += __builtin_popcountll(column[block * columns] & mask[block]);
        }
        counts[j] = count;
    }
}

// Adds the variance of one action's rewards that each variable explains, with means shrunk towards the leaf's.
BANDIT_FOREST_CPU_DISPATCH
void add_gains(double* __restrict gains, const double* __restrict counts, const double* __restrict sums,
               double n_plays, double n_rewards, double mean, double shrinkage, std::size_t n) {
    const double shift = (n_rewards + shrinkage * mean) / (n_plays + shrinkage) - mean;
    for (std::size_t i = 0; i < n; ++i) {
        const double n1 = counts[i];
        const double n0 = n_plays - n1;
        const double shift1 = (sums[i] + shrinkage * mean) / (n1 + shrinkage) - mean;
        const double shift0 = (n_rewards - sums[i] + shrinkage * mean) / (n0 + shrinkage) - mean;
        gains[i] += n1 * shift1 * shift1 + n0 * shift0 * shift0 - n_plays * shift * shift;
    }
}

}  // namespace

Splitter::Splitter(const GreedySettings& settings)
    : settings_(&settings), words_(words_for(settings.n_variables + 1)), rows_(settings.n_actions, unseen) {}

void Splitter::choose_candidates(std::uint64_t key) {
    candidates_.resize(settings_->n_variables);
    std::size_t n = 0;
    double least = 1.0;
    std::uint32_t first = 0;  // the one that is drawn where the share leaves none
    for (std::uint32_t variable = 0; variable < settings_->n_variables; ++variable) {
        const double drawn = uniform(mix(key, variable));
        first = drawn < least ? variable : first;
        least = std::min(least, drawn);
        candidates_[n] = variable;
        n += drawn < settings_->variable_share ? 1 : 0;
    }
    candidates_.resize(std::max<std::size_t>(n, 1));
    candidates_[0] = n == 0 ? first : candidates_[0];
    counts_.resize(candidates_.size());
    sums_.resize(candidates_.size());
    gains_.assign(candidates_.size(), 0.0);
}

std::size_t Splitter::row_of(std::size_t action) {
    if (rows_[action] == unseen) {
        rows_[action] = static_cast<std::uint32_t>(actions_.size());
        actions_.push_back(action);
        plays_.resize(actions_.size() * n_blocks_, 0);
        rewarded_.resize(actions_.size() * n_blocks_, 0);
    }
    return rows_[action];
}

void Splitter::collect(const EventLog& log, std::span<const EventId> events) {
    const std::size_t columns = words_ * 64;
    n_blocks_ = words_for(events.size());
    blocks_.resize(n_blocks_ * columns);
    std::fill(blocks_.end() - static_cast<std::ptrdiff_t>(columns), blocks_.end(), 0);
    for (const std::size_t action : actions_) {
        rows_[action] = unseen;
    }
    actions_.clear();
    plays_.clear();
    rewarded_.clear();
    binary_ = true;
    for (std::size_t i = 0; i < events.size(); ++i) {
        const std::uint64_t* const record = log.record(events[i]);
        std::uint64_t* const block = blocks_.data() + i / 64 * columns + i % 64;
        for (std::size_t w = 0; w < words_; ++w) {
            block[w * 64] = record[w];
        }
        const float reward = log.reward(events[i]);
        const std::size_t at = row_of(log.action(events[i])) * n_blocks_ + i / 64;
        plays_[at] |= std::uint64_t{1} << (i % 64);
        rewarded_[at] |= std::uint64_t{reward == 1.0F} << (i % 64);
        binary_ &= (reward == 0.0F) | (reward == 1.0F);
    }
    for (std::size_t part = 0; part < n_blocks_ * words_; ++part) {
        transpose(blocks_.data() + part * 64);
    }
}

// Plays and rewards of each action; rewards that are not all 0 or 1 event by event, in their order.
void Splitter::add_up(const EventLog& log, std::span<const EventId> events) {
    const auto size = [&](const std::vector<std::uint64_t>& masks, std::size_t row) {
        return static_cast<double>(bandit_forest::count({masks.data() + row * n_blocks_, n_blocks_}));
    };
    n_plays_.resize(actions_.size());
    n_rewards_.assign(actions_.size(), 0.0);
    squares_.assign(actions_.size(), 0.0);
    for (std::size_t row = 0; row < actions_.size(); ++row) {
        n_plays_[row] = size(plays_, row);
        if (binary_) {
            n_rewards_[row] = squares_[row] = size(rewarded_, row);
        }
    }
    if (binary_) {
        return;
    }
    fractions_.assign(actions_.size() * words_ * 64, 0.0);
    for (const EventId event : events) {
        const auto reward = static_cast<double>(log.reward(event));
        const std::size_t row = rows_[log.action(event)];
        n_rewards_[row] += reward;
        squares_[row] += reward * reward;
        double* const sums = fractions_.data() + row * words_ * 64;
        for_each(log.context(event), [&](std::size_t i) { sums[i] += reward; });
    }
}

void Splitter::count(const std::vector<std::uint64_t>& masks, std::size_t row, std::span<const std::uint32_t> variables,
                     double* counts) const {
    count_ones(blocks_.data(), masks.data() + row * n_blocks_, n_blocks_, words_ * 64, variables.data(),
               variables.size(), counts);
}

void Splitter::sum(std::size_t row, std::span<const std::uint32_t> variables, double* sums) const {
    if (binary_) {
        count(rewarded_, row, variables, sums);
        return;
    }
    for (std::size_t j = 0; j < variables.size(); ++j) {
        sums[j] = fractions_[row * words_ * 64 + variables[j]];
    }
}

// Adds up the gains of all candidates; gives back the variance of the rewards within the leaf, summed over its events.
double Splitter::score(const Leaves& leaves, Slot leaf) {
    double noise = 0.0;
    for (std::size_t row = 0; row < actions_.size(); ++row) {
        const auto mean = static_cast<double>(leaves.mean(leaf, actions_[row]));
        noise += squares_[row] - 2.0 * mean * n_rewards_[row] + n_plays_[row] * mean * mean;
        if (n_plays_[row] >= 2.0) {
            count(plays_, row, candidates_, counts_.data());
            sum(row, candidates_, sums_.data());
            add_gains(gains_.data(), counts_.data(), sums_.data(), n_plays_[row], n_rewards_[row], mean,
                      settings_->shrinkage, candidates_.size());
        }
    }
    return noise;
}

// The variables on the path of a leaf do not vary, so that none of them is tested again.
bool Splitter::varies(std::uint32_t variable, std::size_t n_events) const {
    std::size_t ones = 0;
    for (std::size_t block = 0; block < n_blocks_; ++block) {
        ones += static_cast<std::size_t>(std::popcount(blocks_[block * words_ * 64 + variable]));
    }
    return ones > 0 && ones < n_events;
}

Split Splitter::best(const EventLog& log, std::span<const EventId> events, const Leaves& leaves, Slot leaf,
                     std::uint64_t key) {
    Split split{static_cast<std::uint32_t>(settings_->n_variables), 0.0};
    if (events.empty()) {  // the log has forgotten them all
        return split;
    }
    choose_candidates(key);
    collect(log, events);
    add_up(log, events);
    const double least = settings_->min_gain * score(leaves, leaf) / static_cast<double>(events.size());
    for (std::size_t j = 0; j < candidates_.size(); ++j) {
        if (gains_[j] > split.gain && gains_[j] >= least && varies(candidates_[j], events.size())) {
            split = {candidates_[j], gains_[j]};
        }
    }
    return split;
}

bool Splitter::value(std::size_t event, std::uint32_t variable) const {
    return ((blocks_[event / 64 * words_ * 64 + variable] >> (event % 64)) & 1U) != 0;
}

void Splitter::pass_on(std::uint32_t variable, bool value, Leaves& leaves, Slot child) {
    for (std::size_t row = 0; row < actions_.size(); ++row) {
        double n = 0.0;
        double total = 0.0;
        count(plays_, row, {&variable, 1}, &n);
        sum(row, {&variable, 1}, &total);
        if (!value) {
            n = n_plays_[row] - n;
            total = n_rewards_[row] - total;
        }
        if (n > 0.0) {
            const double inherited = settings_->shrinkage * static_cast<double>(leaves.mean(child, actions_[row]));
            leaves.set_mean(child, actions_[row], static_cast<float>((inherited + total) / (n + settings_->shrinkage)));
            leaves.set_count(child, actions_[row], static_cast<float>(n));
        }
    }
}

}  // namespace bandit_forest
