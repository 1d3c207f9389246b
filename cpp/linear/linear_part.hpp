// The linear part of a forest: a line, the weights of the line and of the trees, and the notes that they are learned from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "linear/blend.hpp"
#include "linear/line.hpp"
#include "linear/terms.hpp"
#include "policy/settings.hpp"
#include "util/archive.hpp"
#include "util/change_detector.hpp"

namespace bandit_forest {

class LinearPart {
   public:
    LinearPart(const GreedySettings& settings, std::size_t n_groups, std::size_t events_together)
        : settings_(&settings),
          n_groups_(n_groups),
          line_(settings),
          tree_sums_(events_together * n_groups),
          estimates_(events_together),
          rewards_(events_together) {}

    const Line& line() const { return line_; }
    const Blend& blend() const { return blend_; }

    // Learns the reward of an event with the line.
    void learn(std::span<const std::uint8_t> context, std::size_t action, double reward, std::uint64_t event) {
        if (settings_->lifetime > 0 && event > 0 && event % half_lifetime() == 0) {
            succeed();
        }
        thread_local TermValues values;
        line_.terms().of(context, values);
        const double estimate = line_.mean(values, action);
        note_line(event, estimate, reward);
        if (settings_->lifetime > 0 && change_.learn(estimate, reward, event)) {
            start_anew();
        }
        line_.learn(values, action, reward);
        if (young_) {
            young_->learn(values, action, reward);
        }
    }

    // The sum of the means of a group of trees for the action of an event, before they learned its reward.
    void note(std::uint64_t event, std::size_t group, double sum) {
        tree_sums_[event % estimates_.size() * n_groups_ + group] = sum;
    }
    // The estimate of the line for it, and the reward.
    void note_line(std::uint64_t event, double estimate, double reward) {
        estimates_[event % estimates_.size()] = estimate;
        rewards_[event % estimates_.size()] = reward;
    }
    // The note of a group about one of the last events; the note of the line, if there is no such group.
    double noted(std::uint64_t event, std::size_t group) const {
        const std::size_t row = event % estimates_.size();
        return group < n_groups_ ? tree_sums_[row * n_groups_ + group] : estimates_[row];
    }

    // Learns the weights from the events since the last time, the last of which is `event`.
    void learn_weights(std::uint64_t event) {
        const std::uint64_t first = event / estimates_.size() * estimates_.size();
        for (std::uint64_t number = first; number <= event; ++number) {
            const std::size_t row = number - first;
            double trees = 0.0;
            for (std::size_t group = 0; group < n_groups_; ++group) {
                trees += tree_sums_[row * n_groups_ + group];
            }
            trees /= static_cast<double>(settings_->n_trees);
            const std::uint64_t known = settings_->lifetime == 0 ? number + 1 : std::min(number + 1, settings_->lifetime);
            blend_.learn(trees, estimates_[row], rewards_[row], static_cast<double>(known));
        }
        blend_.solve();
    }

    std::size_t n_bytes() const { return line_.n_bytes() + (young_ ? young_->n_bytes() : 0); }

    template <class Archive>
    void archive_line(Archive& io) {
        line_.archive(io);
        if (settings_->lifetime > 0) {
            change_.archive(io);
        }
        std::uint8_t has_young = young_ ? 1 : 0;
        io(has_young);
        if constexpr (Archive::loading) {
            require(has_young <= (settings_->lifetime > 0 ? 1 : 0), "a line has a successor that it may not have");
            if (has_young == 1) {
                young_.emplace(*settings_);
            }
        }
        if (young_) {
            young_->archive(io);
        }
    }
    template <class Archive>
    void archive_weights(Archive& io) {
        blend_.archive(io);
        for (std::vector<double>* numbers : {&tree_sums_, &estimates_, &rewards_}) {
            const std::size_t size = numbers->size();
            io(*numbers);
            if constexpr (Archive::loading) {
                require(numbers->size() == size, "the linear part has not its length");
                require(std::ranges::all_of(*numbers, [](double number) { return number >= 0.0 && number < 0x1p32; }),
                        "an estimate is not an estimate");
            }
        }
    }

   private:
    std::uint64_t half_lifetime() const { return std::max<std::uint64_t>(settings_->lifetime / 2, 1); }
    // In a world that changes, a line is half a lifetime old when it takes over, and a lifetime when it goes.
    void succeed() {
        if (young_) {
            line_ = std::move(*young_);
        }
        young_.emplace(*settings_);
    }

    // When the world has changed, the weights of both lines are useless.
    void start_anew() {
        line_ = Line(*settings_);
        if (young_) {
            young_.emplace(*settings_);
        }
    }

    const GreedySettings* settings_;  // of the forest
    std::size_t n_groups_;            // of trees
    Line line_;
    std::optional<Line> young_;       // learns the same events as the line, and replaces it
    ChangeDetector change_;           // where the forest has a lifetime
    Blend blend_;
    std::vector<double> tree_sums_;   // by event since the weights were learned and group: sum of the trees' means
    std::vector<double> estimates_;   // by such an event: estimate of the line for its action
    std::vector<double> rewards_;     // by such an event
};

}  // namespace bandit_forest
