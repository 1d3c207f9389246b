"""What a policy hands back, and the row that is kept of it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from contest.stream import Stream

__all__ = ["N_BLOCKS", "WINDOWS", "Contestant", "Game", "describe_game"]

N_BLOCKS = 50
"""Consecutive parts of a stream whose right actions are counted, for paired tests and learning curves."""
WINDOWS = ("all", "first_1000", "first_5000", "last_fifth")
PACKAGES = ("bandit-forest", "vowpalwabbit", "lightgbm", "numpy")


class Game(NamedTuple):
    """What a policy did on a stream."""

    actions: NDArray[np.intp]
    """The action of each event."""
    seconds: float
    """Time to decide and learn; features were encoded before."""


class Contestant(NamedTuple):
    """A policy with one setting."""

    policy: str
    setting: str
    """What distinguishes it from the others of the same policy; empty if there are none."""
    play: Callable[[Stream], Game]


def describe_game(stream: Stream, contestant: Contestant, game: Game) -> dict[str, Any]:
    """Return the row of a game.

    The score is the share of right actions. Without noise it is the average reward. With noise the expected reward is
    an increasing linear function of it, so that points mean the same in all modes. The reward that was paid is kept.
    """
    is_right = game.actions == stream.right_actions
    paid = stream.rewards[np.arange(stream.n_events), game.actions]
    windows = is_right, is_right[:1000], is_right[:5000], is_right[-(-4 * stream.n_events // 5) :]
    return {
        "set": stream.name,
        "mode": stream.mode,
        "shuffle": stream.shuffle,
        "policy": contestant.policy,
        "setting": contestant.setting,
        "events": stream.n_events,
        "actions": stream.n_actions,
        **{name: round(float(window.mean()), 6) for name, window in zip(WINDOWS, windows, strict=True)},
        "paid": round(float(paid.mean()), 6),
        "blocks": [round(float(block.mean()), 6) for block in np.array_split(is_right, N_BLOCKS)],
        "microseconds": round(1e6 * game.seconds / stream.n_events, 3),
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions
