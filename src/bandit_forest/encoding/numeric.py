"""Columns of numbers: one ordered variable, or one binary variable per bin."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.encoding.column import Column, check_bool
from bandit_forest.encoding.values import as_number, numbers
from bandit_forest.errors import refuse
from bandit_forest.variables import MOST_THRESHOLDS, number_text

__all__ = ["Binned", "Numeric"]


class _Cut(Column):
    """Numbers cut at limits: the outcome of a number is how many of them it reaches."""

    def outcome(self, value: object, name: str, owner: str) -> int:
        """Return how many limits a number reaches."""
        number = as_number(value, name, owner)
        return bisect_right(self.limits, number) if number == number else len(self.limits) + 1

    def outcomes(self, values: NDArray[Any], name: str, owner: str) -> NDArray[np.intp]:
        """Return how many limits each number reaches."""
        known = numbers(values, name, owner)
        reached = np.searchsorted(np.array(self.limits, dtype=np.float64), known, side="right")
        reached[np.isnan(known)] = len(self.limits) + 1
        return reached


@dataclass(frozen=True, kw_only=True)
class Numeric(_Cut):
    """Numbers as one ordered variable, whose code is the number of thresholds that a number reaches.

    A tree tests `code >= c`, which is shown as `age >= 38` if 38 is the c-th threshold. Every number has a code: below
    all thresholds it is 0, above all thresholds it is their number. The code of a missing value is 0.

    A single threshold makes a binary variable, `age >= 38`. Without thresholds the numbers have no variable.

    Parameters
    ----------
    thresholds
        Increasing numbers, at most 255.
    missing
        Whether a missing value sets a second, binary variable: `age is missing`.

    Examples
    --------
    >>> ages = Numeric(thresholds=[18, 38, 61])
    >>> [ages.outcome(age, "age", "example") for age in (17, 18, 40.5, 99)]
    [0, 1, 2, 3]
    """

    thresholds: Sequence[float]
    missing: bool = False

    def __post_init__(self) -> None:
        thresholds = _increasing(self.thresholds, "thresholds", "Numeric")
        if len(thresholds) > MOST_THRESHOLDS:
            refuse("thresholds", "Numeric", f"at most {MOST_THRESHOLDS} numbers", self.thresholds)
        check_bool(self.missing, "missing", "Numeric")
        object.__setattr__(self, "thresholds", thresholds)

    @property
    def limits(self) -> tuple[float, ...]:
        """The thresholds."""
        return tuple(self.thresholds)

    def outcome_names(self, name: str) -> list[str | None]:
        """Return the name of the variable that each outcome sets: the column's own, or the test of one threshold."""
        variable = f"{name} >= {number_text(self.thresholds[0])}" if len(self.thresholds) == 1 else name
        known = [variable] * (len(self.thresholds) + 1) if self.thresholds else [None]
        return [*known, self._missing_name(name), None]

    def outcome_codes(self) -> list[int]:
        """Return the code of each outcome: for a number, how many thresholds it reaches."""
        return [*range(len(self.thresholds) + 1), 1, 1]

    def ordered_thresholds(self) -> tuple[float, ...]:
        """Return the thresholds, unless a single one makes a binary variable."""
        return tuple(self.thresholds) if len(self.thresholds) > 1 else ()


@dataclass(frozen=True, kw_only=True)
class Binned(_Cut):
    """Numbers cut into bins, with one binary variable per bin; for two bins, one variable for the upper bin.

    The bins are below the first edge, between two edges, and from the last edge on. Every number has a bin, since the
    outer bins are open. Without edges the numbers have no variable.

    Parameters
    ----------
    edges
        Increasing numbers; each belongs to the bin on its right.
    missing
        Whether a missing value has a variable of its own.

    Examples
    --------
    >>> Binned(edges=[28, 37], missing=True).outcome_names("age")
    ['age < 28', 'age in [28, 37)', 'age >= 37', 'age is missing', None]
    """

    edges: Sequence[float]
    missing: bool = False

    def __post_init__(self) -> None:
        check_bool(self.missing, "missing", "Binned")
        object.__setattr__(self, "edges", _increasing(self.edges, "edges", "Binned"))

    @property
    def limits(self) -> tuple[float, ...]:
        """The edges."""
        return tuple(self.edges)

    def outcome_names(self, name: str) -> list[str | None]:
        """Return the name of the variable of each bin, None where it has none."""
        return [*self._bin_names(name), self._missing_name(name), None]

    def _bin_names(self, name: str) -> list[str | None]:
        if not self.edges:
            return [None]
        texts = [number_text(edge) for edge in self.edges]
        first = f"{name} < {texts[0]}" if len(texts) > 1 else None
        between = [f"{name} in [{low}, {high})" for low, high in pairwise(texts)]
        return [first, *between, f"{name} >= {texts[-1]}"]


def _increasing(limits: object, name: str, owner: str) -> tuple[float, ...]:
    """Return increasing finite numbers as floats, or refuse them."""
    rule = "increasing finite numbers"
    if isinstance(limits, str) or not isinstance(limits, (Sequence, np.ndarray)):
        refuse(name, owner, rule, limits)
    checked = tuple(as_number(limit, name, owner) + 0.0 for limit in limits)  # no negative zero
    if not all(map(math.isfinite, checked)) or any(low >= high for low, high in pairwise(checked)):
        refuse(name, owner, rule, limits)
    return checked
