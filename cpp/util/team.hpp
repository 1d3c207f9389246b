// Threads that work on the same events side by side, each on its own trees.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace bandit_forest {

// Trees, or events, in a row.
struct Range {
    std::size_t first;
    std::size_t last;  // the one behind

    std::size_t size() const { return last - first; }
};

class Team {
   public:
    using Meeting = std::uint32_t;  // its number, modulo 2^32

    explicit Team(std::size_t n_members) : arrivals_(std::max<std::size_t>(n_members, 1)) {}

    // Calls work(member) on a thread for each member; the caller's is member 0.
    template <class Work>
    void run(Work&& work) {
        if (arrivals_.size() == 1) {
            work(std::size_t{0});
        } else {
            run_together(work);
        }
    }

    // Waits until all members are here.
    void meet(std::size_t member) { wait(arrive(member)); }

    // Reports the arrival of a member; returns the meeting that it may wait for when it has nothing else to do.
    Meeting arrive(std::size_t member) {
        std::atomic<Meeting>& arrivals = arrivals_[member].number;
        const Meeting meeting = arrivals.load(std::memory_order_relaxed) + 1;
        arrivals.store(meeting, std::memory_order_release);
        if (arrivals_.size() > 1) {
            arrivals.notify_all();
        }
        return meeting;
    }

    // They meet every few microseconds, so no member sleeps at once.
    void wait(Meeting meeting) const {
        for (const Arrivals& arrivals : arrivals_) {
            Meeting last = arrivals.number.load(std::memory_order_acquire);
            for (std::size_t spins = 0; is_before(last, meeting); ++spins) {
                if (spins > spins_before_sleep) {
                    arrivals.number.wait(last, std::memory_order_acquire);  // one of them waits for the forest
                } else if (spins > spins_before_yield) {
                    std::this_thread::yield();  // more threads than processors
                }
                last = arrivals.number.load(std::memory_order_acquire);
            }
        }
    }

    // Calls work(i) for each i < n, on whichever member is free, between two meetings.
    template <class Work>
    void share_out(std::size_t member, std::size_t n, Work&& work) {
        if (member == 0) {
            taken_.store(0, std::memory_order_relaxed);
        }
        meet(member);
        for (std::size_t i; (i = taken_.fetch_add(1, std::memory_order_relaxed)) < n;) {
            work(i);
        }
        meet(member);
    }

    // The share of a member, in whole groups. The first member has other work too, as much as for that many groups; while
    // there are enough, it has one group at least.
    Range share(std::size_t member, std::size_t n_trees, std::size_t group, std::size_t other_work) const {
        const std::size_t groups = (n_trees + group - 1) / group;
        const auto bound = [&](std::size_t i) {
            const std::size_t even = (groups + other_work) * i / arrivals_.size();
            const std::size_t least = std::min(i, groups * i / arrivals_.size());
            return i == 0 ? 0 : std::min(n_trees, std::max(least, even - std::min(even, other_work)) * group);
        };
        return {bound(member), bound(member + 1)};
    }

   private:
    // The others would wait for ever for a member that has thrown or could not be started, so the program ends.
    template <class Work>
    void run_together(Work&& work) noexcept {
        const auto surely = [&work](std::size_t member) noexcept { work(member); };
        std::vector<std::jthread> others;
        for (std::size_t member = 1; member < arrivals_.size(); ++member) {
            others.emplace_back(surely, member);
        }
        surely(0);
    }

    static constexpr std::size_t spins_before_yield = 2000;
    static constexpr std::size_t spins_before_sleep = 4000;

    // How often a member has arrived, on a cache line that only this member writes.
    struct alignas(64) Arrivals {
        std::atomic<Meeting> number{0};
    };
    static bool is_before(Meeting one, Meeting other) { return static_cast<std::int32_t>(one - other) < 0; }

    std::vector<Arrivals> arrivals_;     // by member
    std::atomic<std::size_t> taken_{0};  // parts of the present work that members have taken
};

}  // namespace bandit_forest
