// The terms of a linear estimate: a binary variable is one term, an ordered one is a few ramps that rise one after the other.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "policy/settings.hpp"

namespace bandit_forest {

// The terms of one context.
struct TermValues {
    std::vector<double> values;          // by term
    std::vector<std::uint32_t> nonzero;  // terms whose value is not zero, in order
};

class Terms {
   public:
    // With at most `most_ramps` for an ordered variable; the last term is the constant 1.
    Terms(const GreedySettings& settings, std::size_t most_ramps) {
        for (std::uint32_t variable = 0; variable < settings.n_variables; ++variable) {
            const std::size_t steps = settings.levels.empty() ? 1 : settings.levels[variable] - std::size_t{1};
            const std::size_t ramps = std::min(steps, most_ramps);
            for (std::size_t ramp = 0; ramp < ramps; ++ramp) {
                const auto width = static_cast<double>(steps) / static_cast<double>(ramps);
                terms_.push_back({variable, steps == 1, static_cast<double>(ramp) * width, width});
            }
        }
    }

    std::size_t size() const { return terms_.size() + 1; }

    void of(std::span<const std::uint8_t> context, TermValues& out) const {
        out.values.resize(size());
        out.nonzero.resize(size());
        std::size_t n_nonzero = 0;
        for (std::uint32_t i = 0; i < terms_.size(); ++i) {
            const Ramp& ramp = terms_[i];
            const auto code = static_cast<double>(context[ramp.variable]);
            const double value = ramp.is_whole ? code : std::clamp((code - ramp.start) / ramp.width, 0.0, 1.0);
            out.values[i] = value;
            out.nonzero[n_nonzero] = i;  // without a branch: where the value is zero, the next one overwrites it
            n_nonzero += value != 0.0 ? 1 : 0;
        }
        out.values.back() = 1.0;
        out.nonzero[n_nonzero] = static_cast<std::uint32_t>(terms_.size());
        out.nonzero.resize(n_nonzero + 1);
    }

    std::uint32_t variable(std::size_t term) const { return terms_[term].variable; }

   private:
    // Rises from 0 to 1 while the code of a variable goes from `start` to `start + width`.
    struct Ramp {
        std::uint32_t variable;  // whose code it reads
        bool is_whole;           // whether the variable is binary: its code is the value
        double start;            // the last code with value 0
        double width;            // codes from there to value 1
    };

    std::vector<Ramp> terms_;  // all but the constant
};

}  // namespace bandit_forest
