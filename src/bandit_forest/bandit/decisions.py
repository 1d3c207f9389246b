"""Decisions by name: each has its action, propensity and version, and the context that `learn` needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.model import EncodedContext
from bandit_forest.errors import refuse

__all__ = ["BanditDecision", "BanditDecisions", "places"]


class BanditDecision(NamedTuple):
    """A decision with the name of its action, to pass to `Bandit.learn` with its reward."""

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
    """The decisions of a batch, to pass to `Bandit.learn_many` with their rewards.

    A slice, a mask or an array of numbers selects some of them, such as those whose rewards are known.

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

    Examples
    --------
    >>> from bandit_forest import Bandit
    >>> bandit = Bandit(actions=["a", "b"])
    >>> decisions = bandit.decide_many({"age": [31, 64, 47]})
    >>> revenue = np.array([0.5, np.nan, 1.0])
    >>> is_known = ~np.isnan(revenue)
    >>> decisions[is_known]
    <BanditDecisions: 2 events, version 0>
    >>> bandit.learn_many(decisions[is_known], revenue[is_known])
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

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> BanditDecision: ...

    @overload
    def __getitem__(self, index: slice | Sequence[Any] | NDArray[Any]) -> BanditDecisions: ...

    def __getitem__(self, index: Any) -> BanditDecision | BanditDecisions:
        if isinstance(index, int | np.integer):
            place = int(index)
            return BanditDecision(
                self.actions[place], float(self.propensities[place]), self.version, self.contexts[place]
            )
        chosen = places(index, len(self), "BanditDecisions")
        actions, contexts = [self.actions[place] for place in chosen], [self.contexts[place] for place in chosen]
        return BanditDecisions(actions, self.propensities[chosen], self.version, contexts)

    def __iter__(self) -> Iterator[BanditDecision]:
        return (self[number] for number in range(len(self)))

    def __repr__(self) -> str:
        return f"<BanditDecisions: {len(self)} events, version {self.version}>"


def places(index: Any, n_events: int, owner: str) -> list[int]:
    """Return the places that a slice, a mask or an array of numbers selects.

    Examples
    --------
    >>> places(slice(1, None), 3, "BanditDecisions"), places([True, False, True], 3, "BanditDecisions")
    ([1, 2], [0, 2])
    """
    if isinstance(index, slice):
        return list(range(n_events))[index]
    rule = f"a number, a slice, a mask of {n_events} bools, or numbers from 0 to {n_events - 1}"
    try:
        listed = np.asarray(index).tolist()
    except ValueError:
        refuse("index", owner, rule, index)
    if not isinstance(listed, list):
        refuse("index", owner, rule, index)
    if len(listed) == n_events and all(isinstance(is_in, bool) for is_in in listed):
        return [place for place, is_in in enumerate(listed) if is_in]
    is_number = [isinstance(place, int) and not isinstance(place, bool) for place in listed]
    if not all(is_number) or not all(-n_events <= place < n_events for place in listed):
        refuse("index", owner, rule, index)
    return [place % n_events for place in listed]
