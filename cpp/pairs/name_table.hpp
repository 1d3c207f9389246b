// Effects of actions by their names: a bounded table of their rewards minus the estimates from their features.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "policy/random.hpp"
#include "util/archive.hpp"

namespace bandit_forest {

// A name stands in one of four entries that its hash points to. A new name takes a free one, or the one that has not been
// learned for the longest time.
class NameTable {
   public:
    explicit NameTable(std::size_t n_names) : entries_(n_names) {}

    // The weight of effects, in [0, 1]: zero if names have no information.
    double weight() const { return std::clamp(effect_error_ / (effect_effect_ + ridge), 0.0, 1.0); }

    // The expected reward of an action minus the estimate from its features.
    double estimate(std::uint64_t name) const {
        const Entry* const entry = find(name);
        return entry == nullptr ? 0.0 : weight() * effect(*entry);
    }

    // Learns the reward of an action minus the estimate without its name.
    void learn(std::uint64_t name, double error) {
        if (const Entry* const known = find(name)) {
            effect_effect_ += effect(*known) * effect(*known);
            effect_error_ += effect(*known) * error;
        }
        Entry& entry = find_or_make(name);
        ++entry.count;
        entry.mean += (error - entry.mean) / static_cast<double>(entry.count);
        entry.learned = ++n_learned_;
    }

    std::size_t n_bytes() const { return entries_.capacity() * sizeof(Entry); }

    template <class Archive>
    void archive(Archive& io) {
        const std::size_t n_names = entries_.size();
        io(entries_);
        io(n_learned_);
        io(effect_effect_);
        io(effect_error_);
        if constexpr (Archive::loading) {
            require(entries_.size() == n_names, "the table of names has not its length");
            require(std::isfinite(effect_effect_) && effect_effect_ >= 0.0 && std::isfinite(effect_error_),
                    "the weight of names is not a number");
            for (const Entry& entry : entries_) {
                require(std::isfinite(entry.mean) && entry.learned <= n_learned_ && entry.count <= entry.learned,
                        "a name has learned what it cannot know");
            }
        }
    }

   private:
    static constexpr std::size_t ways = 4;      // entries that a name may stand in
    static constexpr double shrinkage = 4.0;    // weight of the effect zero, in events
    static constexpr double ridge = 1.0;        // of the regression for the weight

    struct Entry {
        std::uint64_t name = 0;     // its number
        std::uint64_t count = 0;    // events that were learned; 0 for a free entry
        std::uint64_t learned = 0;  // when the last one was
        double mean = 0.0;          // of the errors
    };

    static double effect(const Entry& entry) {
        const auto n = static_cast<double>(entry.count);
        return entry.mean * (n / (n + shrinkage));
    }

    std::size_t first_of(std::uint64_t name) const { return mix(name, 0) % (entries_.size() / ways) * ways; }

    const Entry* find(std::uint64_t name) const {
        for (const Entry& entry : std::span(entries_).subspan(first_of(name), ways)) {
            if (entry.count > 0 && entry.name == name) {
                return &entry;
            }
        }
        return nullptr;
    }

    Entry& find_or_make(std::uint64_t name) {
        const std::span<Entry> set = std::span(entries_).subspan(first_of(name), ways);
        for (Entry& entry : set) {
            if (entry.count > 0 && entry.name == name) {
                return entry;
            }
        }
        Entry& oldest = *std::ranges::min_element(set, {}, &Entry::learned);  // a free one has never learned
        oldest = Entry{.name = name};
        return oldest;
    }

    std::vector<Entry> entries_;      // sets of four
    std::uint64_t n_learned_ = 0;     // events with a name
    double effect_effect_ = 0.0;      // sums for the regression of errors on effects
    double effect_error_ = 0.0;
};

}  // namespace bandit_forest
