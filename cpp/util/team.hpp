// Threads that work on the same events side by side, each on its own trees.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
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
    explicit Team(std::size_t n_members) : n_members_(std::max<std::size_t>(n_members, 1)) {}

    // Calls work(member) on a thread for each member; the caller's is member 0.
    template <class Work>
    void run(Work&& work) {
        if (n_members_ == 1) {
            work(std::size_t{0});
        } else {
            run_together(work);
        }
    }

    // Waits until all members are here.
    void meet() { wait(arrive()); }

    // Tells the others that a member is here; gives the meeting that it may wait for, when it has nothing else to do.
    std::size_t arrive() {
        const std::size_t meeting = meetings_.load(std::memory_order_relaxed);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == n_members_) {
            arrived_.store(0, std::memory_order_relaxed);
            taken_.store(0, std::memory_order_relaxed);
            meetings_.store(meeting + 1, std::memory_order_release);
            meetings_.notify_all();
        }
        return meeting;
    }

    // They meet every few microseconds, so nobody sleeps at once.
    void wait(std::size_t meeting) const {
        for (std::size_t spins = 0; meetings_.load(std::memory_order_acquire) == meeting; ++spins) {
            if (spins > spins_before_sleep) {
                meetings_.wait(meeting, std::memory_order_acquire);  // one of them waits for the forest
            } else if (spins > spins_before_yield) {
                std::this_thread::yield();  // more threads than processors
            }
        }
    }

    // Calls work(i) for each i < n, on whichever member is free; a meeting goes before.
    template <class Work>
    void share_out(std::size_t n, Work&& work) {
        for (std::size_t i; (i = taken_.fetch_add(1, std::memory_order_relaxed)) < n;) {
            work(i);
        }
    }

    // The share of a member, in whole groups.
    Range share(std::size_t member, std::size_t n_trees, std::size_t group) const {
        const std::size_t groups = (n_trees + group - 1) / group;
        const auto bound = [&](std::size_t i) { return std::min(n_trees, groups * i / n_members_ * group); };
        return {bound(member), bound(member + 1)};
    }

   private:
    // The others would wait for ever for one that has thrown, or that could not be started: then the program ends.
    template <class Work>
    void run_together(Work&& work) noexcept {
        const auto surely = [&work](std::size_t member) noexcept { work(member); };
        std::vector<std::jthread> others;
        for (std::size_t member = 1; member < n_members_; ++member) {
            others.emplace_back(surely, member);
        }
        surely(0);
    }

    static constexpr std::size_t spins_before_yield = 2000;
    static constexpr std::size_t spins_before_sleep = 4000;

    std::size_t n_members_;
    std::atomic<std::size_t> arrived_{0};   // members at the present meeting
    std::atomic<std::size_t> meetings_{0};  // meetings that are over
    std::atomic<std::size_t> taken_{0};     // parts of the present work that members have taken
};

}  // namespace bandit_forest
