// Rows of doubles of one length, each on cache lines of its own, at addresses that do not move.
#pragma once

#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

namespace bandit_forest {

class Pool {
   public:
    explicit Pool(std::size_t length) : length_(length), lines_((length + 7) / 8) {}

    std::size_t length() const { return length_; }

    // Makes room for rows 0 to n - 1; new rows hold zeros.
    void grow(std::size_t n) {
        while (chunks_.size() * rows_per_chunk < n) {
            chunks_.emplace_back(rows_per_chunk * lines_);
        }
    }

    double* row(std::size_t number) { return const_cast<double*>(std::as_const(*this).row(number)); }
    const double* row(std::size_t number) const {
        assert(number / rows_per_chunk < chunks_.size());
        return chunks_[number / rows_per_chunk][number % rows_per_chunk * lines_].values;
    }

    std::size_t n_bytes() const { return chunks_.size() * rows_per_chunk * lines_ * sizeof(Line); }

   private:
    struct alignas(64) Line {
        double values[8] = {};  // one cache line
    };

    static constexpr std::size_t rows_per_chunk = 16;

    std::size_t length_;                     // doubles of a row
    std::size_t lines_;                      // cache lines of a row
    std::vector<std::vector<Line>> chunks_;  // rows_per_chunk rows each
};

}  // namespace bandit_forest
