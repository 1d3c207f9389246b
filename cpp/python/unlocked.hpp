// Work without the interpreter's lock, and a fork that waits for it.
#pragma once

#include <nanobind/nanobind.h>

#include <mutex>
#include <new>
#include <shared_mutex>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace bandit_forest {

// Calls under way go through the gate together; a fork goes through it alone. A child process then finds no forest in the
// midst of a change, and no mutex that a thread holds which the child does not have.
class ForkGate {
   public:
    static ForkGate& instance() {
        static ForkGate gate;
        return gate;
    }

    std::shared_lock<std::shared_mutex> enter() {
        const std::lock_guard turn(turn_);  // held by a fork that waits, so that calls which go on coming let it in
        return std::shared_lock(calls_);
    }

    // Lets forks of this process wait for the calls under way; to be called once.
    static void guard_forks() {
#if defined(__unix__) || defined(__APPLE__)
        pthread_atfork([] { instance().close(); }, [] { instance().open(); }, [] { new (&instance()) ForkGate(); });
#endif
    }

   private:
    void close() {
        turn_.lock();
        calls_.lock();
    }

    void open() {
        calls_.unlock();
        turn_.unlock();
    }

    std::mutex turn_;
    std::shared_mutex calls_;
};

// While it lives, the interpreter runs other threads, and forks wait. Nothing in it may call Python.
class Unlocked {
   public:
    Unlocked() : call_(ForkGate::instance().enter()) {}

   private:
    nanobind::gil_scoped_release released_;  // first, so that nobody waits for a fork with the interpreter's lock
    std::shared_lock<std::shared_mutex> call_;
};

}  // namespace bandit_forest
