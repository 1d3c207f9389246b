// The confidence bounds with which variables and actions are eliminated: equations (1) to (4) of the paper.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "util/bits.hpp"

namespace bandit_forest {

inline constexpr double variable_width = 4.0;  // a gain is the sum of two estimates
inline constexpr double action_width = 2.0;

// Half the width of a confidence interval; log_hypotheses is the logarithm of hypotheses / δ.
inline double radius(double plays, double log_hypotheses) {
    return std::sqrt((log_hypotheses + 2.0 * std::log(plays)) / (2.0 * plays));
}

// Removes from a set the members that are too far below its best member; mean(element) is called once for each.
template <class Mean>
void keep_survivors(Words set, double tolerance, double bound, std::vector<double>& means, Mean&& mean) {
    means.clear();
    double best = -std::numeric_limits<double>::infinity();
    std::size_t best_element = 0;
    for_each(set, [&](std::size_t element) {
        means.push_back(mean(element));
        if (means.back() > best) {
            best = means.back();
            best_element = element;
        }
    });
    std::size_t position = 0;
    for_each(set, [&](std::size_t element) {
        if (element != best_element && best - means[position] + tolerance >= bound) {
            erase(set, element);
        }
        ++position;
    });
}

}  // namespace bandit_forest
