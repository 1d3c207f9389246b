"""How two policies are told apart: by what they decide from here on, and by what they would save."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bandit_forest.checks.streams import play_one_by_one, stream
from bandit_forest.checks.subject import require
from bandit_forest.policy import Decisions, Played, Policy

__all__ = ["require_same_decisions", "require_same_state", "saved_bytes", "saves"]


def require_same_decisions(left: Decisions | Played, right: Decisions | Played, what: str) -> None:
    """Require equal actions, and propensities that are equal but for rounding."""
    require(left.actions.shape == right.actions.shape, f"{what}: {left.actions.shape} against {right.actions.shape}")
    same = (left.actions == right.actions) & np.isclose(left.propensities, right.propensities, rtol=1e-9, atol=0.0)
    if not same.all():
        event = int(np.argmin(same))
        shown = [f"action {side.actions[event]} with propensity {side.propensities[event]}" for side in (left, right)]
        require(False, f"{what}: at event {event}, {shown[0]} against {shown[1]}")


def require_same_state(left: Policy, right: Policy, what: str) -> None:
    """Require that two policies would save the same file, if they save at all, and decide alike from here on.

    Both play on, so that they are used up afterwards.
    """
    if saves(left):
        require(saved_bytes(left) == saved_bytes(right), f"{what}: the saved files differ")
    events = stream(100, n_variables=left.n_variables, n_actions=left.n_actions, seed=11)
    require_same_decisions(play_one_by_one(left, events), play_one_by_one(right, events), what)


def saves(policy: Any) -> bool:
    """Return whether a policy can be saved and loaded."""
    return callable(getattr(policy, "save", None)) and callable(getattr(policy, "load", None))


def saved_bytes(policy: Any) -> bytes:
    """Return the file that a policy saves."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy"
        policy.save(path)
        return path.read_bytes()
