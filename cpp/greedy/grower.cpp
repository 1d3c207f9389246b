#include "greedy/grower.hpp"

#include <algorithm>

#include "policy/random.hpp"

namespace bandit_forest {

namespace {

constexpr std::size_t ahead = 16;  // records are fetched that many events before they are read

}  // namespace

TreeGrower::TreeGrower(const GreedySettings& settings, std::size_t number, std::uint64_t generation,
                       std::uint64_t first, std::uint64_t last)
    : settings_(&settings),
      work_(settings),
      tree_(settings, number, generation),
      first_(static_cast<EventId>(first)),
      means_(settings.n_actions),
      counts_(settings.n_actions),
      n_plays_(settings.n_actions),
      sums_(settings.n_actions) {
    events_.reserve(last - first);
    add_pending({0, 0, static_cast<std::uint32_t>(last - first)});
}

// A node inherits the means of the node that was worked on last, its parent; the root inherits zeros.
void TreeGrower::add_pending(const Pending& node) {
    pending_.push_back(node);
    inherited_.insert(inherited_.end(), means_.begin(), means_.end());
}

std::uint64_t TreeGrower::step(const EventLog& log, Splitter& splitter) {
    switch (phase_) {
        case Phase::parting:
            return part(log);
        case Phase::joining:
            return join();
        case Phase::settling:
            return settle(log);
        case Phase::visiting:
            break;
    }
    return visit(log, splitter);
}

std::span<const EventId> TreeGrower::sample_of(const Pending& node) {
    if (node.node != 0 && node.size() <= sample_size) {
        return std::span<const EventId>(events_).subspan(node.first, node.size());
    }
    const auto stride = static_cast<std::uint32_t>((node.size() + sample_size - 1) / sample_size);
    sample_.clear();
    for (std::uint32_t place = node.first; place < node.last; place += stride) {
        sample_.push_back(event_at(place));
    }
    return sample_;
}

std::uint64_t TreeGrower::visit(const EventLog& log, Splitter& splitter) {
    here_ = pending_.back();
    pending_.pop_back();
    parent_means_.assign(inherited_.end() - static_cast<std::ptrdiff_t>(settings_->n_actions), inherited_.end());
    inherited_.resize(inherited_.size() - settings_->n_actions);
    const std::span<const EventId> sample = sample_of(here_);
    splitter.take(log, sample);
    splitter.summarise(parent_means_, means_, counts_);
    std::uint64_t cost = work_.reading(sample.size());
    cursor_ = failing_ = here_.first;
    if (tree_.may_split(here_.node) && here_.size() >= settings_->min_events) {
        const std::uint64_t key = mix(~tree_.tree().path(here_.node).key, here_.size());
        for (const bool others : {false, true}) {  // where the drawn variables are no good, the others are tried
            cost += work_.splitting(sample.size());
            if (const auto split = splitter.best(means_, key, others)) {
                split_ = *split;
                passing_.clear();
                phase_ = Phase::parting;
                return cost;
            }
        }
    }
    if (sample.size() == here_.size()) {
        tree_.make_leaf(here_.node, means_, counts_);
    } else {
        std::ranges::fill(n_plays_, 0.0);
        std::ranges::fill(sums_, 0.0);
        phase_ = Phase::settling;
    }
    return cost;
}

std::uint64_t TreeGrower::part(const EventLog& log) {
    const std::uint32_t end = piece_end(here_.last);
    const std::uint64_t cost = work_.reading(end - cursor_);
    if (here_.node == 0) {
        events_.resize(end);
    }
    const std::size_t n_passing = passing_.size();
    passing_.resize(n_passing + (end - cursor_));
    EventId* passing = passing_.data() + n_passing;
    for (; cursor_ < end; ++cursor_) {
        if (cursor_ + ahead < end) {
            log.prefetch(event_at(cursor_ + ahead));
        }
        const EventId event = event_at(cursor_);
        const bool passes = log.passes(event, split_.test);
        *passing = event;  // to both sides, without a branch: the wrong one is overwritten
        events_[failing_] = event;
        passing += passes ? 1 : 0;
        failing_ += passes ? 0 : 1;
    }
    passing_.resize(static_cast<std::size_t>(passing - passing_.data()));
    if (end == here_.last) {
        cursor_ = 0;
        phase_ = Phase::joining;
    }
    return cost;
}

std::uint64_t TreeGrower::join() {
    const std::uint32_t end = piece_end(passing_.size());
    const std::uint64_t cost = work_.reading(end - cursor_);
    std::copy(passing_.begin() + cursor_, passing_.begin() + end, events_.begin() + failing_ + cursor_);
    cursor_ = end;
    if (end == passing_.size()) {
        const NodeId child = tree_.split(here_.node, split_.test, split_.gain);
        add_pending({child + 1, failing_, here_.last});
        add_pending({child, here_.first, failing_});
        phase_ = Phase::visiting;
    }
    return cost;
}

std::uint64_t TreeGrower::settle(const EventLog& log) {
    const std::uint32_t end = piece_end(here_.last);
    const std::uint64_t cost = work_.reading(end - cursor_);
    for (; cursor_ < end; ++cursor_) {
        const EventId event = event_at(cursor_);
        n_plays_[log.action(event)] += 1.0;
        sums_[log.action(event)] += static_cast<double>(log.reward(event));
    }
    if (end == here_.last) {
        for (std::size_t action = 0; action < settings_->n_actions; ++action) {
            const double prior = settings_->shrinkage * static_cast<double>(parent_means_[action]);
            means_[action] = n_plays_[action] > 0.0
                                 ? static_cast<float>((prior + sums_[action]) / (n_plays_[action] + settings_->shrinkage))
                                 : parent_means_[action];
            counts_[action] = static_cast<float>(std::min(n_plays_[action], 0x1p24));
        }
        tree_.make_leaf(here_.node, means_, counts_);
        phase_ = Phase::visiting;
    }
    return cost;
}

}  // namespace bandit_forest
