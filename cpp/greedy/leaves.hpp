// The leaves of a greedy tree: what deciding and learning touch, on as few cache lines as possible.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "util/archive.hpp"
#include "greedy/log.hpp"
#include "util/memory.hpp"

namespace bandit_forest {

using Slot = std::uint32_t;

// Each leaf has a slot: mean rewards, counts of plays, the last chunk of its events, events until it tries to split.
// Up to seven actions all of it is one cache line.
class Leaves {
   public:
    static constexpr std::uint32_t none = 0xFFFFFFFFU;   // no chunk
    static constexpr std::uint32_t never = 0xFFFFFFFFU;  // does not try to split any more

    explicit Leaves(std::size_t n_actions) : n_actions_(n_actions), length_((2 * n_actions + 2 + 15) / line * line) {}

    std::size_t size() const { return words_.size() / length_; }

    // A new leaf: no events, all means zero.
    Slot add() {
        const auto slot = static_cast<Slot>(size());
        words_.resize(words_.size() + length_);
        set_last_chunk(slot, none);
        set_until_test(slot, never);
        return slot;
    }

    // A leaf without events, with the means of its parent.
    void inherit(Slot slot, Slot parent) {
        for (std::size_t action = 0; action < n_actions_; ++action) {
            set_mean(slot, action, mean(parent, action));
            set_count(slot, action, 0.0F);
        }
    }

    float mean(Slot slot, std::size_t action) const { return std::bit_cast<float>(word(slot, action)); }
    void set_mean(Slot slot, std::size_t action, float mean) { word(slot, action) = std::bit_cast<std::uint32_t>(mean); }
    float count(Slot slot, std::size_t action) const { return std::bit_cast<float>(word(slot, n_actions_ + action)); }
    void set_count(Slot slot, std::size_t action, float count) {
        word(slot, n_actions_ + action) = std::bit_cast<std::uint32_t>(count);
    }

    // A mean over the events of the leaf and `shrinkage` inherited ones. In float, counts stop at 2^24 and the mean
    // goes on as a moving average.
    void learn(Slot slot, std::size_t action, float reward, float shrinkage) {
        const float n = count(slot, action) + 1.0F;
        const float before = mean(slot, action);
        set_count(slot, action, n);
        set_mean(slot, action, before + (reward - before) / (n + shrinkage));
    }

    std::uint32_t last_chunk(Slot slot) const { return word(slot, 2 * n_actions_); }
    void set_last_chunk(Slot slot, std::uint32_t chunk) { word(slot, 2 * n_actions_) = chunk; }
    std::uint32_t until_test(Slot slot) const { return word(slot, 2 * n_actions_ + 1); }
    void set_until_test(Slot slot, std::uint32_t events) { word(slot, 2 * n_actions_ + 1) = events; }

    // What a leaf says to a decision: of each action its mean, and 1 / the events behind it. Eight actions at a time:
    // what stands behind the last one is added too, to sums that nobody reads.
    static constexpr std::size_t at_a_time = 8;
    void add_to(std::span<double> means, std::span<double> doubts, Slot slot, float shrinkage) const {
        assert(means.size() == doubts.size() && n_actions_ + means.size() <= length_);
        const std::uint32_t* const words = &words_[slot * length_];
        for (std::size_t first = 0; first < means.size(); first += at_a_time) {
            for (std::size_t i = first; i < first + at_a_time; ++i) {
                means[i] += static_cast<double>(std::bit_cast<float>(words[i]));
                doubts[i] += static_cast<double>(1.0F / (std::bit_cast<float>(words[n_actions_ + i]) + shrinkage));
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
                    require(count(slot, action) >= 0.0F && count(slot, action) <= 0x1p24F, "a count is no count");
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
    LargeVector<std::uint32_t> words_;  // of each slot: means and counts as floats, last chunk, events until the test
};

// The events of all leaves of some trees, in chunks of a cache line. A list is a ring of chunks, known by its newest one,
// which leads to the oldest.
class EventLists {
   public:
    // Appends to the list that ends in `chunk`; gives back the chunk in which it ends now.
    std::uint32_t append(std::uint32_t chunk, EventId event) {
        if (chunk == Leaves::none || chunks_[chunk].size == capacity) {
            const std::uint32_t fresh = take();
            chunks_[fresh].size = 0;
            chunks_[fresh].next = fresh;
            if (chunk != Leaves::none) {
                std::swap(chunks_[fresh].next, chunks_[chunk].next);
            }
            chunk = fresh;
        }
        Chunk& last = chunks_[chunk];
        last.events[last.size++] = event;
        return chunk;
    }

    // The chunk of newer events; the newest leads to the oldest.
    std::uint32_t next(std::uint32_t chunk) const { return chunks_[chunk].next; }
    std::span<const EventId> events(std::uint32_t chunk) const { return {chunks_[chunk].events, chunks_[chunk].size}; }

    // Gives the chunks of a list back.
    void release(std::uint32_t last) {
        if (last == Leaves::none) {
            return;
        }
        std::uint32_t chunk = last;
        do {
            chunk = chunks_[chunk].next;
            free_.push_back(chunk);
        } while (chunk != last);
    }

    // Gives back the oldest chunks whose events are all gone; gives back the chunk in which the list ends now.
    template <class IsGone>
    std::uint32_t drop_oldest(std::uint32_t last, IsGone&& is_gone) {
        while (last != Leaves::none) {
            const std::uint32_t oldest = chunks_[last].next;
            if (!is_gone(chunks_[oldest].events[chunks_[oldest].size - 1])) {
                break;
            }
            free_.push_back(oldest);
            chunks_[last].next = chunks_[oldest].next;
            last = oldest == last ? Leaves::none : last;
        }
        return last;
    }

    void prefetch([[maybe_unused]] std::uint32_t chunk) const {
#if defined(__GNUC__)
        if (chunk != Leaves::none) {
            __builtin_prefetch(&chunks_[chunk], 1);
        }
#endif
    }

    std::size_t n_bytes() const { return chunks_.capacity() * sizeof(Chunk) + free_.capacity() * sizeof(std::uint32_t); }

    template <class Archive>
    void archive(Archive& io) {
        io(chunks_);
        io(free_);
    }

    // Every chunk belongs to one of these lists, known by their newest chunks, or is free.
    void check(std::span<const std::uint32_t> lists) const {
        std::vector<std::uint8_t> used(chunks_.size(), 0);
        const auto claim = [&](std::uint32_t chunk) {
            require(chunk < chunks_.size() && used[chunk]++ == 0, "a chunk of events is not there or has two owners");
            require(chunks_[chunk].size >= 1 && chunks_[chunk].size <= capacity, "a chunk of events has no size");
        };
        for (const std::uint32_t chunk : free_) {
            claim(chunk);
        }
        for (const std::uint32_t last : lists) {
            for (std::uint32_t chunk = last; chunk != Leaves::none;) {
                claim(chunk);
                chunk = chunks_[chunk].next == last ? Leaves::none : chunks_[chunk].next;
            }
        }
        for (const std::uint8_t claims : used) {
            require(claims == 1, "a chunk of events has no owner");
        }
    }

   private:
    static constexpr std::uint32_t capacity = 14;

    struct alignas(64) Chunk {
        std::uint32_t next;        // the chunk of newer events
        std::uint32_t size;        // events in this chunk
        EventId events[capacity];  // oldest first
    };

    std::uint32_t take() {
        if (free_.empty()) {
            chunks_.emplace_back();
            return static_cast<std::uint32_t>(chunks_.size() - 1);
        }
        const std::uint32_t chunk = free_.back();
        free_.pop_back();
        return chunk;
    }

    LargeVector<Chunk> chunks_;        // of all lists
    std::vector<std::uint32_t> free_;  // chunks that no leaf uses
};

}  // namespace bandit_forest
