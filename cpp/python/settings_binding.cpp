// The door to the settings of forests, which have been checked in Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "python/binding.hpp"
#include "policy/settings.hpp"

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

// Settings are made empty and set field by field, by name: no two numbers can be swapped unnoticed.
void bind_common(nb::module_& m) {
    nb::class_<Settings>(m, "Settings")
        .def_rw("n_variables", &Settings::n_variables)
        .def_rw("n_actions", &Settings::n_actions)
        .def_rw("n_trees", &Settings::n_trees)
        .def_rw("depth_low", &Settings::depth_low)
        .def_rw("depth_high", &Settings::depth_high)
        .def_rw("variable_share", &Settings::variable_share)
        .def_rw("max_nodes", &Settings::max_nodes)
        .def_rw("seed", &Settings::seed)
        .def_rw("n_threads", &Settings::n_threads);
}

void bind_elimination(nb::module_& m) {
    nb::class_<EliminationSettings, Settings>(m, "EliminationSettings")
        .def(nb::init<>())
        .def_rw("delta", &EliminationSettings::delta)
        .def_rw("min_tolerance", &EliminationSettings::min_tolerance)
        .def_rw("max_tolerance", &EliminationSettings::max_tolerance)
        .def_rw("test_interval", &EliminationSettings::test_interval)
        .def_rw("quorum", &EliminationSettings::quorum)
        .def_rw("remaining", &EliminationSettings::remaining)
        .def_rw("estimate", &EliminationSettings::estimate)
        .def_rw("exploration", &EliminationSettings::exploration);
}

void bind_greedy(nb::module_& m) {
    nb::class_<GreedySettings, Settings>(m, "GreedySettings")
        .def(nb::init<>())
        .def_rw("levels", &GreedySettings::levels)
        .def_rw("min_events", &GreedySettings::min_events)
        .def_rw("min_gain", &GreedySettings::min_gain)
        .def_rw("shrinkage", &GreedySettings::shrinkage)
        .def_rw("n_thresholds", &GreedySettings::n_thresholds)
        .def_rw("renewal_work", &GreedySettings::renewal_work)
        .def_rw("log_capacity", &GreedySettings::log_capacity)
        .def_rw("lifetime", &GreedySettings::lifetime)
        .def_rw("linear", &GreedySettings::linear)
        .def_rw("gamma_scale", &GreedySettings::gamma_scale)
        .def_rw("optimism", &GreedySettings::optimism)
        .def_rw("linear_optimism", &GreedySettings::linear_optimism);
}

}  // namespace

void bind_settings(nb::module_& m) {
    bind_choices(m);
    bind_common(m);
    bind_elimination(m);
    bind_greedy(m);
}

}  // namespace bandit_forest
