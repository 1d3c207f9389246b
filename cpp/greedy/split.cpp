#include "greedy/split.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "policy/random.hpp"
#include "util/cpu_dispatch.hpp"

namespace bandit_forest {

namespace {

constexpr std::uint32_t unseen = 0xFFFFFFFFU;
constexpr std::size_t ahead = 16;  // records are fetched that many events before they are read

// Halves of blocks of 2 * width rows and columns change places, in all squares that stand side by side.
template <unsigned width>
inline void swap_halves(std::uint64_t* squares) {
    constexpr std::uint64_t mask = ~std::uint64_t{0} / ((std::uint64_t{1} << width) + 1);  // each second `width` bits
    constexpr unsigned side_by_side = Splitter::side_by_side;
    for (unsigned first = 0; first < 64; first += 2 * width) {
        for (unsigned i = first * side_by_side; i < (first + width) * side_by_side; ++i) {
            const std::uint64_t swapped = ((squares[i] >> width) ^ squares[i + width * side_by_side]) & mask;
            squares[i] ^= swapped << width;
            squares[i + width * side_by_side] ^= swapped;
        }
    }
}

// In each square, bit j of word i becomes bit i of word j.
BANDIT_FOREST_CPU_DISPATCH
void transpose(std::uint64_t* squares) {
    swap_halves<32>(squares);
    swap_halves<16>(squares);
    swap_halves<8>(squares);
    swap_halves<4>(squares);
    swap_halves<2>(squares);
    swap_halves<1>(squares);
}

// counts[j] = number of events of candidate j among those in `mask`.
BANDIT_FOREST_CPU_DISPATCH
void count_ones(const std::uint64_t* columns, const std::uint64_t* mask, std::size_t n_blocks, std::size_t n,
                double* counts) {
    if (n_blocks == 1) {  // most nodes have so few events
        for (std::size_t j = 0; j < n; ++j) {
            counts[j] = std::popcount(columns[j] & *mask);
        }
        return;
    }
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

// ones[i] = 1 where a reward is 1; returns whether all the others are 0.
BANDIT_FOREST_CPU_DISPATCH
bool find_ones(const float* rewards, std::size_t n, std::uint8_t* ones) {
    unsigned fractions = 0;
    for (std::size_t i = 0; i < n; ++i) {
        ones[i] = rewards[i] == 1.0F ? 1 : 0;
        fractions |= ((rewards[i] != 0.0F) & (rewards[i] != 1.0F)) ? 1U : 0U;
    }
    return fractions == 0;
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

void Splitter::Plays::clear() {
    actions.clear();
    played.clear();
    rewarded.clear();
    counts.clear();
    sums.clear();
    squares.clear();
}

Splitter::Splitter(const GreedySettings& settings) : settings_(&settings), rows_(settings.n_actions, unseen) {}

std::uint32_t Splitter::add_row(std::size_t action) {
    rows_[action] = static_cast<std::uint32_t>(plays_.actions.size());
    plays_.actions.push_back(action);
    plays_.played.resize(plays_.actions.size() * n_blocks_, 0);
    return rows_[action];
}

void Splitter::take(const Records& records, std::span<const EventId> events) {
    variables_ = &records.variables();
    n_taken_ = n_events_ = events.size();
    n_blocks_ = words_for(events.size());
    mask_ = ~std::uint64_t{0};
    has_bits_ = false;
    has_codes_.assign(variables_->n_ordered(), 0);
    event_bits_.clear();
    plays_.clear();
    records_.resize(events.size());
    rewards_.resize(events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
        records.prefetch(events[std::min(i + ahead, events.size() - 1)]);
        const std::uint64_t* const record = records_[i] = records.at(events[i]);
        rewards_[i] = records.reward(record);
        std::uint32_t row = rows_[records.action(record)];
        if (row == unseen) {
            row = add_row(records.action(record));
        }
        plays_.played[row * n_blocks_ + i / 64] |= std::uint64_t{1} << (i % 64);
    }
    passes_.resize(events.size());
    rewarded_.resize(n_blocks_);
    is_binary_ = find_ones(rewards_.data(), events.size(), passes_.data());
    pack(passes_, rewarded_);
    plays_.rewarded.resize(plays_.played.size());
    for (std::size_t row = 0; row < plays_.actions.size(); ++row) {
        for (std::size_t block = 0; block < n_blocks_; ++block) {
            plays_.rewarded[row * n_blocks_ + block] = plays_.played[row * n_blocks_ + block] & rewarded_[block];
        }
        rows_[plays_.actions[row]] = unseen;
        add_up(row);
    }
}

// Adds up the plays of a row, in the order of the events.
BANDIT_FOREST_CPU_DISPATCH
void Splitter::add_up(std::size_t row) {
    const auto words = [&](const std::vector<std::uint64_t>& of) { return ConstWords(of).subspan(row * n_blocks_, n_blocks_); };
    double sum = 0.0;
    double squares = 0.0;
    if (is_binary_) {
        sum = squares = static_cast<double>(bandit_forest::count(words(plays_.rewarded)));
    } else {
        for_each(words(plays_.played), [&](std::size_t event) {
            const auto reward = static_cast<double>(rewards_[event]);
            sum += reward;
            squares += reward * reward;
        });
    }
    plays_.counts.push_back(static_cast<double>(bandit_forest::count(words(plays_.played))));
    plays_.sums.push_back(sum);
    plays_.squares.push_back(squares);
}

BANDIT_FOREST_CPU_DISPATCH
void Splitter::narrow(std::uint64_t events) {
    assert(n_blocks_ == 1);
    if (event_bits_.empty()) {
        std::swap(taken_, plays_);
    }
    mask_ = events;
    n_events_ = static_cast<std::size_t>(std::popcount(events));
    event_bits_.clear();
    for_each({&events, 1}, [&](std::size_t bit) { event_bits_.push_back(static_cast<std::uint8_t>(bit)); });
    plays_.clear();
    std::uint64_t rest = events;  // events whose actions have no row yet
    while (rest != 0) {
        std::size_t row = 0;
        while ((taken_.played[row] & rest & (~rest + 1)) == 0) {
            ++row;
        }
        plays_.actions.push_back(taken_.actions[row]);
        plays_.played.push_back(taken_.played[row] & events);
        plays_.rewarded.push_back(taken_.rewarded[row] & events);
        add_up(plays_.actions.size() - 1);
        rest &= ~taken_.played[row];
    }
}

void Splitter::summarise(std::span<const float> inherited, std::span<float> means, std::span<float> counts) const {
    std::ranges::copy(inherited, means.begin());
    std::ranges::fill(counts, 0.0F);
    for (std::size_t row = 0; row < plays_.actions.size(); ++row) {
        const std::size_t action = plays_.actions[row];
        const double prior = settings_->shrinkage * static_cast<double>(inherited[action]);
        means[action] = static_cast<float>((prior + plays_.sums[row]) / (plays_.counts[row] + settings_->shrinkage));
        counts[action] = static_cast<float>(plays_.counts[row]);
    }
}

void Splitter::draw_thresholds(std::uint32_t variable, std::uint64_t key) {
    const std::uint32_t byte = variables_->bit_or_byte(variable);
    const auto code = [&](std::uint64_t draw) -> std::uint32_t {
        const std::size_t event = draw % n_events_;
        return variables_->codes(records_[event_bits_.empty() ? event : event_bits_[event]])[byte];
    };
    for (std::size_t number = 0; number < settings_->n_thresholds; ++number) {
        const std::uint64_t drawn = mix(key, number);
        const auto [low, high] = std::minmax({code(drawn), code(mix(drawn, 0))});
        if (low < high) {
            candidates_.emplace_back(variable, low + 1 + static_cast<std::uint32_t>(mix(drawn, 1) % (high - low)));
        }
    }
}

// Each variable is drawn with the same probability; these are tried, or the others.
void Splitter::draw_variables(std::uint64_t key, bool others) {
    const auto share = static_cast<std::uint64_t>(settings_->variable_share * 0x1p16);
    const auto n_variables = static_cast<std::uint32_t>(settings_->n_variables);
    drawn_.resize(n_variables);
    std::size_t n_drawn = 0;
    for (std::uint32_t first = 0; first < n_variables; first += 4) {  // a draw serves four variables
        std::uint64_t draw = mix(key, first / 4);
        for (std::uint32_t variable = first; variable < std::min(first + 4, n_variables); ++variable, draw >>= 16U) {
            drawn_[n_drawn] = variable;  // without a branch: where it is not drawn, the next one overwrites it
            n_drawn += ((draw & 0xFFFFU) < share) != others ? 1 : 0;
        }
    }
    drawn_.resize(n_drawn);
}

// Of a binary variable there is one test. Of an ordered one, each test lies between the codes of two random events.
void Splitter::draw_candidates(std::uint64_t key, bool others) {
    draw_variables(key, others);
    candidates_.clear();
    for (const std::uint32_t variable : drawn_) {
        if (variables_->is_ordered(variable)) {
            draw_thresholds(variable, mix(~key, variable));
        } else {
            candidates_.emplace_back(variable, 1);
        }
    }
}

// The bits of all contexts taken, transposed.
void Splitter::fill_bits() {
    const std::size_t n_squares = n_blocks_ * variables_->bit_words();
    bits_.resize((n_squares + side_by_side - 1) / side_by_side * side_by_side * 64);
    for (std::size_t block = 0; block < n_blocks_; ++block) {
        const std::uint64_t* const* const records = records_.data() + block * 64;
        const std::size_t n = std::min(n_taken_ - block * 64, std::size_t{64});
        for (std::size_t w = 0; w < variables_->bit_words(); ++w) {
            std::uint64_t* const rows = bits_.data() + square(block, w);
            for (std::size_t i = 0; i < n; ++i) {
                rows[i * side_by_side] = records[i][w];
            }
            for (std::size_t i = n; i < 64; ++i) {
                rows[i * side_by_side] = 0;
            }
        }
    }
    for (std::size_t first = 0; first < n_squares; first += side_by_side) {
        transpose(bits_.data() + first * 64);
    }
    has_bits_ = true;
}

// The codes of all contexts taken, of one ordered variable.
const std::uint8_t* Splitter::codes_of(std::uint32_t variable) {
    const std::size_t byte = variables_->bit_or_byte(variable);
    codes_.resize(std::max(codes_.size(), variables_->n_ordered() * n_taken_));
    std::uint8_t* const codes = codes_.data() + byte * n_taken_;
    if (has_codes_[byte] == 0) {
        has_codes_[byte] = 1;
        for (std::size_t i = 0; i < n_taken_; ++i) {
            codes[i] = variables_->codes(records_[i])[byte];
        }
    }
    return codes;
}

// One bit for each event of the node that passes a test.
void Splitter::fill_column(Test test, std::uint64_t* column) {
    if (variables_->is_ordered(test.variable())) {
        const std::uint8_t* const codes = codes_of(test.variable());
        passes_.resize(n_taken_);
        compare(codes, n_taken_, static_cast<std::uint8_t>(test.threshold()), passes_.data());
        pack(passes_, {column, n_blocks_});
    } else {
        const std::size_t bit = variables_->bit_or_byte(test.variable());
        for (std::size_t block = 0; block < n_blocks_; ++block) {
            column[block] = bits_[square(block, bit / 64) + bit % 64 * side_by_side];
        }
    }
    column[0] &= mask_;
}

std::uint64_t Splitter::passing(Test test) {
    assert(n_blocks_ == 1);
    std::uint64_t column = 0;
    fill_column(test, &column);
    return column;
}

// The sums of rewards by candidate, event by event in their order where they are not all 0 or 1.
void Splitter::sum(std::size_t row, double* sums) const {
    if (is_binary_) {
        count(plays_.rewarded, row, sums);
        return;
    }
    for (std::size_t j = 0; j < candidates_.size(); ++j) {
        double total = 0.0;
        for (std::size_t block = 0; block < n_blocks_; ++block) {
            for (std::uint64_t word = columns_[j * n_blocks_ + block] & plays_.played[row * n_blocks_ + block]; word != 0;
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
    for (std::size_t row = 0; row < plays_.actions.size(); ++row) {
        const auto mean = static_cast<double>(means[plays_.actions[row]]);
        const double n_plays = plays_.counts[row];
        noise += plays_.squares[row] - 2.0 * mean * plays_.sums[row] + n_plays * mean * mean;
        if (n_plays >= 2.0) {
            count(plays_.played, row, counts_.data());
            sum(row, sums_.data());
            add_gains(gains_.data(), counts_.data(), sums_.data(), n_plays, plays_.sums[row], mean,
                      settings_->shrinkage, candidates_.size());
        }
    }
    return noise;
}

BANDIT_FOREST_CPU_DISPATCH
bool Splitter::varies(std::size_t candidate) const {
    const std::size_t passed = bandit_forest::count({columns_.data() + candidate * n_blocks_, n_blocks_});
    return passed > 0 && passed < n_events_;
}

std::optional<Split> Splitter::best(std::span<const float> means, std::uint64_t key, bool others) {
    draw_candidates(key, others);
    if (!has_bits_ && variables_->bit_words() > 0) {
        fill_bits();
    }
    columns_.resize(candidates_.size() * n_blocks_);
    for (std::size_t j = 0; j < candidates_.size(); ++j) {
        fill_column(candidates_[j], columns_.data() + j * n_blocks_);
    }
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
