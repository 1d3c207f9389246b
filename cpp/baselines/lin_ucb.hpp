// LinUCB (Li, Chu, Langford and Schapire 2010): ridge regression for each action, and upper confidence bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "util/archive.hpp"
#include "util/bits.hpp"
#include "policy/contexts.hpp"
#include "baselines/inputs.hpp"
#include "util/memory.hpp"

namespace bandit_forest {

// Symmetric matrices are kept as lower triangles, row by row. With inputs of zeros and ones only the entries of set inputs
// make a bound, and an event changes the inverse of one action by a matrix of rank one.
class LinUcb {
   public:
    struct Settings {
        std::size_t n_variables;      // without the constant input
        std::size_t n_actions;
        double width;                 // standard deviations that are added to a prediction, α in the article
        double ridge;                 // added to the diagonals of the Gram matrices
        std::uint64_t refresh_every;  // updates of an action between two exact inversions
    };

    explicit LinUcb(const Settings& settings);
    explicit LinUcb(std::span<const char> saved);

    const Settings& settings() const { return settings_; }

    Choice decide(std::span<const std::uint8_t> context, ConstWords available);
    void learn(std::span<const std::uint8_t> context, std::size_t action, double reward, double propensity);

    template <class Archive>
    void archive(Archive& io) {
        io(settings_);
        io(inverses_);
        io(counts_);
        io(weights_);
        io(reward_sums_);
        io(waiting_);
    }

    std::size_t size() const { return settings_.n_variables + 1; }
    std::size_t triangle() const { return size() * (size() + 1) / 2; }
    std::span<double> inverses() { return inverses_; }
    std::span<double> weights() { return weights_; }
    std::span<std::uint64_t> waiting() { return waiting_; }

   private:
    double* inverse(std::size_t action) { return inverses_.data() + action * triangle(); }
    // Inverts the Gram matrix of an action anew and solves its regression: no rounding errors of earlier updates remain.
    void refresh(std::size_t action);

    Settings settings_;
    LargeVector<double> inverses_;        // of the Gram matrices, one triangle per action
    LargeVector<double> counts_;          // the Gram matrices without the ridge: whole numbers, free of rounding errors
    std::vector<double> weights_;         // by action and input
    std::vector<double> reward_sums_;     // by action and input
    std::vector<std::uint64_t> waiting_;  // by action: updates since its last exact inversion
    Inputs inputs_;
    std::vector<double> direction_;       // room for one update: the inverse times the input
    std::vector<double> step_;            // the same over one more than the variance of the input
};

}  // namespace bandit_forest
