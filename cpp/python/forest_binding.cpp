// The door to the forests. Who waits for a forest, or holds it for long, does so without the interpreter's lock; and no
// Python object is made while a forest is held, since that may run anything.
#include "forest/forest.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "python/arrays.hpp"
#include "python/binding.hpp"
#include "python/unlocked.hpp"
#include "elimination/elimination.hpp"
#include "python/explanation_arrays.hpp"
#include "greedy/growth.hpp"
#include "forest/importance.hpp"
#include "python/node_arrays.hpp"

using namespace nanobind::literals;

namespace bandit_forest {

namespace {

// What read(growth) gives back, computed while nobody learns and without the interpreter's lock.
template <GrowthRule Growth, class Read>
auto read(const Forest<Growth>& forest, Read&& read_growth) {
    const Unlocked unlocked;
    const std::shared_lock lock(forest.mutex());
    return read_growth(forest.growth());
}

// A number for each context and action, which write(contexts, numbers) computes without the interpreter's lock.
template <class Write>
OutRows<double> rows_of(const InRows<std::uint8_t>& contexts, const Settings& settings, Write&& write) {
    const Contexts rows = contexts_of(contexts, settings.n_variables);
    Buffer<double> numbers(rows.n_events * settings.n_actions);
    {
        const Unlocked unlocked;
        write(rows, numbers.span());
    }
    return numbers.template release<OutRows<double>>({rows.n_events, settings.n_actions});
}

// Making, and making again from what was saved.
template <GrowthRule Growth>
void bind_making(nb::class_<Forest<Growth>>& bound) {
    using Self = Forest<Growth>;
    bound
        .def(nb::init<const typename Self::Settings&>(), "settings"_a)
        .def(
            "__init__",
            [](Self* self, const typename Self::Settings& settings, const nb::bytes& saved) {
                new (self) Self(settings, std::span<const char>(saved.c_str(), saved.size()));
            },
            "settings"_a, "saved"_a)
        .def("save",
             [](Self& forest) {
                 const std::string bytes = [&] {
                     const Unlocked unlocked;
                     return forest.save();
                 }();
                 return nb::bytes(bytes.data(), bytes.size());
             });
}

// What every policy does.
template <GrowthRule Growth>
void bind_deciding(nb::class_<Forest<Growth>>& bound) {
    using Self = Forest<Growth>;
    bound
        .def(
            "decide",
            [](Self& forest, const Row<std::uint8_t>& context, const Row<bool>& available,
               std::optional<std::uint64_t> key) {
                const std::span<const std::uint8_t> codes = codes_of(context, forest.settings().n_variables);
                const std::vector<std::uint64_t> set = available_of(forest.settings().n_actions, available);
                const auto lock = lock_without_blocking<std::shared_lock<std::shared_mutex>>(forest.mutex());
                const Choice choice = forest.decide(codes, set, key);
                return std::make_pair(choice.action, choice.propensity);
            },
            "context"_a, "available"_a, "key"_a.none() = nb::none())
        .def(
            "learn",
            [](Self& forest, const Row<std::uint8_t>& context, std::size_t action, double reward, double propensity) {
                const auto lock = lock_without_blocking<std::unique_lock<std::shared_mutex>>(forest.mutex());
                forest.learn(codes_of(context, forest.settings().n_variables),
                             action_of(action, forest.settings().n_actions), reward, propensity);
            },
            "context"_a, "action"_a, "reward"_a, "propensity"_a)
        .def(
            "decide_many",
            [](Self& forest, const InRows<std::uint8_t>& contexts, const Row<bool>& available,
               const std::optional<In<std::uint64_t>>& keys) {
                const Contexts rows = contexts_of(contexts, forest.settings().n_variables);
                const std::size_t n = rows.n_events;
                const std::vector<std::uint64_t> sets = available_of(forest.settings().n_actions, available, n);
                const std::span<const std::uint64_t> numbers = span_of(keys, n);
                Buffer<std::int64_t> actions(n);
                Buffer<double> propensities(n);
                {
                    const Unlocked unlocked;
                    forest.decide_many(rows, sets, numbers, actions.span(), propensities.span());
                }
                return std::make_tuple(actions.template release<Out<std::int64_t>>({n}),
                                       propensities.template release<Out<double>>({n}));
            },
            "contexts"_a, "available"_a, "keys"_a.none() = nb::none())
        .def(
            "learn_many",
            [](Self& forest, const InRows<std::uint8_t>& contexts, const In<std::int64_t>& actions,
               const In<double>& rewards, const In<double>& propensities) {
                const Unlocked unlocked;
                const Contexts rows = contexts_of(contexts, forest.settings().n_variables);
                forest.learn_many(rows, actions_of(actions, rows.n_events, forest.settings().n_actions),
                                  span_of(rewards, rows.n_events), span_of(propensities, rows.n_events));
            },
            "contexts"_a, "actions"_a, "rewards"_a, "propensities"_a)
        .def(
            "play",
            [](Self& forest, const InRows<std::uint8_t>& contexts, const InRows<double>& rewards) {
                const Contexts rows = contexts_of(contexts, forest.settings().n_variables);
                const std::size_t n = rows.n_events;
                const std::span<const double> all = span_of(rewards, n, forest.settings().n_actions);
                Buffer<std::int64_t> actions(n);
                Buffer<double> propensities(n);
                Buffer<double> earned(n);
                {
                    const Unlocked unlocked;
                    forest.play(rows, all, actions.span(), propensities.span(), earned.span());
                }
                return std::make_tuple(actions.template release<Out<std::int64_t>>({n}),
                                       propensities.template release<Out<double>>({n}),
                                       earned.template release<Out<double>>({n}));
            },
            "contexts"_a, "rewards"_a);
}

// What a forest would do, and why.
template <GrowthRule Growth>
void bind_telling(nb::class_<Forest<Growth>>& bound) {
    using Self = Forest<Growth>;
    bound
        .def(
            "propensities",
            [](const Self& forest, const Row<std::uint8_t>& context, const Row<bool>& available) {
                const std::span<const std::uint8_t> codes = codes_of(context, forest.settings().n_variables);
                const std::vector<std::uint64_t> set = available_of(forest.settings().n_actions, available);
                return as_array(read(forest, [&](const Growth&) {
                    return forest.plan(codes, set).probabilities;
                }));
            },
            "context"_a, "available"_a)
        .def(
            "votes",
            [](const Self& forest, const Row<std::uint8_t>& context, const Row<bool>& available) {
                const std::span<const std::uint8_t> codes = codes_of(context, forest.settings().n_variables);
                const std::vector<std::uint64_t> set = available_of(forest.settings().n_actions, available);
                return as_array(read(forest, [&](const Growth& growth) {
                    return growth.votes(forest.leaves(codes), set);
                }));
            },
            "context"_a, "available"_a)
        .def(
            "mean_rewards",
            [](const Self& forest, const Row<std::uint8_t>& context) {
                const std::span<const std::uint8_t> codes = codes_of(context, forest.settings().n_variables);
                return as_array(read(forest, [&](const Growth& growth) {
                    return growth.mean_rewards(codes, forest.leaves(codes));
                }));
            },
            "context"_a)
        .def(
            "propensities_many",
            [](const Self& forest, const InRows<std::uint8_t>& contexts, const Row<bool>& available) {
                const std::vector<std::uint64_t> sets =
                    available_of(forest.settings().n_actions, available, contexts.shape(0));
                return rows_of(contexts, forest.settings(), [&](const Contexts& rows, std::span<double> out) {
                    forest.propensities_many(rows, sets, out);
                });
            },
            "contexts"_a, "available"_a)
        .def(
            "mean_rewards_many",
            [](const Self& forest, const InRows<std::uint8_t>& contexts) {
                return rows_of(contexts, forest.settings(),
                               [&](const Contexts& rows, std::span<double> out) { forest.mean_rewards_many(rows, out); });
            },
            "contexts"_a)
        .def(
            "explain",
            [](const Self& forest, const Row<std::uint8_t>& context, const Row<bool>& available) {
                const std::span<const std::uint8_t> codes = codes_of(context, forest.settings().n_variables);
                const std::vector<std::uint64_t> set = available_of(forest.settings().n_actions, available);
                return read(forest, [&](const Growth&) {
                           return ExplanationArrays(forest, codes, set);
                       }).release();
            },
            "context"_a, "available"_a)
        .def(
            "explained_variance",
            [](const Self& forest, std::size_t tree) {
                return as_array(read(forest, [&](const Growth& growth) {
                    return explained_variance(growth.tree(tree), forest.settings().n_actions);
                }));
            },
            "tree"_a)
        .def(
            "nodes",
            [](const Self& forest, std::size_t tree) {
                return read(forest, [&](const Growth& growth) {
                           return arrays_of(growth.tree(tree), forest.settings());
                       }).release();
            },
            "tree"_a)
        .def(
            "max_depth",
            [](const Self& forest, std::size_t tree) {
                return read(forest, [&](const Growth& growth) { return growth.tree(tree).max_depth(); });
            },
            "tree"_a);
}

// How large a forest is.
template <GrowthRule Growth>
void bind_counting(nb::class_<Forest<Growth>>& bound) {
    using Self = Forest<Growth>;
    bound
        .def_prop_ro("n_events",
                     [](const Self& forest) {
                         return read(forest, [&](const Growth&) { return forest.n_events(); });
                     })
        .def_prop_ro("n_nodes",
                     [](const Self& forest) {
                         return read(forest, [](const Growth& growth) {
                             std::size_t nodes = 0;
                             for (const Tree* tree : growth.shapes()) {
                                 nodes += tree->size();
                             }
                             return nodes;
                         });
                     })
        .def_prop_ro("n_bytes", [](const Self& forest) {
            return sizeof(Self) + read(forest, [](const Growth& growth) { return growth.n_bytes(); });
        });
}

// How much the trees and the linear part count.
std::pair<double, double> weights_of(const GreedyGrowth& growth) {
    const LinearPart* const linear = growth.linear();
    return linear == nullptr ? std::pair(1.0, 0.0) : std::pair(linear->blend().trees(), linear->blend().line());
}

// The groups of trees, and the line where there is one.
std::size_t n_parts(const GreedySettings& settings) {
    return GreedyGrowth::n_groups(settings) + (settings.linear ? 1 : 0);
}

Range parts_of(const GreedySettings& settings, std::size_t first, std::size_t last) {
    refuse_unless(first <= last && last <= n_parts(settings), "there are no such parts");
    return {first, last};
}

// Parts that learn apart, and what makes them one forest again.
void bind_parts(nb::class_<Forest<GreedyGrowth>>& bound) {
    using Self = Forest<GreedyGrowth>;
    bound.def_ro_static("trees_together", &GreedyGrowth::trees_together)
        .def(
            "learn_parts",
            [](Self& forest, const InRows<std::uint8_t>& contexts, const In<std::int64_t>& actions,
               const In<double>& rewards, std::size_t first, std::size_t last) {
                const Range parts = parts_of(forest.settings(), first, last);
                const Contexts rows = contexts_of(contexts, forest.settings().n_variables);
                const std::size_t n = rows.n_events;
                Buffer<double> notes(n * parts.size());
                {
                    const Unlocked unlocked;
                    forest.learn_parts(rows, actions_of(actions, n, forest.settings().n_actions), span_of(rewards, n),
                                       parts, notes.span());
                }
                return notes.release<OutRows<double>>({n, parts.size()});
            },
            "contexts"_a, "actions"_a, "rewards"_a, "first"_a, "last"_a)
        .def(
            "estimate_parts",
            [](const Self& forest, const InRows<std::uint8_t>& contexts, std::size_t first, std::size_t last) {
                const std::vector<double> estimates = [&] {
                    const Unlocked unlocked;
                    return forest.estimate_parts(contexts_of(contexts, forest.settings().n_variables),
                                                 parts_of(forest.settings(), first, last));
                }();
                const std::size_t n = contexts.shape(0);
                Buffer<double> rows(estimates.size());
                std::ranges::copy(estimates, rows.span().begin());
                return rows.release<OutRows<double>>({n, n == 0 ? 0 : estimates.size() / n});
            },
            "contexts"_a, "first"_a, "last"_a)
        .def(
            "decide_by",
            [](Self& forest, const InRows<double>& estimates) {
                const std::size_t n = estimates.shape(0);
                const std::span<const double> all = span_of(estimates, n, GreedyGrowth::n_partials(forest.settings()));
                Buffer<std::int64_t> actions(n);
                Buffer<double> propensities(n);
                {
                    const Unlocked unlocked;
                    forest.decide_by(all, actions.span(), propensities.span());
                }
                return std::make_tuple(actions.release<Out<std::int64_t>>({n}), propensities.release<Out<double>>({n}));
            },
            "estimates"_a)
        .def(
            "learn_weights",
            [](Self& forest, const InRows<double>& notes, const In<double>& rewards) {
                const std::size_t n = rewards.shape(0);
                const std::span<const double> all = span_of(notes, n, n_parts(forest.settings()));
                const std::uint64_t n_learned = read(forest, [&](const GreedyGrowth&) { return forest.n_events(); });
                refuse_unless(n <= n_learned, "there are notes about more events than were learned");
                const Unlocked unlocked;
                forest.learn_weights(all, span_of(rewards, n));
            },
            "notes"_a, "rewards"_a)
        .def("sections", [](Self& forest) {
            const std::vector<std::string> sections = [&] {
                const Unlocked unlocked;
                return forest.sections();
            }();
            nb::list made;
            for (const std::string& section : sections) {
                made.append(nb::bytes(section.data(), section.size()));
            }
            return made;
        }, nb::sig("def sections(self) -> list[bytes]"));
}

template <GrowthRule Growth>
nb::class_<Forest<Growth>> bind_forest(nb::module_& m, const char* name) {
    nb::class_<Forest<Growth>> bound(m, name);
    bind_making(bound);
    bind_deciding(bound);
    bind_telling(bound);
    bind_counting(bound);
    return bound;
}

}  // namespace

void bind_forests(nb::module_& m) {
    bind_forest<EliminationGrowth>(m, "EliminationForest");
    nb::class_<Forest<GreedyGrowth>> greedy = bind_forest<GreedyGrowth>(m, "GreedyForest");
    bind_parts(greedy);
    greedy
        .def_prop_ro("tree_weight",
                     [](const Forest<GreedyGrowth>& forest) {
                         return read(forest, [](const GreedyGrowth& growth) { return weights_of(growth).first; });
                     })
        .def_prop_ro("line_weight",
                     [](const Forest<GreedyGrowth>& forest) {
                         return read(forest, [](const GreedyGrowth& growth) { return weights_of(growth).second; });
                     })
        .def("linear_importance", [](const Forest<GreedyGrowth>& forest) {
            return as_array(read(forest, [](const GreedyGrowth& growth) { return growth.linear_importance(); }));
        });
}

}  // namespace bandit_forest
