// Threads that decide, learn, read and save the same forest side by side, for ThreadSanitizer; and equal forests whatever
// the number of threads that work on a batch.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "checks/examples.hpp"

namespace {

using namespace bandit_forest;

const std::vector<std::uint64_t> all_actions{(1U << examples::n_actions) - 1U};

template <GrowthRule Growth>
std::string learned(const typename Growth::Settings& settings, const examples::Events& events) {
    Forest<Growth> forest(settings);
    forest.learn_many(events.contexts(), events.actions, events.rewards, events.propensities);
    return forest.save();
}

template <GrowthRule Growth>
void share(const typename Growth::Settings& settings, const examples::Events& events) {
    Forest<Growth> forest(settings);
    const std::size_t n = events.actions.size();
    const std::span<const std::uint8_t> first(events.values.data(), examples::n_variables);
    const std::vector<std::function<void()>> works = {
        [&] { forest.learn_many(events.contexts(), events.actions, events.rewards, events.propensities); },
        [&] {
            std::vector<std::int64_t> actions(n);
            std::vector<double> propensities(n);
            forest.decide_many(events.contexts(), all_actions, {}, actions, propensities);
        },
        [&] {
            std::vector<double> means(n * examples::n_actions);
            forest.mean_rewards_many(events.contexts(), means);
        },
        [&] { forest.save(); },
        [&] {
            for (int i = 0; i < 200; ++i) {
                const std::shared_lock lock(forest.mutex());
                forest.decide(first, all_actions, {});
            }
        },
        [&] {
            for (int i = 0; i < 200; ++i) {
                const std::unique_lock lock(forest.mutex());
                forest.learn(first, 1, 0.5, 0.5);
            }
        },
    };
    std::vector<std::jthread> threads;
    threads.reserve(std::size(works));
    for (const auto& work : works) {
        threads.emplace_back([&work] {
            for (int i = 0; i < 5; ++i) {
                work();
            }
        });
    }
}

void require_equal(const std::string& one, const std::string& other, const char* what) {
    if (one != other) {
        std::fprintf(stderr, "%s differs with the number of threads\n", what);
        std::exit(1);
    }
}

}  // namespace

int main() {
    share<EliminationGrowth>(examples::elimination(), examples::Events(700, 5));
    for (const bool ordered : {false, true}) {
        for (const bool linear : {false, true}) {
            const GreedySettings settings = examples::greedy(ordered, linear, 2);
            const examples::Events events(700, 5, settings.levels);
            share<GreedyGrowth>(settings, events);
            require_equal(learned<GreedyGrowth>(examples::greedy(ordered, linear, 1), events),
                          learned<GreedyGrowth>(examples::greedy(ordered, linear, 3), events), "greedy growth");
        }
    }
    std::puts("no thread was in another's way");
    return 0;
}
