"""The reward of every action in every event, drawn before anybody plays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bandit_forest.errors import refuse

__all__ = ["MODES", "draw_rewards"]

MODES = ("clean", "flipped", "rare", "fractional")
FLIPPED_SHARE = 0.2
"""Probability with which a reward is flipped, for each event and action on its own."""
PAID_SHARE = 0.2
"""Probability with which a right action is paid."""
RIGHT_SHAPE, WRONG_SHAPE = (4.0, 2.0), (2.0, 4.0)
"""Beta distributions of fractional rewards: their means are 2/3 for the right action and 1/3 for the others."""


def draw_rewards(*, mode: str, right_actions: NDArray[np.intp], n_actions: int, seed: int) -> NDArray[np.float64]:
    """Return the rewards of all actions, one row per event.

    In every mode the expected reward of the right action is the same in all events, and so is that of a wrong one.

    Parameters
    ----------
    mode
        'clean': 1 for the right action, 0 for the others. 'flipped': each of these flipped with probability 1/5.
        'rare': the right action is paid one time in five. 'fractional': Beta(4, 2) for the right action, Beta(2, 4)
        for the others.
    right_actions
        The right action of each event.
    n_actions
        Number of actions.
    seed
        Seed of the draws.
    """
    if mode not in MODES:
        refuse("mode", "draw_rewards", f"one of {', '.join(MODES)}", mode)
    generator = np.random.default_rng([seed, MODES.index(mode)])
    is_paid: NDArray[np.bool_] = right_actions[:, np.newaxis] == np.arange(n_actions)
    if mode == "fractional":
        shapes = np.where(is_paid[..., np.newaxis], RIGHT_SHAPE, WRONG_SHAPE)
        return generator.beta(shapes[..., 0], shapes[..., 1])
    if mode == "flipped":
        is_paid ^= generator.random(is_paid.shape) < FLIPPED_SHARE
    if mode == "rare":
        is_paid &= generator.random(is_paid.shape) < PAID_SHARE
    return is_paid.astype(np.float64)
