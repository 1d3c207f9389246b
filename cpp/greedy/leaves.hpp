// The leaves of a greedy tree: the memory that deciding and learning use, on as few cache lines as possible.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "util/archive.hpp"
#include "util/memory.hpp"

namespace bandit_forest {

using Slot = std::uint32_t;

// Each leaf has a slot: mean rewards and counts of plays by action. Up to eight actions that is one cache line.
class Leaves {
   public:
    // Actions are added up eight at a time.
    static constexpr std::size_t at_a_time = 8;
    static std::size_t padded(std::size_t n_actions) { return (n_actions + at_a_time - 1) / at_a_time * at_a_time; }

    explicit Leaves(std::size_t n_actions)
        : n_actions_(n_actions), length_((n_actions + padded(n_actions) + line - 1) / line * line) {}

    std::size_t size() const { return words_.size() / length_; }

    // A new leaf with these means and counts.
    Slot add(std::span<const float> means, std::span<const float> counts) {
        assert(means.size() == n_actions_ && counts.size() == n_actions_);
        const auto slot = static_cast<Slot>(size());
        words_.resize(words_.size() + length_);
        for (std::size_t action = 0; action < n_actions_; ++action) {
            word(slot, action) = std::bit_cast<std::uint32_t>(means[action]);
            word(slot, n_actions_ + action) = std::bit_cast<std::uint32_t>(counts[action]);
        }
        return slot;
    }

    float mean(Slot slot, std::size_t action) const { return std::bit_cast<float>(word(slot, action)); }
    float count(Slot slot, std::size_t action) const { return std::bit_cast<float>(word(slot, n_actions_ + action)); }

    // A mean over the events of the leaf and `shrinkage` inherited ones. In float, counts stop at 2^24 and the mean
    // goes on as a moving average.
    void learn(Slot slot, std::size_t action, float reward, float shrinkage) {
        const float n = count(slot, action) + 1.0F;
        const float before = mean(slot, action);
        word(slot, n_actions_ + action) = std::bit_cast<std::uint32_t>(n);
        word(slot, action) = std::bit_cast<std::uint32_t>(before + (reward - before) / (n + shrinkage));
    }

    // Adds the mean of each action and 1 / its number of events. The padding after the last action is added, too, to sums
    // that are not read.
    void add_to(std::span<double> means, std::span<double> inverse_counts, Slot slot, float shrinkage) const {
        assert(means.size() == padded(n_actions_) && means.size() == inverse_counts.size());
        const std::uint32_t* const words = &words_[slot * length_];
        for (std::size_t first = 0; first < means.size(); first += at_a_time) {
            for (std::size_t i = first; i < first + at_a_time; ++i) {
                means[i] += static_cast<double>(std::bit_cast<float>(words[i]));
                inverse_counts[i] += static_cast<double>(1.0F / (std::bit_cast<float>(words[n_actions_ + i]) + shrinkage));
            }
        }
    }

    void prefetch([[maybe_unused]] Slot slot) const {
#if defined(__GNUC__)
        for (std::size_t i = 0; i < length_; i += line) {
            __builtin_prefetch(&words_[slot * length_ + i], 1);
        }
#endif
    }

    std::size_t n_bytes() const { return words_.capacity() * sizeof(std::uint32_t); }

    template <class Archive>
    void archive(Archive& io) {
        io(words_, line);
        if constexpr (Archive::loading) {
            require(words_.size() % length_ == 0, "a tree's leaves are cut");
            for (Slot slot = 0; slot < size(); ++slot) {
                for (std::size_t action = 0; action < n_actions_; ++action) {
                    require(mean(slot, action) >= 0.0F && mean(slot, action) <= 1.0F, "a mean is outside [0, 1]");
                    require(count(slot, action) >= 0.0F && count(slot, action) <= 0x1p24F, "a count is not a count");
                }
            }
        }
    }

   private:
    static constexpr std::size_t line = 16;  // words of a cache line

    const std::uint32_t& word(Slot slot, std::size_t i) const {
        assert(slot < size() && i < length_);
        return words_[slot * length_ + i];
    }
    std::uint32_t& word(Slot slot, std::size_t i) { return const_cast<std::uint32_t&>(std::as_const(*this).word(slot, i)); }

    std::size_t n_actions_;             // K
    std::size_t length_;                // words of a slot, whole cache lines
    LargeVector<std::uint32_t> words_;  // of each slot: means, then counts, as floats
};

}  // namespace bandit_forest
