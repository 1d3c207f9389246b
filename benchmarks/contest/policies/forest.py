"""Bandit Forest: the default behind the default encoder, and the paper's."""

from __future__ import annotations

from typing import Any

from bandit_forest import BanditForest
from bandit_forest.encoding import ContextEncoder
from contest.game import Contestant, Game
from contest.policies.playing import play_policy
from contest.stream import Stream, binary_contexts

__all__ = ["DEFAULT", "PAPER", "play_default", "play_paper"]


def play_default(stream: Stream, **parameters: Any) -> Game:
    """Play the default forest behind the default encoder, with the parameters of a variant if there are any."""
    encoder = ContextEncoder()
    contexts = encoder.fit_transform(stream.columns)
    forest = BanditForest(
        n_variables=encoder.n_variables,
        n_actions=stream.n_actions,
        thresholds=encoder.thresholds,
        seed=stream.shuffle,
        **parameters,
    )
    return play_policy(forest, contexts, stream)


def play_paper(stream: Stream) -> Game:
    """Play the forest of the paper's experiments on five one-hot bins."""
    contexts = binary_contexts(stream, n_bins=5)
    forest = BanditForest.paper(n_variables=contexts.shape[1], n_actions=stream.n_actions, seed=stream.shuffle)
    return play_policy(forest, contexts, stream)


DEFAULT = (Contestant("forest", "", play_default),)
PAPER = (Contestant("paper", "", play_paper),)
