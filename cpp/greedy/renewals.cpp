#include "greedy/renewals.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace bandit_forest {

void Renewals::advance(std::uint64_t n_events, const EventLog& log, Splitter& splitter, std::span<GreedyTree> trees) {
    balance_ += static_cast<std::int64_t>(n_events * settings_->renewal_work * n_trees_);
    if (grower_ && (!log.holds(first_) || first_ < change_.first())) {  // the log was too small for it, or the world changed
        grower_.reset();
        balance_ = 0;
    }
    for (std::size_t renewed = 0; renewed < n_trees_; ++renewed) {
        if (!grower_ && !start(log, trees)) {
            break;
        }
        if (!grow(log, splitter) || !catch_up(log)) {
            return;
        }
        trees[turn_] = std::move(grower_->tree());
        grower_.reset();
        turn_ = (turn_ + 1) % n_trees_;
    }
    balance_ = 0;  // no tree is renewed twice at a time, and nothing is saved up
}

// Trees are renewed from all events, or from those of a lifetime that came since the world last changed; not any more when
// the log does not hold them all.
bool Renewals::start(const EventLog& log, std::span<const GreedyTree> trees) {
    last_ = log.n_events();
    first_ = settings_->lifetime > 0 && last_ > settings_->lifetime ? last_ - settings_->lifetime : 0;
    first_ = std::max(first_, change_.first());
    if (!log.holds(first_)) {
        return false;
    }
    grower_.emplace(*settings_, first_tree_ + turn_, trees[turn_].generation() + 1, first_, last_);
    done_ = 0;
    learned_ = last_;
    return true;
}

bool Renewals::grow(const EventLog& log, Splitter& splitter) {
    while (!grower_->is_grown() && balance_ > 0) {
        const std::uint64_t cost = grower_->step(log, splitter);
        done_ += cost;
        balance_ -= static_cast<std::int64_t>(cost);
    }
    return grower_->is_grown() && balance_ >= 0;
}

bool Renewals::catch_up(const EventLog& log) {
    const auto affordable = static_cast<std::uint64_t>(std::max<std::int64_t>(balance_, 0));
    const std::uint64_t last = std::min(log.n_events(), learned_ + affordable);
    balance_ -= static_cast<std::int64_t>(last - learned_);
    learn(log, last);
    return learned_ == log.n_events();
}

// Learns the events up to `last`. Some descend together, so that their cache misses overlap.
void Renewals::learn(const EventLog& log, std::uint64_t last) {
    constexpr std::size_t together = 16;
    const Records records = log.records();
    const Tree& shape = grower_->tree().tree();
    while (learned_ < last) {
        const auto first = static_cast<EventId>(learned_);
        const std::size_t n = std::min<std::uint64_t>(together, last - learned_);
        std::array<NodeId, together> nodes{};
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t i = 0; i < n; ++i) {
                const Step& step = shape.step(nodes[i]);
                if (!shape.is_leaf(nodes[i])) {
                    nodes[i] = step.child + (records.passes(first + static_cast<EventId>(i), step.test) ? 1U : 0U);
                    moved = true;
                }
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            const EventId event = first + static_cast<EventId>(i);
            grower_->tree().learn(shape.step(nodes[i]).child, records.action(event), records.reward(event));
        }
        learned_ += n;
    }
}

void Renewals::redo(const EventLog& log, std::span<const GreedyTree> trees) {
    const std::uint64_t learned = std::exchange(learned_, last_);
    require(first_ <= last_ && last_ <= learned && learned <= log.n_events() && log.holds(first_),
            "a renewal is of events that are not there");
    Splitter splitter(*settings_);
    grower_.emplace(*settings_, first_tree_ + turn_, trees[turn_].generation() + 1, first_, last_);
    std::uint64_t redone = 0;
    while (redone < done_ && !grower_->is_grown()) {
        redone += grower_->step(log, splitter);
    }
    require(redone == done_ && (learned == last_ || grower_->is_grown()), "a renewal has not done what it counts");
    learn(log, learned);
}

}  // namespace bandit_forest
