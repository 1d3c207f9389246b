// How the variables of a context are kept: binary ones as bits, ordered ones as bytes behind them.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tree/test.hpp"
#include "util/bits.hpp"

namespace bandit_forest {

// A test of a packed context as one comparison, whatever kind of variable it asks: of a byte, or of one of its bits.
struct ByteTest {
    std::uint32_t offset;    // of the byte
    std::uint8_t mask;       // the bits of it that count
    std::uint8_t threshold;  // the value that they reach if the context passes

    bool passes(const std::uint64_t* packed) const {
        return (reinterpret_cast<const std::uint8_t*>(packed)[offset] & mask) >= threshold;
    }
};

class Variables {
   public:
    // `levels` has the number of codes of each variable, at least 2; if it is empty, all variables are binary.
    Variables(std::size_t n_variables, std::span<const std::uint16_t> levels) : numbers_(n_variables) {
        for (std::uint32_t variable = 0; variable < n_variables; ++variable) {
            if (!levels.empty() && levels[variable] > 2) {
                numbers_[variable] = static_cast<std::uint32_t>(ordered_.size());
                ordered_.push_back(variable);
            } else {
                numbers_[variable] = static_cast<std::uint32_t>(binary_.size());
                binary_.push_back(variable);
            }
        }
        bit_words_ = words_for(binary_.size());
        is_ordered_.resize(n_variables, 0);
        for (const std::uint32_t variable : ordered_) {
            is_ordered_[variable] = 1;
        }
    }

    std::size_t size() const { return numbers_.size(); }
    std::size_t n_ordered() const { return ordered_.size(); }
    bool is_ordered(std::uint32_t variable) const { return is_ordered_[variable] != 0; }
    // Which bit a binary variable is, or which byte behind the bits an ordered one.
    std::uint32_t bit_or_byte(std::uint32_t variable) const { return numbers_[variable]; }

    std::size_t bit_words() const { return bit_words_; }
    std::size_t words() const { return bit_words_ + (ordered_.size() + 7) / 8; }

    void pack(std::span<const std::uint8_t> context, Words out) const {
        assert(context.size() == size() && out.size() == words());
        if (ordered_.empty()) {
            bandit_forest::pack(context, out);
            return;
        }
        std::memset(out.data(), 0, out.size_bytes());
        for (std::size_t i = 0; i < binary_.size(); ++i) {
            out[i / 64] |= std::uint64_t{context[binary_[i]]} << (i % 64);
        }
        auto* const codes = reinterpret_cast<std::uint8_t*>(out.data() + bit_words_);
        for (std::size_t i = 0; i < ordered_.size(); ++i) {
            codes[i] = context[ordered_[i]];
        }
    }

    void unpack(const std::uint64_t* packed, std::span<std::uint8_t> context) const {
        for (std::size_t i = 0; i < binary_.size(); ++i) {
            context[binary_[i]] = static_cast<std::uint8_t>((packed[i / 64] >> (i % 64)) & 1U);
        }
        for (std::size_t i = 0; i < ordered_.size(); ++i) {
            context[ordered_[i]] = codes(packed)[i];
        }
    }

    // Codes of a packed context, by the byte of an ordered variable.
    const std::uint8_t* codes(const std::uint64_t* packed) const {
        return reinterpret_cast<const std::uint8_t*>(packed + bit_words_);
    }

    ByteTest byte_test(Test test) const {
        const std::uint32_t number = bit_or_byte(test.variable());
        if (is_ordered(test.variable())) {
            const auto offset = static_cast<std::uint32_t>(bit_words_ * 8 + number);
            return {offset, 0xFF, static_cast<std::uint8_t>(test.threshold())};
        }
        const std::uint32_t byte = number % 64 / 8;
        const auto bit = static_cast<std::uint8_t>(1U << (number % 8));
        return {number / 64 * 8 + (std::endian::native == std::endian::little ? byte : 7 - byte), bit, bit};
    }
    bool passes(const std::uint64_t* packed, Test test) const { return byte_test(test).passes(packed); }

   private:
    std::vector<std::uint32_t> numbers_;    // by variable: of its bit, or of its byte
    std::vector<std::uint8_t> is_ordered_;  // by variable
    std::vector<std::uint32_t> binary_;     // variables with two codes
    std::vector<std::uint32_t> ordered_;    // variables with more
    std::size_t bit_words_ = 0;             // words of the bits
};

}  // namespace bandit_forest
