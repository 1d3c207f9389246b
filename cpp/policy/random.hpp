// Counter-based randomness: every draw is a hash of its address. Kept equal to src/bandit_forest/randomness.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "policy/settings.hpp"

namespace bandit_forest {

// What a draw is for: the second word of every address.
enum class Purpose : std::uint64_t { tree = 1, decision = 2, tolerance = 3, depth = 4, key = 6 };

// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
constexpr std::uint64_t mix(std::uint64_t key, std::uint64_t value) {
    std::uint64_t z = key + 0x9E3779B97F4A7C15U * (value + 1);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
}

constexpr std::uint64_t mix(std::uint64_t key, Purpose purpose) { return mix(key, static_cast<std::uint64_t>(purpose)); }

constexpr double uniform(std::uint64_t key) { return static_cast<double>(key >> 11U) * 0x1p-53; }

constexpr double draw(std::uint64_t seed, Purpose purpose, std::uint64_t number) {
    return uniform(mix(mix(seed, purpose), number));
}

constexpr std::uint64_t root_key(std::uint64_t seed, std::uint64_t tree) { return mix(mix(seed, Purpose::tree), tree); }

// The key of a child by its parent's test, which is the variable where that is binary, and the outcome.
constexpr std::uint64_t child_key(std::uint64_t key, std::uint32_t test, std::uint32_t outcome) {
    return mix(key, 2ULL * test + outcome);
}

// The depth of a tree, between the least and the most.
inline std::size_t draw_depth(const Settings& s, std::size_t tree) {
    const double width = static_cast<double>(s.depth_high - s.depth_low + 1);
    return s.depth_low + static_cast<std::size_t>(width * draw(s.seed, Purpose::depth, tree));
}

// The variables that a path may split on: a share of them, rounded up, in order.
inline std::vector<std::uint32_t> random_subset(std::uint64_t key, const std::vector<std::uint32_t>& variables,
                                                double share) {
    const auto size = static_cast<std::size_t>(std::ceil(share * static_cast<double>(variables.size())));
    if (size >= variables.size()) {
        return variables;
    }
    std::vector<std::pair<std::uint64_t, std::uint32_t>> ranked;
    ranked.reserve(variables.size());
    for (const std::uint32_t variable : variables) {
        ranked.emplace_back(mix(~key, variable), variable);
    }
    std::nth_element(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(size), ranked.end());
    std::vector<std::uint32_t> subset;
    subset.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
        subset.push_back(ranked[i].second);
    }
    std::sort(subset.begin(), subset.end());
    return subset;
}

}  // namespace bandit_forest
