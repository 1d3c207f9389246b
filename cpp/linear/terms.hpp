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
                terms_.push_back({variable, static_cast<double>(ramp) * width, width});
            }
        }
    }

    std::size_t size() const { return terms_.size() + 1; }

    void of(std::span<const std::uint8_t> context, TermValues& out) const {
        out.values.resize(size());
        out.nonzero.clear();
        for (std::uint32_t i = 0; i < terms_.size(); ++i) {
            const Ramp& ramp = terms_[i];
            const double height = (static_cast<double>(context[ramp.variable]) - ramp.start) / ramp.width;
            out.values[i] = std::clamp(height, 0.0, 1.0);
            if (out.values[i] != 0.0) {
                out.nonzero.push_back(i);
            }
        }
        out.values.back() = 1.0;
        out.nonzero.push_back(static_cast<std::uint32_t>(terms_.size()));
    }

    std::uint32_t variable(std::size_t term) const { return terms_[term].variable; }

   private:
    // Rises from 0 to 1 while the code of a variable goes from `start` to `start + width`.
    struct Ramp {
        std::uint32_t variable;
        double start;
        double width;
    };

    std::vector<Ramp> terms_;  // all but the constant
};

}  // namespace bandit_forest
