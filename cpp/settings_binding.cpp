// The door to the settings of forests, which have been checked in Python.
#include <nanobind/nanobind.h>

#include "binding.hpp"
#include "settings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bandit_forest {

namespace {

void bind_choices(nb::module_& m) {
    nb::enum_<Remaining>(m, "Remaining")
        .value("all", Remaining::all)
        .value("path", Remaining::path)
        .value("inherited", Remaining::inherited);
    nb::enum_<Estimate>(m, "Estimate")
        .value("plays", Estimate::plays)
        .value("visits", Estimate::visits)
        .value("scaled", Estimate::scaled)
        .value("weights", Estimate::weights);
    nb::enum_<Exploration>(m, "Exploration")
        .value("round_robin", Exploration::round_robin)
        .value("union_draw", Exploration::union_draw)
        .value("tree_draw", Exploration::tree_draw);
}

void bind_common(nb::module_& m) {
    nb::class_<Settings>(m, "Settings")
        .def(
            "__init__",
            [](Settings* self, std::size_t n_variables, std::size_t n_actions, std::size_t n_trees,
               std::size_t min_max_depth, std::size_t max_max_depth, double variable_share, std::size_t max_nodes,
               std::uint64_t seed, std::size_t n_threads) {
                new (self) Settings{n_variables,    n_actions, n_trees, min_max_depth, max_max_depth,
                                    variable_share, max_nodes, seed,    n_threads};
            },
            nb::kw_only(), "n_variables"_a, "n_actions"_a, "n_trees"_a, "min_max_depth"_a, "max_max_depth"_a,
            "variable_share"_a, "max_nodes"_a, "seed"_a, "n_threads"_a);
}

void bind_elimination(nb::module_& m) {
    nb::class_<EliminationSettings, Settings>(m, "EliminationSettings")
        .def(
            "__init__",
            [](EliminationSettings* self, const Settings& settings, double delta, double min_tolerance,
               double max_tolerance, std::size_t test_interval, double quorum, Remaining remaining, Estimate estimate,
               Exploration exploration) {
                new (self) EliminationSettings{settings, delta,     min_tolerance, max_tolerance, test_interval,
                                               quorum,   remaining, estimate,      exploration};
            },
            "settings"_a, nb::kw_only(), "delta"_a, "min_tolerance"_a, "max_tolerance"_a, "test_interval"_a, "quorum"_a,
            "remaining"_a, "estimate"_a, "exploration"_a);
}

void bind_greedy(nb::module_& m) {
    nb::class_<GreedySettings, Settings>(m, "GreedySettings")
        .def(
            "__init__",
            [](GreedySettings* self, const Settings& settings, std::size_t min_events, double min_gain, double shrinkage,
               double learning_share, std::size_t log_capacity, std::uint64_t lifetime, double greed, double optimism) {
                new (self) GreedySettings{settings,     min_events, min_gain, shrinkage, learning_share,
                                          log_capacity, lifetime,   greed,    optimism};
            },
            "settings"_a, nb::kw_only(), "min_events"_a, "min_gain"_a, "shrinkage"_a, "learning_share"_a,
            "log_capacity"_a, "lifetime"_a, "greed"_a, "optimism"_a);
}

}  // namespace

void bind_settings(nb::module_& m) {
    bind_choices(m);
    bind_common(m);
    bind_elimination(m);
    bind_greedy(m);
}

}  // namespace bandit_forest
