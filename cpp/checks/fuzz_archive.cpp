// libFuzzer on saved forests: the first byte says of which kind, the rest is what a file would hold. Whatever it is, it
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

template <GrowthRule Growth>
void use(Forest<Growth>& forest, const examples::Events& events) {
    std::vector<std::int64_t> actions(events.actions.size());
    std::vector<double> propensities(events.actions.size());
    const std::vector<std::uint64_t> all{(1U << examples::n_actions) - 1U};
    forest.decide_many(events.contexts(), all, {}, actions, propensities);
    forest.learn_many(events.contexts(), events.actions, events.rewards, events.propensities);
    forest.save();
}

void use(PairForest& forest, const examples::Events& events) {
    const std::size_t n_context = examples::pairs().n_context_variables;
    const std::size_t n_action = examples::n_variables - n_context;
    const std::size_t n_events = events.actions.size();
    std::vector<std::uint8_t> contexts;
    std::vector<std::uint8_t> actions;
    std::vector<std::uint64_t> names;
    std::vector<std::int64_t> starts{0};
    for (std::size_t event = 0; event < n_events; ++event) {
        const auto row = events.values.begin() + static_cast<std::ptrdiff_t>(event * examples::n_variables);
        contexts.insert(contexts.end(), row, row + static_cast<std::ptrdiff_t>(n_context));
        actions.insert(actions.end(), row + static_cast<std::ptrdiff_t>(n_context),
                       row + static_cast<std::ptrdiff_t>(examples::n_variables));
        names.push_back(event % 90);
        starts.push_back(static_cast<std::int64_t>(event + 1));
    }
    const Contexts context_rows{contexts.data(), n_events, n_context};
    const Contexts action_rows{actions.data(), n_events, n_action};
    std::vector<std::int64_t> drawn(n_events);
    std::vector<double> propensities(n_events);
    forest.decide_many({context_rows, action_rows, names, starts}, {}, drawn, propensities);
    forest.learn_many(context_rows, action_rows, names, events.rewards);
    forest.save();
}

void refuse_large(std::size_t allocated, std::size_t least, std::size_t file) {
    if (allocated > std::max({least, always_allowed, times_the_file * file})) {
        std::fprintf(stderr, "an allocation of %zu bytes for a file of %zu\n", allocated, file);
        std::abort();
    }
}

template <class Kind>
void load(const typename Kind::Settings& settings, std::span<const char> saved, const examples::Events& events) {
    using Any = typename Kind::Type;
    static const std::size_t least = largest_allocation([&] {  // pools begin with a chunk
        Any forest(settings);
        use(forest, events);
    });
    largest = 0;
    try {
        Any forest(settings, saved);
        refuse_large(largest, least, saved.size());
        use(forest, events);
    } catch (const std::invalid_argument&) {
        refuse_large(largest, least, saved.size());
    }
}

template <GrowthRule Growth>
struct OfGrowth {
    using Type = Forest<Growth>;
    using Settings = typename Growth::Settings;
};

struct OfPairs {
    using Type = PairForest;
    using Settings = PairSettings;
};

constexpr std::uint8_t n_kinds = 6;

// Calls visit(kind of forest, its settings, levels of its variables) for the kind with a number.
template <class Visit>
void with_kind(std::uint8_t number, Visit&& visit) {
    static const EliminationSettings elimination = examples::elimination();
    static const GreedySettings greedy[] = {examples::greedy(false, false), examples::greedy(false, true),
                                            examples::greedy(true, false), examples::greedy(true, true)};
    static const PairSettings pairs = examples::pairs();
    const std::uint8_t kind = number % n_kinds;
    if (kind == 0) {
        visit.template operator()<OfGrowth<EliminationGrowth>>(elimination, std::vector<std::uint16_t>());
    } else if (kind == n_kinds - 1) {
        visit.template operator()<OfPairs>(pairs, pairs.levels);
    } else {
        visit.template operator()<OfGrowth<GreedyGrowth>>(greedy[kind - 1], greedy[kind - 1].levels);
    }
}

void write_corpus(const std::string& folder) {
    for (std::uint8_t number = 0; number < n_kinds; ++number) {
        for (const std::size_t n_events : {0U, 30U, 300U, 1000U}) {
            with_kind(number, [&]<class Kind>(const typename Kind::Settings& settings, const auto& levels) {
                typename Kind::Type forest(settings);
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
    with_kind(data[0], [&]<class Kind>(const typename Kind::Settings& settings, const auto& levels) {
        const examples::Events events(5, 11, levels);
        load<Kind>(settings, {reinterpret_cast<const char*>(data) + 1, size - 1}, events);
    });
    return 0;
}
