#include "greedy/grower.hpp"

#include <algorithm>
#include <bit>

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
            return part(records(log));
        case Phase::joining:
            return join();
        case Phase::settling:
            return settle(records(log));
        case Phase::visiting:
            break;
    }
    return visit(log, splitter);
}

std::span<const EventId> TreeGrower::sample_of(const Pending& node) {
    if (node.size() <= sample_size && (node.node != 0 || is_copied())) {
        return std::span<const EventId>(events_).subspan(node.first, node.size());
    }
    const auto stride = static_cast<std::uint32_t>((node.size() + sample_size - 1) / sample_size);
    sample_.clear();
    for (std::uint32_t index = node.first; index < node.last; index += stride) {
        sample_.push_back(event_at(index));
    }
    return sample_;
}

// The records of the events of the node that is worked on.
Records TreeGrower::records(const EventLog& log) const {
    const Records all = log.records();
    return is_copied() ? Records(all.variables(), copies_.data(), all.length(), most_copied_) : all;
}

// From here on, until all below this node is grown, the numbers of its events are their indices among the copies.
void TreeGrower::copy_events(const EventLog& log) {
    const Records all = log.records();
    copies_.resize(std::max(copies_.size(), here_.size() * all.length()));
    if (here_.node == 0) {
        events_.resize(here_.size());
    }
    for (std::uint32_t index = here_.first; index < here_.last; ++index) {
        if (index + ahead < here_.last) {
            all.prefetch(event_at(index + ahead));
        }
        const EventId number = index - here_.first;
        std::copy_n(all.at(event_at(index)), all.length(), copies_.data() + number * all.length());
        events_[index] = number;
    }
    copied_first_ = here_.first;
    copied_last_ = here_.last;
}

void TreeGrower::inherit() {
    parent_means_.assign(inherited_.end() - static_cast<std::ptrdiff_t>(settings_->n_actions), inherited_.end());
    inherited_.resize(inherited_.size() - settings_->n_actions);
}

std::optional<Split> TreeGrower::choose(NodeId node, std::size_t n_events, std::size_t n_sample, Splitter& splitter,
                                        std::uint64_t& cost) {
    splitter.summarise(parent_means_, means_, counts_);
    cost += work_.reading(n_sample);
    if (tree_.may_split(node) && n_events >= settings_->min_events) {
        const std::uint64_t key = mix(~tree_.tree().path(node).key, n_events);
        for (const bool others : {false, true}) {  // where the drawn variables are no good, the others are tried
            cost += work_.splitting(n_sample);
            if (const auto split = splitter.best(means_, key, others)) {
                return split;
            }
        }
    }
    return std::nullopt;
}

std::uint64_t TreeGrower::visit(const EventLog& log, Splitter& splitter) {
    here_ = pending_.back();
    pending_.pop_back();
    most_copied_ = std::max(word, std::bit_floor(copied_words / log.records().length()));
    if (here_.size() <= most_copied_ && !is_copied()) {
        copy_events(log);
    }
    if (here_.size() <= word) {
        return grow_small(log, splitter);
    }
    inherit();
    const std::span<const EventId> sample = sample_of(here_);
    splitter.take(records(log), sample);
    std::uint64_t cost = 0;
    cursor_ = failing_ = here_.first;
    if (const auto split = choose(here_.node, here_.size(), sample.size(), splitter, cost)) {
        split_ = *split;
        passing_.clear();
        phase_ = Phase::parting;
    } else if (sample.size() == here_.size()) {
        tree_.make_leaf(here_.node, means_, counts_);
    } else {
        std::ranges::fill(n_plays_, 0.0);
        std::ranges::fill(sums_, 0.0);
        phase_ = Phase::settling;
    }
    return cost;
}

std::uint64_t TreeGrower::grow_small(const EventLog& log, Splitter& splitter) {
    splitter.take(records(log), std::span<const EventId>(events_).subspan(here_.first, here_.size()));
    const std::uint64_t all = here_.size() < word ? (std::uint64_t{1} << here_.size()) - 1 : ~std::uint64_t{0};
    std::uint64_t cost = 0;
    small_.assign({{here_.node, all}});
    while (!small_.empty()) {
        const Small here = small_.back();
        small_.pop_back();
        inherit();
        if (here.events != all) {
            splitter.narrow(here.events);
        }
        const auto n_events = static_cast<std::size_t>(std::popcount(here.events));
        const auto split = choose(here.node, n_events, n_events, splitter, cost);
        if (!split) {
            tree_.make_leaf(here.node, means_, counts_);
            continue;
        }
        const std::uint64_t passing = splitter.passing(split->test);
        cost += work_.reading(n_events) + work_.reading(static_cast<std::size_t>(std::popcount(passing)));
        const NodeId child = tree_.split(here.node, split->test, split->gain);
        small_.push_back({child + 1, passing});
        small_.push_back({child, here.events & ~passing});
        inherited_.insert(inherited_.end(), means_.begin(), means_.end());
        inherited_.insert(inherited_.end(), means_.begin(), means_.end());
    }
    return cost;
}

std::uint64_t TreeGrower::part(const Records& records) {
    const std::uint32_t end = piece_end(here_.last);
    const std::uint64_t cost = work_.reading(end - cursor_);
    if (here_.node == 0 && !is_copied()) {
        events_.resize(end);
    }
    const std::size_t n_before = passing_.size();
    passing_.resize(n_before + (end - cursor_));
    EventId* const passing = passing_.data() + n_before;
    EventId* const failing = events_.data() + failing_;
    const ByteTest test = records.variables().byte_test(split_.test);
    std::size_t n_passing = 0;
    const auto part_events = [&](auto&& event_at) {
        for (std::uint32_t index = cursor_; index < end; ++index) {
            records.prefetch(event_at(std::min<std::uint32_t>(index + ahead, end - 1)));
            const EventId event = event_at(index);
            passing[n_passing] = event;  // to both sides, without a branch: the wrong one is overwritten
            failing[index - cursor_ - n_passing] = event;
            n_passing += std::size_t{test.passes(records.at(event))};
        }
    };
    if (here_.node == 0 && !is_copied()) {
        part_events([first = first_](std::uint32_t index) { return first + index; });
    } else {
        part_events([events = events_.data()](std::uint32_t index) { return events[index]; });
    }
    failing_ += end - cursor_ - static_cast<std::uint32_t>(n_passing);
    cursor_ = end;
    passing_.resize(n_before + n_passing);
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

std::uint64_t TreeGrower::settle(const Records& records) {
    const std::uint32_t end = piece_end(here_.last);
    const std::uint64_t cost = work_.reading(end - cursor_);
    for (; cursor_ < end; ++cursor_) {
        const EventId event = event_at(cursor_);
        n_plays_[records.action(event)] += 1.0;
        sums_[records.action(event)] += static_cast<double>(records.reward(event));
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
