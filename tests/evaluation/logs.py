"""Logs of known worlds, small and the same each time."""

from __future__ import annotations

import numpy as np

from bandit_forest.evaluation import Log


def honest_log(
    n_events: int = 4000, *, n_actions: int = 3, n_variables: int = 4, seed: int = 0, greed: float = 1.5
) -> tuple[Log, np.ndarray]:
    """Return a log of a softmax policy, and the true mean reward of every action, one row per event."""
    rng = np.random.default_rng(seed)
    contexts = rng.integers(0, 2, (n_events, n_variables), dtype=np.uint8)
    preference = rng.normal(size=(n_variables, n_actions))
    scores = np.exp(greed * (contexts @ preference))
    probabilities = 0.9 * scores / scores.sum(axis=1, keepdims=True) + 0.1 / n_actions
    means = 1 / (1 + np.exp(-(contexts - 0.5) @ rng.normal(size=(n_variables, n_actions))))
    actions = (probabilities.cumsum(axis=1) < rng.random(n_events)[:, None]).sum(axis=1).clip(max=n_actions - 1)
    rows = np.arange(n_events)
    rewards = (rng.random(n_events) < means[rows, actions]).astype(float)
    log = Log(
        actions=actions,
        rewards=rewards,
        propensities=probabilities[rows, actions],
        contexts=contexts,
        probabilities=probabilities,
        versions=rows // 100,
        times=1.7e9 + rows,
        action_names=n_actions,
    )
    return log, means


def changed(log: Log, **columns: object) -> Log:
    """Return a log with other columns."""
    given = {name: getattr(log, name) for name in ("actions", "rewards", "propensities", "contexts", "action_names")}
    return Log(**(given | columns))
