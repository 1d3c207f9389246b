"""Decisions by name: each knows its action, propensity and version, and what `learn` will need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.model import EncodedContext

__all__ = ["BanditDecision", "BanditDecisions"]


class BanditDecision(NamedTuple):
    """An action by name, to be given to `Bandit.learn` with its reward."""

    action: str
    propensity: float
    """The probability with which the action was drawn."""
    version: int
    """Number of lessons that the bandit had learned."""
    context: EncodedContext
    """The checked context, as `learn` needs it."""

    def __repr__(self) -> str:
        return f"BanditDecision(action={self.action!r}, propensity={self.propensity:.4g}, version={self.version})"


class BanditDecisions(Sequence[BanditDecision]):
    """The decisions of a batch, to be given to `Bandit.learn_many` with their rewards.

    Parameters
    ----------
    actions
        Name of the action of each event.
    propensities
        Probability with which each action was drawn.
    version
        Number of lessons that the bandit had learned.
    contexts
        The checked contexts, as `learn_many` needs them.
    """

    def __init__(
        self,
        actions: list[str],
        propensities: NDArray[np.float64],
        version: int,
        contexts: Sequence[EncodedContext],
    ) -> None:
        self.actions = actions
        self.propensities = propensities
        self.version = version
        self.contexts = contexts

    def __len__(self) -> int:
        return len(self.actions)

    def __getitem__(self, number: int) -> BanditDecision:  # type: ignore[override]
        return BanditDecision(
            self.actions[number], float(self.propensities[number]), self.version, self.contexts[number]
        )

    def __iter__(self) -> Iterator[BanditDecision]:
        return (self[number] for number in range(len(self)))

    def __repr__(self) -> str:
        return f"<BanditDecisions: {len(self)} events, version {self.version}>"
