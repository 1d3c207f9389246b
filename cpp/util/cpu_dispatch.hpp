// One portable binary with the faster paths of newer processors chosen at run time.
#pragma once

// The sanitizers' start-up does not bear functions that are chosen at run time.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#define BANDIT_FOREST_CPU_DISPATCH __attribute__((target_clones("avx2", "default")))
#else
#define BANDIT_FOREST_CPU_DISPATCH
#endif
