#include "greedy/split.hpp"

#include <algorithm>
#include <bit>

#include "policy/random.hpp"
#include "util/cpu_dispatch.hpp"

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

// counts[j] = number of events of candidate j among those in `mask`.
BANDIT_FOREST_CPU_DISPATCH
void count_ones(const std::uint64_t* columns, const std::uint64_t* mask, std::size_t n_blocks, std::size_t n,
                double* counts) {
    for (std::size_t j = 0; j < n; ++j) {
        const std::uint64_t* const column = columns + j * n_blocks;
        int count = 0;
        for (std::size_t block = 0; block < n_blocks; ++block) {
            count += std::popcount(column[block] & mask[block]);
        }
        counts[j] = count;
    }
}

// passes[i] = 1 where a code reaches the threshold.
BANDIT_FOREST_CPU_DISPATCH
void compare(const std::uint8_t* codes, std::size_t n, std::uint8_t threshold, std::uint8_t* passes) {
    for (std::size_t i = 0; i < n; ++i) {
        passes[i] = codes[i] >= threshold ? 1 : 0;
    }
}

// Adds the variance of one action's rewards that each candidate explains, with means shrunk towards the node's.
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

Splitter::Splitter(const GreedySettings& settings) : settings_(&settings), rows_(settings.n_actions, unseen) {}

std::size_t Splitter::row_of(std::size_t action) {
    if (rows_[action] == unseen) {
        rows_[action] = static_cast<std::uint32_t>(actions_.size());
        actions_.push_back(action);
        plays_.resize(actions_.size() * n_blocks_, 0);
        rewarded_.resize(actions_.size() * n_blocks_, 0);
        n_plays_.push_back(0.0);
        n_rewards_.push_back(0.0);
        squares_.push_back(0.0);
    }
    return rows_[action];
}

void Splitter::take(const EventLog& log, std::span<const EventId> events) {
    variables_ = &log.variables();
    n_events_ = events.size();
    n_blocks_ = words_for(events.size());
    for (const std::size_t action : actions_) {
        rows_[action] = unseen;
    }
    actions_.clear();
    plays_.clear();
    rewarded_.clear();
    n_plays_.clear();
    n_rewards_.clear();
    squares_.clear();
    records_.resize(events.size());
    rewards_.resize(events.size());
    binary_ = true;
    for (std::size_t i = 0; i < events.size(); ++i) {
        records_[i] = log.record(events[i]);
        const float reward = rewards_[i] = log.reward(events[i]);
        const std::size_t row = row_of(log.action(events[i]));
        plays_[row * n_blocks_ + i / 64] |= std::uint64_t{1} << (i % 64);
        rewarded_[row * n_blocks_ + i / 64] |= std::uint64_t{reward == 1.0F} << (i % 64);
        n_plays_[row] += 1.0;
        n_rewards_[row] += static_cast<double>(reward);
        squares_[row] += static_cast<double>(reward) * static_cast<double>(reward);
        binary_ &= (reward == 0.0F) | (reward == 1.0F);
    }
}

void Splitter::summarise(std::span<const float> inherited, std::span<float> means, std::span<float> counts) const {
    std::ranges::copy(inherited, means.begin());
    std::ranges::fill(counts, 0.0F);
    for (std::size_t row = 0; row < actions_.size(); ++row) {
        const std::size_t action = actions_[row];
        const double prior = settings_->shrinkage * static_cast<double>(inherited[action]);
        means[action] = static_cast<float>((prior + n_rewards_[row]) / (n_plays_[row] + settings_->shrinkage));
        counts[action] = static_cast<float>(n_plays_[row]);
    }
}

void Splitter::draw_thresholds(std::uint32_t variable, std::uint64_t key) {
    const std::uint32_t place = variables_->place(variable);
    const auto code = [&](std::uint64_t draw) -> std::uint32_t {
        return variables_->codes(records_[draw % n_events_])[place];
    };
    for (std::size_t number = 0; number < settings_->n_thresholds; ++number) {
        const std::uint64_t drawn = mix(key, number);
        const auto [low, high] = std::minmax({code(drawn), code(mix(drawn, 0))});
        if (low < high) {
            candidates_.emplace_back(variable, low + 1 + static_cast<std::uint32_t>(mix(drawn, 1) % (high - low)));
        }
    }
}

// Each variable is drawn with the same probability; these, or the others, are the candidates. Of a binary variable there is
// one test. Of an ordered one, each test lies between the codes of two random events.
void Splitter::draw_candidates(std::uint64_t key, bool others) {
    candidates_.clear();
    const auto share = static_cast<std::uint64_t>(settings_->variable_share * 0x1p16);
    std::uint64_t drawn = 0;
    for (std::uint32_t variable = 0; variable < settings_->n_variables; ++variable) {
        drawn = variable % 4 == 0 ? mix(key, variable / 4) : drawn >> 16U;  // a draw serves four variables
        if (((drawn & 0xFFFFU) < share) == others) {
            continue;
        }
        if (variables_->is_ordered(variable)) {
            draw_thresholds(variable, mix(~key, variable));
        } else {
            candidates_.emplace_back(variable, 1);
        }
    }
}

// The bits of all contexts, transposed.
void Splitter::fill_bits(std::size_t words) {
    const std::size_t length = words * 64;
    bits_.resize(n_blocks_ * length);
    std::fill(bits_.end() - static_cast<std::ptrdiff_t>(length), bits_.end(), 0);
    for (std::size_t i = 0; i < n_events_; ++i) {
        std::uint64_t* const block = bits_.data() + i / 64 * length + i % 64;
        for (std::size_t w = 0; w < words; ++w) {
            block[w * 64] = records_[i][w];
        }
    }
    for (std::size_t part = 0; part < n_blocks_ * words; ++part) {
        transpose(bits_.data() + part * 64);
    }
}

// The column of a test of the ordered variable whose codes have been collected.
void Splitter::add_column(std::uint32_t threshold, std::uint64_t* column) {
    thread_local std::vector<std::uint8_t> passes;
    passes.resize(n_events_);
    compare(codes_.data(), n_events_, static_cast<std::uint8_t>(threshold), passes.data());
    pack(passes, {column, n_blocks_});
}

void Splitter::fill_columns() {
    const std::size_t words = variables_->bit_words();
    if (words > 0) {
        fill_bits(words);
    }
    columns_.resize(candidates_.size() * n_blocks_);
    std::uint32_t collected = unseen;  // the ordered variable whose codes stand in codes_
    for (std::size_t j = 0; j < candidates_.size(); ++j) {
        const std::uint32_t variable = candidates_[j].variable();
        const std::uint32_t place = variables_->place(variable);
        std::uint64_t* const column = columns_.data() + j * n_blocks_;
        if (!variables_->is_ordered(variable)) {
            for (std::size_t block = 0; block < n_blocks_; ++block) {
                column[block] = bits_[block * words * 64 + place];
            }
            continue;
        }
        if (collected != variable) {
            collected = variable;
            codes_.resize(n_events_);
            for (std::size_t i = 0; i < n_events_; ++i) {
                codes_[i] = variables_->codes(records_[i])[place];
            }
        }
        add_column(candidates_[j].threshold(), column);
    }
}

// The sums of rewards by candidate, event by event in their order where they are not all 0 or 1.
void Splitter::sum(std::size_t row, double* sums) const {
    if (binary_) {
        count(rewarded_, row, sums);
        return;
    }
    for (std::size_t j = 0; j < candidates_.size(); ++j) {
        double total = 0.0;
        for (std::size_t block = 0; block < n_blocks_; ++block) {
            for (std::uint64_t word = columns_[j * n_blocks_ + block] & plays_[row * n_blocks_ + block]; word != 0;
                 word &= word - 1) {
                total += static_cast<double>(rewards_[block * 64 + static_cast<std::size_t>(std::countr_zero(word))]);
            }
        }
        sums[j] = total;
    }
}

void Splitter::count(const std::vector<std::uint64_t>& masks, std::size_t row, double* counts) const {
    count_ones(columns_.data(), masks.data() + row * n_blocks_, n_blocks_, candidates_.size(), counts);
}

// Adds up the gains of all candidates; returns the variance of the rewards within the node, summed over its events.
double Splitter::score(std::span<const float> means) {
    counts_.resize(candidates_.size());
    sums_.resize(candidates_.size());
    gains_.assign(candidates_.size(), 0.0);
    double noise = 0.0;
    for (std::size_t row = 0; row < actions_.size(); ++row) {
        const auto mean = static_cast<double>(means[actions_[row]]);
        noise += squares_[row] - 2.0 * mean * n_rewards_[row] + n_plays_[row] * mean * mean;
        if (n_plays_[row] >= 2.0) {
            count(plays_, row, counts_.data());
            sum(row, sums_.data());
            add_gains(gains_.data(), counts_.data(), sums_.data(), n_plays_[row], n_rewards_[row], mean,
                      settings_->shrinkage, candidates_.size());
        }
    }
    return noise;
}

bool Splitter::varies(std::size_t candidate) const {
    const std::size_t passed = bandit_forest::count({columns_.data() + candidate * n_blocks_, n_blocks_});
    return passed > 0 && passed < n_events_;
}

std::optional<Split> Splitter::best(std::span<const float> means, std::uint64_t key, bool others) {
    draw_candidates(key, others);
    fill_columns();
    const double least = settings_->min_gain * score(means) / static_cast<double>(n_events_);
    std::optional<Split> split;
    for (std::size_t j = 0; j < candidates_.size(); ++j) {
        if (gains_[j] > (split ? split->gain : 0.0) && gains_[j] >= least && varies(j)) {
            split = {candidates_[j], gains_[j]};
        }
    }
    return split;
}

}  // namespace bandit_forest
