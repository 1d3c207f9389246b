// The test of a node: whether the code of a variable reaches a threshold.
#pragma once

#include <cassert>
#include <cstdint>

namespace bandit_forest {

// Four bytes: the variable in the lower three, the threshold less one in the upper one. A binary variable is tested by the
// threshold 1, so that its test is the number of the variable.
class Test {
   public:
    static constexpr std::uint32_t most_variables = 1U << 24U;

    constexpr Test() = default;
    constexpr Test(std::uint32_t variable, std::uint32_t threshold) : bits_(variable | (threshold - 1) << 24U) {
        assert(variable < most_variables && threshold >= 1 && threshold <= 256);
    }

    constexpr std::uint32_t variable() const { return bits_ & (most_variables - 1); }
    constexpr std::uint32_t threshold() const { return (bits_ >> 24U) + 1; }
    constexpr std::uint32_t bits() const { return bits_; }

    constexpr bool operator==(const Test&) const = default;

   private:
    std::uint32_t bits_ = 0;
};

}  // namespace bandit_forest
