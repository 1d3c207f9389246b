// The stumps in the making of all trees: one place for all, so that large pages serve them however few a tree has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/pool.hpp"

namespace bandit_forest {

// Statistics of a selecting node besides its sums of gains by variable. The sums are rows of actions and columns of
// variables, for value 1 only: the sum for value 0 is the action's tally minus the sum for value 1.
struct Stump {
    std::vector<std::uint64_t> remaining_variables;  // S
    // In nodes of the last level only, since A_{c,i,v} takes effect nowhere else:
    std::vector<double> plays;                     // events
    std::vector<double> weight;                    // sum of weights
    std::vector<std::uint64_t> remaining_actions;  // A_{c,i,v}, by variable and value

    template <class Archive>
    void archive(Archive& io) {
        io(remaining_variables);
        io(plays);
        io(weight);
        io(remaining_actions);
    }
};

class Stumps {
   public:
    Stumps(std::size_t n_cells, std::size_t n_buffer_words) : gains_(n_cells), buffers_(n_buffer_words) {}

    // A stump without events; its sums are zero.
    std::int32_t acquire() {
        if (free_.empty()) {
            gains_.grow(stumps_.size() + 1);  // first what may fail for lack of memory
            buffers_.grow(stumps_.size() + 1);
            free_.push_back(static_cast<std::int32_t>(stumps_.size()));
            stumps_.emplace_back();
        }
        const std::int32_t stump = free_.back();
        free_.pop_back();
        std::fill_n(gains(stump), n_cells(), 0.0);
        return stump;
    }

    void release(std::int32_t stump) {
        at(stump) = Stump{};
        free_.push_back(stump);
    }

    std::size_t n_cells() const { return gains_.length(); }
    Stump& at(std::int32_t stump) { return stumps_[static_cast<std::size_t>(stump)]; }
    double* gains(std::int32_t stump) { return gains_.row(static_cast<std::size_t>(stump)); }
    std::uint64_t* buffer(std::int32_t stump) { return buffers_.row(static_cast<std::size_t>(stump)); }

    std::size_t n_bytes() const {
        std::size_t bytes = gains_.n_bytes() + buffers_.n_bytes() + stumps_.capacity() * sizeof(Stump) +
                            free_.capacity() * sizeof(std::int32_t);
        for (const Stump& stump : stumps_) {
            bytes += (stump.plays.capacity() + stump.weight.capacity()) * sizeof(double);
            bytes += (stump.remaining_variables.capacity() + stump.remaining_actions.capacity()) * sizeof(std::uint64_t);
        }
        return bytes;
    }

   private:
    std::vector<Stump> stumps_;         // by number
    std::vector<std::int32_t> free_;    // numbers that no node uses
    Pool<double> gains_;                // sums of gains by action and variable
    Pool<std::uint64_t> buffers_;       // pending events: context, gain, action
};

}  // namespace bandit_forest
