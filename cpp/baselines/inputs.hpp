// The inputs of a linear model that are 1: the set variables of a context, and last a constant.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "util/bits.hpp"

namespace bandit_forest {

class Inputs {
   public:
    explicit Inputs(std::size_t n_variables) : n_variables_(n_variables), packed_(words_for(n_variables)) {}

    // Returns the indices of the ones in increasing order, valid until the next call.
    std::span<const std::uint32_t> of(std::span<const std::uint8_t> context) {
        assert(context.size() == n_variables_);
        pack(context, packed_);
        indices_.clear();
        for_each(packed_, [&](std::size_t index) { indices_.push_back(static_cast<std::uint32_t>(index)); });
        indices_.push_back(static_cast<std::uint32_t>(n_variables_));
        return indices_;
    }

   private:
    std::size_t n_variables_;
    std::vector<std::uint64_t> packed_;   // the context
    std::vector<std::uint32_t> indices_;  // of the ones
};

}  // namespace bandit_forest
