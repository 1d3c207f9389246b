// Rows of numbers of eight bytes, of one length, each on cache lines of its own, at addresses that do not move.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

#include "util/memory.hpp"

namespace bandit_forest {

template <class T>
class Pool {
    static_assert(sizeof(T) == 8);

   public:
    explicit Pool(std::size_t length)
        : length_(length),
          lines_((length + 7) / 8),
          rows_per_chunk_(std::max<std::size_t>(1, chunk_bytes / (lines_ * sizeof(Line)))) {}

    std::size_t length() const { return length_; }

    // Makes room for rows 0 to n - 1.
    void grow(std::size_t n) {
        while (chunks_.size() * rows_per_chunk_ < n) {
            chunks_.emplace_back(rows_per_chunk_ * lines_);
        }
    }

    T* row(std::size_t number) { return const_cast<T*>(std::as_const(*this).row(number)); }
    const T* row(std::size_t number) const {
        assert(number / rows_per_chunk_ < chunks_.size());
        return chunks_[number / rows_per_chunk_][number % rows_per_chunk_ * lines_].values;
    }

    std::size_t n_bytes() const { return chunks_.size() * rows_per_chunk_ * lines_ * sizeof(Line); }

   private:
    struct alignas(64) Line {
        T values[8] = {};  // one cache line
    };

    static constexpr std::size_t chunk_bytes = std::size_t{1} << 22U;  // worth two huge pages

    std::size_t length_;                     // numbers of a row
    std::size_t lines_;                      // cache lines of a row
    std::size_t rows_per_chunk_;
    std::vector<LargeVector<Line>> chunks_;  // rows_per_chunk_ rows each
};

}  // namespace bandit_forest
