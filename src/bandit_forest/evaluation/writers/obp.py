"""Logs as Open Bandit Pipeline's dictionary of arrays."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.atomic import replacing
from bandit_forest.errors import refuse
from bandit_forest.evaluation.log import Log, Source
from bandit_forest.evaluation.writers.events import of_fixed_actions, rewarded

__all__ = ["obp_feedback", "write_obp"]


def write_obp(log: Source, path: str | os.PathLike[str]) -> int:
    """Write a log as an `.npz` file for Open Bandit Pipeline; return the number of events written.

    Events without a reward are left out. The arrays are those of `obp_feedback`, and the names of actions, variables
    and features. They are in memory all at once.
    """
    batches = [of_fixed_actions(rewarded(batch), "write_obp") for batch in log.batches()]
    parts = [obp_feedback(batch) for batch in batches]
    if not parts:
        refuse("log", "write_obp", "one with at least one event", log)
    joined = {
        name: np.concatenate([part[name] for part in parts]) for name, value in parts[0].items() if np.ndim(value)
    }
    names = {
        "action_names": np.array(log.action_names),
        "variable_names": np.array(batches[0].variable_names),
        "feature_names": np.array(list(batches[0].features or ())),
    }
    n_events = len(joined["action"])
    arrays: dict[str, Any] = {"n_rounds": n_events, "n_actions": len(log.action_names), **joined}
    arrays |= {name: value for name, value in names.items() if value.size}
    with replacing(path) as stream:
        np.savez(stream, **arrays)
    return n_events


def obp_feedback(log: Log) -> dict[str, Any]:
    """Return the dictionary that Open Bandit Pipeline calls `bandit_feedback`.

    Examples
    --------
    >>> log = Log(actions=[1], rewards=[1.0], propensities=[0.25], contexts=[[0, 1]], action_names=2)
    >>> feedback = obp_feedback(log)
    >>> feedback["n_actions"], feedback["pscore"]
    (2, array([0.25]))
    """
    feedback: dict[str, Any] = {
        "n_rounds": len(log),
        "n_actions": log.n_actions,
        "context": _context(log),
        "action": log.actions,
        "reward": log.rewards,
        "pscore": log.propensities,
        "position": np.zeros(len(log), dtype=np.int64),
    }
    if log.probabilities is not None:
        feedback["pi_b"] = log.probabilities[:, :, None]
    if "expected_reward" in log.columns:
        feedback["expected_reward"] = log.columns["expected_reward"]
    return feedback


def _context(log: Log) -> NDArray[Any]:
    if log.contexts is not None:
        return log.contexts
    for name, values in (log.features or {}).items():
        if values.dtype.kind not in "biuf":
            refuse(name, "obp_feedback", "a column of numbers; encode texts first", values)
    columns = [values.astype(np.float64) for values in (log.features or {}).values()]
    return np.stack(columns, axis=1) if columns else np.zeros((len(log), 0))
