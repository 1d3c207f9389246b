// The parts of the door to Python, in the order in which they are bound.
#pragma once

#include <nanobind/nanobind.h>

namespace bandit_forest {

void bind_settings(nanobind::module_& m);
void bind_forests(nanobind::module_& m);
void bind_pairs(nanobind::module_& m);
void bind_fields(nanobind::module_& m);
void bind_baselines(nanobind::module_& m);

}  // namespace bandit_forest
