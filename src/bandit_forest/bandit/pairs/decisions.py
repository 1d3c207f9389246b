"""Decisions among offered actions: each has the id of the chosen action, and the features that `learn` needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.decisions import places

__all__ = ["PairDecision", "PairDecisions", "PairRanking", "Read"]

Read = bytes | dict[str, Any]
"""A checked context or action: its variables, one byte each, or as it came while the features are learned."""


class PairDecision(NamedTuple):
    """A decision for one of the offered actions, to pass to `PairBandit.learn` with its reward."""

    action: str | int
    """The id of the action."""
    propensity: float
    """The probability with which the action was drawn."""
    version: int
    """Number of lessons that the bandit had learned."""
    context: Read
    """The checked context, as `learn` needs it."""
    features: Read
    """The checked features of the action, as `learn` needs them."""

    def __repr__(self) -> str:
        return f"PairDecision(action={self.action!r}, propensity={self.propensity:.4g}, version={self.version})"


class PairRanking(NamedTuple):
    """The offered actions, in an order that was drawn without replacement."""

    first: PairDecision
    """The action of the first rank, to be learned with its reward."""
    actions: list[str | int]
    """The ids of all ranked actions, the first rank first."""
    propensities: dict[str | int, float]
    """The probability with which each offered action would have had the first rank."""


class PairDecisions(Sequence[PairDecision]):
    """The decisions of a batch, to pass to `PairBandit.learn_many` with their rewards.

    A slice, a mask or an array of numbers selects some of them, such as those whose rewards are known.

    Parameters
    ----------
    events
        The value of each event in the column of events.
    decisions
        The decision of each event.
    """

    def __init__(self, events: list[Any], decisions: list[PairDecision]) -> None:
        self.events = events
        self._decisions = decisions

    @property
    def actions(self) -> list[str | int]:
        """The ids of the chosen actions."""
        return [decision.action for decision in self._decisions]

    @property
    def propensities(self) -> list[float]:
        """The probability with which each action was drawn."""
        return [decision.propensity for decision in self._decisions]

    def __len__(self) -> int:
        return len(self._decisions)

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> PairDecision: ...

    @overload
    def __getitem__(self, index: slice | Sequence[Any] | NDArray[Any]) -> PairDecisions: ...

    def __getitem__(self, index: Any) -> PairDecision | PairDecisions:
        if isinstance(index, int | np.integer):
            return self._decisions[int(index)]
        chosen = places(index, len(self), "PairDecisions")
        return PairDecisions([self.events[place] for place in chosen], [self._decisions[place] for place in chosen])

    def __iter__(self) -> Iterator[PairDecision]:
        return iter(self._decisions)

    def __repr__(self) -> str:
        return f"<PairDecisions: {len(self)} events>"
