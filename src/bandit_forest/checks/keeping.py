"""Checks of what a policy keeps: its saved file, its copies, its memory."""

from __future__ import annotations

import copy
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bandit_forest.checks.comparing import require_same_state, saved_bytes, saves
from bandit_forest.checks.streams import play_one_by_one, stream, trained
from bandit_forest.checks.subject import Subject, require
from bandit_forest.policy import Policy

__all__ = ["copy_is_independent", "memory_is_bounded", "save_and_load_continues"]


def save_and_load_continues(subject: Subject) -> None:
    """Require a policy that was saved and loaded to go on as if it had never stopped."""
    for n_events in (0, 20, subject.n_events):
        policy = trained(subject, n_events)
        if not saves(policy):
            return
        loaded = _reloaded(policy)
        require(type(loaded) is type(policy), f"load gives a {type(loaded).__name__}, not a {type(policy).__name__}")
        require_same_state(policy, loaded, "a loaded policy goes on differently")


def copy_is_independent(subject: Subject) -> None:
    """Require a deep copy to go on like its original, and neither to learn what the other does."""
    for n_events in (0, 20, subject.n_events):
        policy = trained(subject, n_events)
        first, second = copy.deepcopy(policy), copy.deepcopy(policy)
        play_one_by_one(first, stream(100, seed=13))
        require_same_state(policy, trained(subject, n_events), "what a copy plays changes the original")
        require_same_state(second, trained(subject, n_events), "what the original plays changes a copy")


def memory_is_bounded(subject: Subject) -> None:
    """Require the size of a policy to stay what it is after the first events, though contexts never repeat.

    The size is the `n_bytes` of the policy, else the length of its pickle; and that of its saved file where it saves. A
    policy that grows up to a bound must be made with one that it reaches within the subject's `n_events`.
    """
    policy = subject.fresh(n_variables=64)
    require_bounded(policy, lambda seed: _use(policy, subject.n_events, seed=seed), subject.n_events)


def require_bounded(policy: Any, use: Callable[[int], None], n_events: int) -> None:
    """Require that a policy does not grow between its first events, played with seed 0, and the next, with seed 1."""
    use(0)
    before = _sizes(policy)
    use(1)
    for what, size in _sizes(policy).items():
        growth = size - before[what]
        fault = f"{what} grew from {before[what]} to {size} bytes in {n_events} further events"
        require(growth <= n_events // 4, fault)


def _use(policy: Policy, n_events: int, *, seed: int) -> None:
    """Play events, and also decide some that are never learned and learn some that were never decided."""
    policy.play(*stream(n_events, n_variables=64, seed=3 * seed))
    policy.decide_many(stream(n_events, n_variables=64, seed=3 * seed + 1).contexts)
    log = stream(n_events, n_variables=64, seed=3 * seed + 2).log()
    policy.learn_many(log.contexts, log.actions, log.rewards, propensities=log.propensities)


def _sizes(policy: Any) -> dict[str, int]:
    n_bytes = getattr(policy, "n_bytes", None)
    sizes = {"its pickle": len(pickle.dumps(policy))} if n_bytes is None else {"n_bytes": int(n_bytes)}
    return sizes | ({"its saved file": len(saved_bytes(policy))} if saves(policy) else {})


def _reloaded(policy: Any) -> Policy:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy"
        policy.save(path)
        loaded: Policy = policy.load(path)
        return loaded
