"""Another policy beside what was decided, on the same events: what it would have earned."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from bandit_forest.evaluation.statistics.evidence import Evidence, logged_evidence
from bandit_forest.evaluation.statistics.sequences import ValueSequence
from bandit_forest.evaluation.statistics.sums import Sums

__all__ = ["DECIDED", "POLICY", "Comparison", "forest_weight", "uniform_weight"]

DECIDED, POLICY = 0, 1
"""Places in the sums: what was decided, and the other policy."""

_BLOCK = 1024  # events that are summed up together, so that a reward costs next to nothing
_TRUNCATION = 3.0
_LEAST = 1e-60  # of a probability: products of four weights are still finite

Weight = tuple[float, float]
"""The weight of an event, and the square of it that was to be expected over all actions."""


def uniform_weight(propensity: float, n_available: int, *, largest: float = math.inf) -> Weight:
    """Return the weight of uniform play; the actions that were not taken count as equally likely.

    Examples
    --------
    >>> uniform_weight(0.25, 2)
    (2.0, 1.3333333333333333)
    """
    weight = min(1.0 / max(n_available * propensity, _LEAST), largest)
    chance = (1.0 - propensity) / max(n_available - 1, 1)
    other = min(1.0 / (n_available * chance), largest) if chance > 0.0 else 0.0
    return weight, propensity * weight**2 + (1.0 - propensity) * other**2


def forest_weight(propensity: float, n_available: int, *, agrees: bool, largest: float = math.inf) -> Weight:
    """Return the weight of the forest in shadow mode, by the action that it drew.

    The draw stands for its probabilities: on average over draws the weight is the forest's probability of the action,
    divided by its propensity.
    """
    chance = propensity if agrees else (1.0 - propensity) / max(n_available - 1, 1)
    weight = min(1.0 / max(chance, _LEAST), largest) if chance > 0.0 else 0.0
    return (weight if agrees else 0.0), chance * weight**2


class Comparison:
    """Sums of events, for the value of one policy and its gain over what was decided. Rewards are in [0, 1].

    Examples
    --------
    >>> comparison = Comparison()
    >>> comparison.add(1.0, (2.0, 2.0))
    >>> comparison.add(0.0, (2.0, 2.0))
    >>> sums, _ = comparison.summary()
    >>> sums.estimate(POLICY, "snips", 0.95).value
    0.5
    """

    def __init__(self) -> None:
        self._sums, self._sequence = Sums(2), ValueSequence()
        self._open: list[tuple[float, float, float]] = []

    @property
    def largest_weight(self) -> float:
        """The largest weight that the next event may have.

        Weights are truncated at a multiple of the square root of the number of events (Ionides, 2008): the share of one
        event whose action was as good as impossible goes to zero, and so does the bias. Limits of a confidence sequence
        stay valid: truncated weights make them wider.
        """
        return _TRUNCATION * math.sqrt(self._sums.n_events + len(self._open) + 1)

    def add(self, reward: float, weight: Weight) -> None:
        """Add an event."""
        self._open.append((reward, *weight))
        if len(self._open) == _BLOCK:
            self._sums, self._sequence = self.summary()
            self._open = []

    def summary(self) -> tuple[Sums, ValueSequence]:
        """Return the sums and the confidence sequence of all events; they change no more."""
        sequence = copy.deepcopy(self._sequence)
        if not self._open:
            return self._sums, sequence
        rewards, weights, squares = np.array(self._open).T
        sequence.add(weights, rewards)
        unknown = np.zeros(len(rewards))
        evidence = Evidence(rewards, weights, squares, unknown, unknown)
        return self._sums + Sums(2).add([logged_evidence(rewards), evidence]), sequence

    def to_json(self) -> dict[str, Any]:
        """Return an object that JSON can hold."""
        return {"sums": self._sums.to_json(), "sequence": self._sequence.to_json(), "open": list(self._open)}

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Comparison:
        """Read what `to_json` gave."""
        comparison = cls()
        comparison._sums = Sums.from_json(saved["sums"])
        comparison._sequence = ValueSequence.from_json(saved["sequence"])
        comparison._open = [tuple(event) for event in saved["open"]]
        return comparison
