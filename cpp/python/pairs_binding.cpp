// The door to the forest over pairs. Whoever waits for it, or holds it for long, does so without the interpreter's lock.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <shared_mutex>
#include <string>
#include <tuple>
#include <utility>

#include "forest/importance.hpp"
#include "pairs/pair_forest.hpp"
#include "python/arrays.hpp"
#include "python/binding.hpp"
#include "python/unlocked.hpp"
#include "python/node_arrays.hpp"

using namespace nanobind::literals;

namespace bandit_forest {

namespace {

using Rows = InRows<std::uint8_t>;
using Numbers = std::optional<In<std::uint64_t>>;

// Each event must offer an action, and each action must be offered by an event.
Offers offers_of(const PairForest& forest, const Rows& contexts, const Rows& actions, const In<std::int64_t>& starts,
                 const Numbers& names) {
    const Offers offers{contexts_of(contexts, forest.n_context_variables()),
                        contexts_of(actions, forest.n_action_variables()), span_of(names, actions.shape(0)),
                        span_of(starts, contexts.shape(0) + 1)};
    refuse_unless(offers.first(0) == 0 && offers.first(offers.n_events()) == offers.actions.n_events &&
                      std::ranges::adjacent_find(offers.starts, std::ranges::greater_equal()) == offers.starts.end(),
                  "the actions do not begin where they must");
    return offers;
}

// What read(forest) gives back, computed while nobody learns and without the interpreter's lock.
template <class Read>
auto read(const PairForest& forest, Read&& read_forest) {
    const Unlocked unlocked;
    const std::shared_lock lock(forest.mutex());
    return read_forest(forest);
}

// A number for each offered action, which write(numbers) computes without the interpreter's lock.
template <class Write>
Out<double> numbers_of(const Rows& actions, Write&& write) {
    Buffer<double> numbers(actions.shape(0));
    {
        const Unlocked unlocked;
        write(numbers.span());
    }
    return numbers.template release<Out<double>>({actions.shape(0)});
}

void bind_making(nb::class_<PairForest>& bound) {
    bound.def(nb::init<const PairSettings&>(), "settings"_a)
        .def(
            "__init__",
            [](PairForest* self, const PairSettings& settings, const nb::bytes& saved) {
                new (self) PairForest(settings, std::span<const char>(saved.c_str(), saved.size()));
            },
            "settings"_a, "saved"_a)
        .def("save", [](PairForest& forest) {
            const std::string bytes = [&] {
                const Unlocked unlocked;
                return forest.save();
            }();
            return nb::bytes(bytes.data(), bytes.size());
        });
}

void bind_deciding(nb::class_<PairForest>& bound) {
    bound
        .def(
            "decide",
            [](PairForest& forest, const Rows& contexts, const Rows& actions, const In<std::int64_t>& starts,
               const Numbers& names, const Numbers& keys) {
                const Offers offers = offers_of(forest, contexts, actions, starts, names);
                const std::size_t n = offers.n_events();
                const std::span<const std::uint64_t> numbers = span_of(keys, n);
                Buffer<std::int64_t> chosen(n);
                Buffer<double> propensities(n);
                {
                    const Unlocked unlocked;
                    forest.decide_many(offers, numbers, chosen.span(), propensities.span());
                }
                return std::make_tuple(chosen.release<Out<std::int64_t>>({n}), propensities.release<Out<double>>({n}));
            },
            "contexts"_a, "actions"_a, "starts"_a, "names"_a.none(), "keys"_a.none())
        .def(
            "rank",
            [](PairForest& forest, const Rows& contexts, const Rows& actions, const In<std::int64_t>& starts,
               const Numbers& names, const Numbers& keys) {
                const Offers offers = offers_of(forest, contexts, actions, starts, names);
                const std::span<const std::uint64_t> numbers = span_of(keys, offers.n_events());
                const std::size_t n = offers.actions.n_events;
                Buffer<std::int64_t> orders(n);
                Buffer<double> propensities(n);
                {
                    const Unlocked unlocked;
                    forest.rank_many(offers, numbers, orders.span(), propensities.span());
                }
                return std::make_tuple(orders.release<Out<std::int64_t>>({n}), propensities.release<Out<double>>({n}));
            },
            "contexts"_a, "actions"_a, "starts"_a, "names"_a.none(), "keys"_a.none())
        .def(
            "propensities",
            [](const PairForest& forest, const Rows& contexts, const Rows& actions, const In<std::int64_t>& starts,
               const Numbers& names) {
                return numbers_of(actions, [&](std::span<double> out) {
                    forest.propensities_many(offers_of(forest, contexts, actions, starts, names), out);
                });
            },
            "contexts"_a, "actions"_a, "starts"_a, "names"_a.none())
        .def(
            "mean_rewards",
            [](const PairForest& forest, const Rows& contexts, const Rows& actions, const In<std::int64_t>& starts,
               const Numbers& names) {
                return numbers_of(actions, [&](std::span<double> out) {
                    forest.mean_rewards_many(offers_of(forest, contexts, actions, starts, names), out);
                });
            },
            "contexts"_a, "actions"_a, "starts"_a, "names"_a.none())
        .def(
            "learn",
            [](PairForest& forest, const Rows& contexts, const Rows& actions, const Numbers& names,
               const In<double>& rewards) {
                const Unlocked unlocked;
                const std::size_t n = contexts.shape(0);
                refuse_unless(actions.shape(0) == n, "each event must have an action");
                forest.learn_many(contexts_of(contexts, forest.n_context_variables()),
                                  contexts_of(actions, forest.n_action_variables()), span_of(names, n),
                                  span_of(rewards, n));
            },
            "contexts"_a, "actions"_a, "names"_a.none(), "rewards"_a);
}

void bind_telling(nb::class_<PairForest>& bound) {
    bound
        .def(
            "explained_variance",
            [](const PairForest& forest, std::size_t tree) {
                return as_array(read(forest, [&](const PairForest& held) {
                    return explained_variance(held.growth().tree(tree), 1);
                }));
            },
            "tree"_a)
        .def(
            "nodes",
            [](const PairForest& forest, std::size_t tree) {
                return read(forest, [&](const PairForest& held) {
                           return arrays_of(held.growth().tree(tree), held.settings());
                       }).release();
            },
            "tree"_a)
        .def(
            "max_depth",
            [](const PairForest& forest, std::size_t tree) {
                return read(forest, [&](const PairForest& held) { return held.growth().tree(tree).max_depth(); });
            },
            "tree"_a)
        .def_prop_ro("weights",
                     [](const PairForest& forest) {
                         return read(forest, [](const PairForest& held) {
                             return std::make_tuple(held.blend().trees(), held.blend().line(), held.names().weight(),
                                                         held.named().weight());
                         });
                     })
        .def_prop_ro("n_events",
                     [](const PairForest& forest) {
                         return read(forest, [](const PairForest& held) { return held.n_events(); });
                     })
        .def_prop_ro("n_nodes",
                     [](const PairForest& forest) {
                         return read(forest, [](const PairForest& held) {
                             std::size_t nodes = 0;
                             for (const Tree* tree : held.growth().shapes()) {
                                 nodes += tree->size();
                             }
                             return nodes;
                         });
                     })
        .def_prop_ro("n_bytes", [](const PairForest& forest) {
            return read(forest, [](const PairForest& held) { return held.n_bytes(); });
        });
}

}  // namespace

void bind_pairs(nb::module_& m) {
    nb::class_<PairSettings, GreedySettings>(m, "PairSettings")
        .def(nb::init<>())
        .def_rw("n_context_variables", &PairSettings::n_context_variables)
        .def_rw("n_names", &PairSettings::n_names)
        .def_rw("n_named_actions", &PairSettings::n_named_actions);
    nb::class_<PairForest> bound(m, "PairForest");
    bind_making(bound);
    bind_deciding(bound);
    bind_telling(bound);
}

}  // namespace bandit_forest
