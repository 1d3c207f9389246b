"""The random streams on which the core and its specification are compared."""

import numpy as np


def world(parameters, *, n_events, fractional, seed):
    """A stream in which two variables and the action decide the reward, so that paths do settle."""
    rng = np.random.default_rng(seed)
    n_variables, n_actions = parameters["n_variables"], parameters["n_actions"]
    contexts = (rng.random((n_events, n_variables)) < 0.5).astype(np.uint8)
    for variable, thresholds in (parameters.get("thresholds") or {}).items():
        contexts[:, variable] = rng.integers(0, len(thresholds) + 1, n_events)
    best = (contexts[:, 0].astype(int) + 2 * contexts[:, -1]) % n_actions
    means = np.full((n_events, n_actions), 0.1)
    means[np.arange(n_events), best] = 0.9
    rewards = means * rng.random((n_events, n_actions)) if fractional else rng.random((n_events, n_actions)) < means
    return contexts, rewards.astype(np.float64)
