#include "split.hpp"

#include <utility>

#include "clones.hpp"

namespace bandit_forest {

namespace {

constexpr std::uint32_t unseen = 0xFFFFFFFFU;

// Bit j of word i becomes bit i of word j: blocks of halves change places, then of quarters, and so on.
BANDIT_FOREST_CLONES
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

// counts[j] = number of events, among those in `mask`, with value 1 of candidate j.
BANDIT_FOREST_CLONES
void count_ones(const std::uint64_t* blocks, const std::uint64_t* mask, std::size_t n_blocks, std::size_t columns,
                const std::uint32_t* candidates, std::size_t n, double* counts) {
    for (std::size_t j = 0; j < n; ++j) {
        const std::uint64_t* const column = blocks + candidates[j];
        int count = 0;
        for (std::size_t block = 0; block < n_blocks; ++block) {
            count += __builtin_popcountll(column[block * columns] & mask[block]);
        }
        counts[j] = count;
    }
}

// Adds the variance of one action's rewards that each variable explains, with means shrunk towards the leaf's.
BANDIT_FOREST_CLONES
void add_gains(double* __restrict gains, const double* __restrict counts, const double* __restrict sums,
               double n_plays, double n_rewards, double mean, double shrinkage, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const double n1 = counts[i];
        const double n0 = n_plays - n1;
        const double shift1 = (sums[i] + shrinkage * mean) / (n1 + shrinkage) - mean;
        const double shift0 = (n_rewards - sums[i] + shrinkage * mean) / (n0 + shrinkage) - mean;
        gains[i] += n1 * shift1 * shift1 + n0 * shift0 * shift0;
    }
}

}  // namespace

Splitter::Splitter(const GreedySettings& settings)
    : settings_(&settings), words_(words_for(settings.n_variables + 1)), row_of_(settings.n_actions, unseen) {}

void Splitter::collect(const EventLog& log, std::span<const EventId> events) {
    for (const EventId event : events) {
        log.prefetch(event);
    }
    const std::size_t columns = words_ * 64;
    n_blocks_ = words_for(events.size());
    blocks_.assign(n_blocks_ * columns, 0);
    for (const std::size_t action : actions_) {
        row_of_[action] = unseen;
    }
    actions_.clear();
    plays_.clear();
    rewarded_.clear();
    n_plays_.clear();
    n_rewards_.clear();
    squares_.clear();
    binary_ = true;
    for (std::size_t i = 0; i < events.size(); ++i) {
        const std::uint64_t* const context = log.record(events[i]);
        const std::size_t block = i / 64;
        for (std::size_t w = 0; w < words_; ++w) {
            blocks_[block * columns + w * 64 + i % 64] = context[w];
        }
        const std::size_t action = log.action(events[i]);
        if (row_of_[action] == unseen) {
            row_of_[action] = static_cast<std::uint32_t>(actions_.size());
            actions_.push_back(action);
            plays_.resize(plays_.size() + n_blocks_, 0);
            rewarded_.resize(rewarded_.size() + n_blocks_, 0);
            n_plays_.push_back(0.0);
            n_rewards_.push_back(0.0);
            squares_.push_back(0.0);
        }
        const std::size_t row = row_of_[action];
        const float reward = log.reward(events[i]);
        const std::uint64_t bit = std::uint64_t{1} << (i % 64);
        plays_[row * n_blocks_ + block] |= bit;
        rewarded_[row * n_blocks_ + block] |= reward == 1.0F ? bit : 0;
        binary_ = binary_ && (reward == 0.0F || reward == 1.0F);
        n_plays_[row] += 1.0;
        n_rewards_[row] += static_cast<double>(reward);
        squares_[row] += static_cast<double>(reward) * static_cast<double>(reward);
    }
    for (std::size_t part = 0; part < n_blocks_ * words_; ++part) {
        transpose(blocks_.data() + part * 64);
    }
}

// The sums of rewards that are not all 0 or 1: event by event, in their order.
void Splitter::add_fractions(const EventLog& log, std::span<const EventId> events) {
    fractions_.assign(actions_.size() * words_ * 64, 0.0);
    for (const EventId event : events) {
        const auto reward = static_cast<double>(log.reward(event));
        double* const sums = fractions_.data() + row_of_[log.action(event)] * words_ * 64;
        if (reward > 0.0) {
            for_each(log.context(event), [&](std::size_t i) { sums[i] += reward; });
        }
    }
}

// Adds up the gains of all candidates; gives back the variance of the rewards within the leaf, summed over its events.
double Splitter::score(const Leaves& leaves, Slot leaf) {
    const std::size_t n = candidates_.size();
    const auto counts = [&](const std::uint64_t* mask, double* out) {
        count_ones(blocks_.data(), mask, n_blocks_, words_ * 64, candidates_.data(), n, out);
    };
    double noise = 0.0;
    for (std::size_t row = 0; row < actions_.size(); ++row) {
        const auto mean = static_cast<double>(leaves.mean(leaf, actions_[row]));
        noise += squares_[row] - 2.0 * mean * n_rewards_[row] + n_plays_[row] * mean * mean;
        counts(plays_.data() + row * n_blocks_, counts_.data());
        for (std::size_t j = 0; j < n; ++j) {
            ones_[j] += counts_[j];
        }
        if (n_plays_[row] < 2.0) {
            continue;
        }
        if (binary_) {
            counts(rewarded_.data() + row * n_blocks_, sums_.data());
        } else {
            for (std::size_t j = 0; j < n; ++j) {
                sums_[j] = fractions_[row * words_ * 64 + candidates_[j]];
            }
        }
        add_gains(gains_.data(), counts_.data(), sums_.data(), n_plays_[row], n_rewards_[row], mean,
                  settings_->shrinkage, n);
    }
    return noise;
}

Split Splitter::best(const EventLog& log, std::span<const EventId> events, const Leaves& leaves, Slot leaf,
                     std::vector<std::uint32_t> candidates) {
    candidates_ = std::move(candidates);
    counts_.resize(candidates_.size());
    sums_.resize(candidates_.size());
    ones_.assign(candidates_.size(), 0.0);
    gains_.assign(candidates_.size(), 0.0);
    collect(log, events);
    if (!binary_) {
        add_fractions(log, events);
    }
    const auto n_events = static_cast<double>(events.size());
    const double least = settings_->min_gain * score(leaves, leaf) / n_events;
    Split split{static_cast<std::uint32_t>(settings_->n_variables), 0.0};
    for (std::size_t j = 0; j < candidates_.size(); ++j) {
        if (gains_[j] > split.gain && gains_[j] >= least && ones_[j] > 0.0 && ones_[j] < n_events) {
            split = {candidates_[j], gains_[j]};
        }
    }
    return split;
}

}  // namespace bandit_forest
