// The narrow door to Python: settings, forests and baselines, with numbers and contiguous arrays, and the fields of JSON
// objects. Arguments have been checked in Python, objects are checked here.
#include "python/binding.hpp"
#include "python/unlocked.hpp"

NB_MODULE(_core, m) {
    nanobind::set_leak_warnings(false);  // threads that run until the interpreter exits keep their forests: no news to users
    m.doc() = "The compiled engine. Arguments are checked by bandit_forest.forest, not here.";
    bandit_forest::ForkGate::guard_forks();
    bandit_forest::bind_settings(m);
    bandit_forest::bind_forests(m);
    bandit_forest::bind_pairs(m);
    bandit_forest::bind_fields(m);
    bandit_forest::bind_baselines(m);
}
