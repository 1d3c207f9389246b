// Detects that the world has changed: rewards stay below their estimates for longer than chance explains.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "util/archive.hpp"

namespace bandit_forest {

// A cumulative sum test (Page 1954) of estimates minus rewards, in units of their standard deviation. The sum starts again
// from zero where it would fall below; a change began when it last did.
class ChangeDetector {
   public:
    // The first event of the present world, as far as changes were detected.
    std::uint64_t first() const { return first_; }
    // The first event of a change that would be detected now; never before the first event of the present world.
    std::uint64_t start() const { return start_; }

    // Learns an estimate that was made before the reward; returns whether a change is detected with this event.
    bool learn(double estimate, double reward, std::uint64_t event) {
        constexpr double allowance = 0.1;       // standard deviations that are ignored
        constexpr double threshold = 100.0;     // by chance reached once in some exp(2 * allowance * threshold) events
        constexpr double least_variance = 0.02;
        const double surprise = estimate - reward;
        n_ += 1.0;
        const double distance = surprise - mean_;
        mean_ += distance / n_;
        variance_ += (distance * distance - variance_) / n_;
        const double usual = std::max(mean_, 0.0);  // the end of too low first estimates raises no alarm
        sum_ += (surprise - usual) / std::sqrt(variance_ + least_variance) - allowance;
        if (sum_ <= 0.0) {
            sum_ = 0.0;
            start_ = event + 1;
        }
        if (sum_ < threshold) {
            return false;
        }
        *this = ChangeDetector(start_, event + 1);
        return true;
    }

    ChangeDetector() = default;

    template <class Archive>
    void archive(Archive& io) {
        io(first_);
        io(start_);
        for (double* number : {&n_, &mean_, &variance_, &sum_}) {
            io(*number);
            if constexpr (Archive::loading) {
                require(std::isfinite(*number), "a change is not a number");
            }
        }
        if constexpr (Archive::loading) {
            require(first_ <= start_ && n_ >= 0.0 && variance_ >= 0.0 && sum_ >= 0.0, "a change is not a change");
        }
    }

   private:
    ChangeDetector(std::uint64_t first, std::uint64_t start) : first_(first), start_(start) {}

    std::uint64_t first_ = 0;  // event with which the world as it is began
    std::uint64_t start_ = 0;  // event after which the sum has been positive
    double n_ = 0.0;           // events since the last change was noticed
    double mean_ = 0.0;        // of their surprises
    double variance_ = 0.0;    // of their surprises
    double sum_ = 0.0;         // of surprises above the usual one and the allowance
};

}  // namespace bandit_forest
