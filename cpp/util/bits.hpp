// Sets of small integers as 64-bit words: contexts, remaining variables, remaining actions.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace bandit_forest {

using Words = std::span<std::uint64_t>;
using ConstWords = std::span<const std::uint64_t>;

constexpr std::size_t words_for(std::size_t bits) { return (bits + 63) / 64; }

inline bool contains(ConstWords set, std::size_t element) {
    assert(element < set.size() * 64);
    return ((set[element / 64] >> (element % 64)) & 1U) != 0;
}

inline void insert(Words set, std::size_t element) {
    assert(element < set.size() * 64);
    set[element / 64] |= std::uint64_t{1} << (element % 64);
}

inline void erase(Words set, std::size_t element) {
    assert(element < set.size() * 64);
    set[element / 64] &= ~(std::uint64_t{1} << (element % 64));
}

inline void fill(Words set, std::size_t elements) {
    for (std::size_t w = 0; w < set.size(); ++w) {
        const std::size_t first = w * 64;
        const std::size_t rest = elements > first ? elements - first : 0;
        set[w] = rest >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << rest) - 1;
    }
}

inline std::size_t count(ConstWords set) {
    std::size_t total = 0;
    for (const std::uint64_t word : set) {
        total += static_cast<std::size_t>(std::popcount(word));
    }
    return total;
}

inline bool is_single(ConstWords set) {
    std::size_t occupied = 0;
    for (const std::uint64_t word : set) {
        if (word != 0) {
            if ((word & (word - 1)) != 0) {
                return false;
            }
            ++occupied;
        }
    }
    return occupied == 1;
}

// Calls visit(element) for each element in increasing order.
template <class Visit>
inline void for_each(ConstWords set, Visit&& visit) {
    for (std::size_t w = 0; w < set.size(); ++w) {
        for (std::uint64_t word = set[w]; word != 0; word &= word - 1) {
            visit(w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
        }
    }
}

inline std::size_t first(ConstWords set) {
    for (std::size_t w = 0; w < set.size(); ++w) {
        if (set[w] != 0) {
            return w * 64 + static_cast<std::size_t>(std::countr_zero(set[w]));
        }
    }
    assert(false);
    return 0;
}

// Whether a set is not empty and has no element beyond the given number of them.
inline bool is_set_below(ConstWords set, std::size_t elements) {
    bool any = false;
    bool within = true;
    for_each(set, [&](std::size_t element) {
        any = true;
        within = within && element < elements;
    });
    return any && within;
}

// Packs bytes of zeros and ones, eight at a time: the product moves byte i's bit to bit 56 + i.
inline void pack(std::span<const std::uint8_t> bytes, Words out) {
    assert(out.size() * 64 >= bytes.size());
    std::size_t i = 0;
    for (std::uint64_t& word : out) {
        word = 0;
        for (unsigned shift = 0; shift < 64 && i < bytes.size(); shift += 8) {
            std::uint64_t eight = 0;
            const std::size_t n = bytes.size() - i < 8 ? bytes.size() - i : 8;
            std::memcpy(&eight, bytes.data() + i, n);
            word |= ((eight * 0x0102040810204080U) >> 56U) << shift;
            i += n;
        }
    }
}

}  // namespace bandit_forest
