// The events that trees are grown from: one log for all trees.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "greedy/variables.hpp"
#include "util/archive.hpp"
#include "util/bits.hpp"
#include "util/memory.hpp"

namespace bandit_forest {

// The number of an event, modulo 2^32.
using EventId = std::uint32_t;

// Events to read: the log's, or a copy of some of them that lie closer together.
class Records {
   public:
    Records(const Variables& variables, const std::uint64_t* first, std::size_t length, std::size_t capacity)
        : variables_(&variables), first_(first), words_(variables.words()), length_(length), mask_(capacity - 1) {
        assert(std::has_single_bit(capacity));
    }

    const Variables& variables() const { return *variables_; }
    std::size_t length() const { return length_; }
    const std::uint64_t* at(EventId event) const { return first_ + (event & mask_) * length_; }
    std::size_t action(EventId event) const { return action(at(event)); }
    float reward(EventId event) const { return reward(at(event)); }
    std::size_t action(const std::uint64_t* record) const { return static_cast<std::uint32_t>(record[words_]); }
    float reward(const std::uint64_t* record) const {
        return std::bit_cast<float>(static_cast<std::uint32_t>(record[words_] >> 32U));
    }
    bool passes(EventId event, Test test) const { return variables_->passes(at(event), test); }

    void prefetch([[maybe_unused]] EventId event) const {
#if defined(__GNUC__)
        __builtin_prefetch(at(event));
#endif
    }

   private:
    const Variables* variables_;  // of the forest
    const std::uint64_t* first_;  // the record of event 0, 0 modulo the capacity
    std::size_t words_;           // of a context
    std::size_t length_;          // words of a record
    std::size_t mask_;            // capacity - 1
};

// A ring: the newest events push out the oldest.
class EventLog {
   public:
    EventLog(const Variables& variables, std::size_t capacity)
        : variables_(&variables),
          words_(variables.words()),
          length_(length_of(words_ + 1)),
          capacity_(capacity) {
        assert(std::has_single_bit(capacity));
    }

    void append(ConstWords context, std::size_t action, float reward) {
        assert(context.size() == words_);
        const std::size_t at = n_events_ % capacity_ * length_;
        if (at == records_.size()) {
            records_.resize(at + length_);
        }
        std::ranges::copy(context, records_.begin() + static_cast<std::ptrdiff_t>(at));
        records_[at + words_] = std::uint64_t{std::bit_cast<std::uint32_t>(reward)} << 32U | action;
        ++n_events_;
    }

    // Whether the log still has an event that was appended, and all events since.
    bool holds(std::uint64_t event) const { return n_events_ - event <= capacity_; }

    Records records() const { return {*variables_, records_.data(), length_, capacity_}; }

    std::uint64_t n_events() const { return n_events_; }
    std::size_t n_bytes() const { return records_.capacity() * sizeof(std::uint64_t); }

    template <class Archive>
    void archive(Archive& io, std::size_t n_actions) {
        io(n_events_);
        io(records_);
        if constexpr (Archive::loading) {
            const std::size_t held = std::min<std::uint64_t>(n_events_, capacity_);
            require(records_.size() == held * length_, "the log has not the events that it counts");
            for (std::size_t at = words_; at < records_.size(); at += length_) {
                require(static_cast<std::uint32_t>(records_[at]) < n_actions, "an event has an unknown action");
                const float reward = std::bit_cast<float>(static_cast<std::uint32_t>(records_[at] >> 32U));
                require(reward >= 0.0F && reward <= 1.0F, "an event has a reward outside [0, 1]");
            }
        }
    }

   private:
    // A length at which no record of up to eight words lies on two cache lines.
    static std::size_t length_of(std::size_t words) { return words <= 8 ? std::bit_ceil(words) : (words + 7) / 8 * 8; }

    const Variables* variables_;          // of the forest
    std::size_t words_;                   // of a context
    std::size_t length_;                  // words of a record
    std::size_t capacity_;                // events that are held; a power of two
    std::uint64_t n_events_ = 0;          // events that have been appended
    LargeVector<std::uint64_t> records_;  // context, then reward (high half) and action (low half)
};

}  // namespace bandit_forest
