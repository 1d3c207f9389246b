"""The baselines of this package, on five one-hot bins."""

from __future__ import annotations

from functools import partial

import numpy as np

from bandit_forest.baselines import LinUCB, NeuralBandit, Uniform
from contest.game import Contestant, Game
from contest.policies.playing import play_policy
from contest.stream import Stream, binary_contexts

__all__ = ["CONSTANT", "LIN_UCB", "NEURAL_BANDIT", "UNIFORM", "play_lin_ucb", "play_neural_bandit", "play_uniform"]

N_BINS = 5
WIDTHS = (0.05, 0.1, 0.2, 0.5, 1.0)
RATES = ((0.003, 0.01, 0.03), (0.03, 0.1, 0.3))
"""Learning rates of the committees of NeuralBandit: the defaults, for long streams, and ten times faster ones."""


def play_lin_ucb(stream: Stream, *, width: float) -> Game:
    """Play LinUCB."""
    contexts = binary_contexts(stream, n_bins=N_BINS)
    policy = LinUCB(n_variables=contexts.shape[1], n_actions=stream.n_actions, width=width)
    return play_policy(policy, contexts, stream)


def play_neural_bandit(stream: Stream, *, rates: tuple[float, ...]) -> Game:
    """Play NeuralBandit with its default hidden units and exploration."""
    contexts = binary_contexts(stream, n_bins=N_BINS)
    policy = NeuralBandit(
        n_variables=contexts.shape[1], n_actions=stream.n_actions, learning_rates=rates, seed=stream.shuffle
    )
    return play_policy(policy, contexts, stream)


def play_uniform(stream: Stream) -> Game:
    """Play each action with the same probability."""
    nothing = np.zeros((stream.n_events, 1), dtype=np.uint8)
    return play_policy(Uniform(n_variables=1, n_actions=stream.n_actions, seed=stream.shuffle), nothing, stream)


def play_constant(stream: Stream) -> Game:
    """Play the one action that is right most often, known in hindsight."""
    best = np.bincount(stream.right_actions, minlength=stream.n_actions).argmax()
    return Game(np.full(stream.n_events, best, dtype=np.intp), 0.0)


LIN_UCB = tuple(Contestant("linucb", f"width {width}", partial(play_lin_ucb, width=width)) for width in WIDTHS)
NEURAL_BANDIT = tuple(
    Contestant("neuralbandit", f"rates {', '.join(map(str, rates))}", partial(play_neural_bandit, rates=rates))
    for rates in RATES
)
UNIFORM = (Contestant("uniform", "", play_uniform),)
CONSTANT = (Contestant("constant", "", play_constant),)
