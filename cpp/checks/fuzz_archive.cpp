// libFuzzer on saved forests: the first byte says of which growth, the rest is what a file would hold. Whatever it is, it
// is refused by an exception, or makes a forest that decides and learns; and no allocation is far beyond its size.
//
// With BANDIT_FOREST_CORPUS a folder, forests to begin with are written there.
#include <sanitizer/allocator_interface.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>

#include "checks/examples.hpp"

namespace {

using namespace bandit_forest;

constexpr std::size_t times_the_file = 10;
constexpr std::size_t always_allowed = std::size_t{1} << 20U;  // what pools and logs begin with
thread_local std::size_t largest = 0;

void on_malloc(const volatile void*, std::size_t size) { largest = std::max(largest, size); }
void on_free(const volatile void*) {}

// The largest allocation that a call makes.
template <class Call>
std::size_t largest_allocation(Call&& call) {
    largest = 0;
    call();
    return largest;
}

template <class Growth>
void use(Forest<Growth>& forest, const examples::Events& events) {
    std::vector<std::int64_t> actions(events.actions.size());
    std::vector<double> propensities(events.actions.size());
    const std::vector<std::uint64_t> all{(1U << examples::n_actions) - 1U};
    forest.decide(events.contexts(), all, {}, actions, propensities);
    forest.learn(events.contexts(), events.actions, events.rewards, events.propensities);
    forest.save();
}

void refuse_large(std::size_t allocated, std::size_t least, std::size_t file) {
    if (allocated > std::max({least, always_allowed, times_the_file * file})) {
        std::fprintf(stderr, "an allocation of %zu bytes for a file of %zu\n", allocated, file);
        std::abort();
    }
}

template <class Growth>
void load(const typename Growth::Settings& settings, std::span<const char> saved, const examples::Events& events) {
    static const std::size_t least = largest_allocation([&] {  // pools begin with a chunk
        Forest<Growth> forest(settings);
        use(forest, events);
    });
    largest = 0;
    try {
        Forest<Growth> forest(settings, saved);
        refuse_large(largest, least, saved.size());
        use(forest, events);
    } catch (const std::invalid_argument&) {
        refuse_large(largest, least, saved.size());
    }
}

// Calls visit(growth's forest type, settings) for the growth of a number.
template <class Visit>
void with_growth(std::uint8_t number, Visit&& visit) {
    static const EliminationSettings elimination = examples::elimination();
    static const GreedySettings greedy[] = {examples::greedy(false, false), examples::greedy(false, true),
                                            examples::greedy(true, false), examples::greedy(true, true)};
    if (number % 5 == 0) {
        visit.template operator()<EliminationGrowth>(elimination, std::vector<std::uint16_t>());
    } else {
        const GreedySettings& settings = greedy[number % 5 - 1];
        visit.template operator()<GreedyGrowth>(settings, settings.levels);
    }
}

void write_corpus(const std::string& folder) {
    for (std::uint8_t number = 0; number < 5; ++number) {
        for (const std::size_t n_events : {0U, 30U, 300U, 1000U}) {
            with_growth(number, [&]<class Growth>(const typename Growth::Settings& settings, const auto& levels) {
                Forest<Growth> forest(settings);
                use(forest, examples::Events(n_events, 3, levels));
                std::ofstream file(folder + "/" + std::to_string(number) + "-" + std::to_string(n_events), std::ios::binary);
                file << static_cast<char>(number) << forest.save();
            });
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
    if (const char* folder = std::getenv("BANDIT_FOREST_CORPUS")) {
        write_corpus(folder);
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    with_growth(data[0], [&]<class Growth>(const typename Growth::Settings& settings, const auto& levels) {
        const examples::Events events(5, 11, levels);
        load<Growth>(settings, {reinterpret_cast<const char*>(data) + 1, size - 1}, events);
    });
    return 0;
}
