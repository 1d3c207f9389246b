"""Comparison of two policies that played the same events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Difference", "Standing", "paired_difference", "standing"]

POINT = 0.01
NORMAL_QUANTILE = 1.96
"""Two-sided, 5 %."""


class Difference(NamedTuple):
    """A mean of paired differences."""

    mean: float
    standard_error: float

    @property
    def is_significant(self) -> bool:
        """Whether the mean is beyond 1.96 standard errors from zero."""
        return abs(self.mean) > NORMAL_QUANTILE * self.standard_error


class Standing(NamedTuple):
    """On how many sets a policy is ahead, level and behind."""

    ahead: int
    level: int
    behind: int

    def __str__(self) -> str:
        return f"{self.ahead} / {self.level} / {self.behind}"


def paired_difference(ours: ArrayLike, theirs: ArrayLike) -> Difference:
    """Return the mean difference of two lists of scores of the same parts of streams.

    Parameters
    ----------
    ours, theirs
        Scores in the same order, at least two.
    """
    differences = np.asarray(ours, dtype=np.float64).ravel() - np.asarray(theirs, dtype=np.float64).ravel()
    return Difference(float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(differences.size)))


def standing(differences: Iterable[Difference], *, by_test: bool) -> Standing:
    """Return the number of sets with a difference for us, with none, and with one for them.

    Parameters
    ----------
    differences
        One per set.
    by_test
        Whether a difference counts if the paired test finds it; otherwise if it is at least half a point.
    """
    found = [(one.mean, one.is_significant if by_test else abs(one.mean) >= POINT / 2) for one in differences]
    ahead = sum(counts and mean > 0 for mean, counts in found)
    behind = sum(counts and mean < 0 for mean, counts in found)
    return Standing(ahead, len(found) - ahead - behind, behind)
