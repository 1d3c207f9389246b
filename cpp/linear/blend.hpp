// The weights of the trees and of the line: two nonnegative numbers, from a regression of the rewards on both estimates.
#pragma once

#include <algorithm>
#include <cmath>

#include "util/archive.hpp"

namespace bandit_forest {

// The regression starts from one half each, with the weight of one event, and forgets: the last half of the events so far
// counts most.
class Blend {
   public:
    double trees() const { return trees_; }
    double line() const { return line_; }

    // The estimates of the action that was played, before its reward was learned, and the reward. `memory` is the number
    // of events that may count.
    void learn(double trees, double line, double reward, double memory) {
        const double kept = 1.0 - 1.0 / (1.0 + 0.5 * memory);
        trees_trees_ = trees_trees_ * kept + trees * trees;
        trees_line_ = trees_line_ * kept + trees * line;
        line_line_ = line_line_ * kept + line * line;
        trees_reward_ = trees_reward_ * kept + trees * reward;
        line_reward_ = line_reward_ * kept + line * reward;
    }

    void solve() {
        const double a = trees_trees_ + 1.0;
        const double b = trees_line_;
        const double c = line_line_ + 1.0;
        const double d = trees_reward_ + 0.5;
        const double e = line_reward_ + 0.5;
        const double determinant = a * c - b * b;
        trees_ = (d * c - e * b) / determinant;
        line_ = (a * e - b * d) / determinant;
        if (trees_ < 0.0) {
            trees_ = 0.0;
            line_ = std::max(e / c, 0.0);
        } else if (line_ < 0.0) {
            line_ = 0.0;
            trees_ = std::max(d / a, 0.0);
        }
    }

    template <class Archive>
    void archive(Archive& io) {
        for (double* number : {&trees_, &line_, &trees_trees_, &trees_line_, &line_line_, &trees_reward_, &line_reward_}) {
            io(*number);
            if constexpr (Archive::loading) {
                require(*number >= 0.0 && std::isfinite(*number), "a weight is not a weight");
            }
        }
    }

   private:
    double trees_ = 0.5;         // weight of the trees' estimate
    double line_ = 0.5;          // weight of the line's
    double trees_trees_ = 0.0;   // sums of products of the estimates
    double trees_line_ = 0.0;
    double line_line_ = 0.0;
    double trees_reward_ = 0.0;  // and of estimates and rewards
    double line_reward_ = 0.0;
};

}  // namespace bandit_forest
