"""How the values of one column become binary variables."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.encoding.values import Scalar, as_number, as_scalar, distinct, is_missing, numbers
from bandit_forest.errors import refuse

__all__ = ["Categorical", "Column", "Numeric"]


class Column(ABC):
    """A column that is fully known: a value falls into one of its outcomes, and an outcome sets at most one variable.

    The outcomes are those of a known value, then that of a missing value, then that of a value never seen. Two known
    outcomes stay one variable, since a second would only be its complement.
    """

    missing: bool
    """Whether a missing value has a variable of its own."""

    @abstractmethod
    def outcome(self, value: object, name: str, owner: str) -> int:
        """Give the outcome of one value; the column's name and the caller are for the error sentence."""

    @abstractmethod
    def outcomes(self, values: NDArray[Any], name: str, owner: str) -> NDArray[np.intp]:
        """Give the outcome of each value."""

    @abstractmethod
    def _known_names(self, name: str) -> list[str | None]:
        """Name the variable of each outcome of a known value, None where it has none."""

    def outcome_names(self, name: str) -> list[str | None]:
        """Name the variable that each outcome sets, None where it sets none.

        Examples
        --------
        >>> Numeric(edges=[28, 37], missing=True).outcome_names("age")
        ['age < 28', 'age in [28, 37)', 'age >= 37', 'age is missing', None]
        """
        return [*self._known_names(name), f"{name} is missing" if self.missing else None, None]


@dataclass(frozen=True, kw_only=True)
class Numeric(Column):
    """Numbers cut into bins: below the first edge, between two edges, from the last edge on.

    A number is never unseen: the outer bins are open. A column without edges has no variable.

    Parameters
    ----------
    edges
        Increasing numbers; each belongs to the bin on its right.
    missing
        Whether a missing value has a variable of its own.
    """

    edges: Sequence[float]
    missing: bool = False

    def __post_init__(self) -> None:
        rule = "increasing finite numbers"
        if isinstance(self.edges, str) or not isinstance(self.edges, (Sequence, np.ndarray)):
            refuse("edges", "Numeric", rule, self.edges)
        edges = tuple(as_number(edge, "edges", "Numeric") for edge in self.edges)
        rising = all(low < high for low, high in pairwise(edges))
        if not rising or not all(map(math.isfinite, edges)):
            refuse("edges", "Numeric", rule, self.edges)
        _check_bool(self.missing, "missing", "Numeric")
        object.__setattr__(self, "edges", edges)

    def outcome(self, value: object, name: str, owner: str) -> int:
        """Give the bin of a number."""
        number = value if isinstance(value, float) else as_number(value, name, owner)
        return bisect_right(self.edges, number) if number == number else len(self.edges) + 1

    def outcomes(self, values: NDArray[Any], name: str, owner: str) -> NDArray[np.intp]:
        """Give the bin of each number."""
        known = numbers(values, name, owner)
        bins = np.searchsorted(np.asarray(self.edges, dtype=np.float64), known, side="right")
        bins[np.isnan(known)] = len(self.edges) + 1
        return bins

    def _known_names(self, name: str) -> list[str | None]:
        if not self.edges:
            return [None]
        texts = [_number_text(edge) for edge in self.edges]
        first = f"{name} < {texts[0]}" if len(texts) > 1 else None
        between = [f"{name} in [{low}, {high})" for low, high in pairwise(texts)]
        return [first, *between, f"{name} >= {texts[-1]}"]


@dataclass(frozen=True, kw_only=True)
class Categorical(Column):
    """A choice among values, one variable each; of two values, the second has the variable.

    The values False and True make a flag, whose variable has the name of the column.

    Parameters
    ----------
    values
        Different texts, bools or numbers.
    missing
        Whether a missing value has a variable of its own.
    """

    values: Sequence[Scalar]
    missing: bool = False
    _places: dict[Scalar, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rule = "different texts, bools or numbers"
        if isinstance(self.values, str) or not isinstance(self.values, (Sequence, np.ndarray)):
            refuse("values", "Categorical", rule, self.values)
        values = tuple(as_scalar(value, "values", "Categorical") for value in self.values)
        if len(set(values)) < len(values):
            refuse("values", "Categorical", rule, self.values)
        _check_bool(self.missing, "missing", "Categorical")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "_places", {value: place for place, value in enumerate(values)})

    def outcome(self, value: object, name: str, owner: str) -> int:
        """Give the place of a value among the values."""
        try:
            place = self._places.get(value)  # type: ignore[call-overload]
        except TypeError:
            refuse(name, owner, "a text, bool or number, or missing", value)
        if place is not None:
            return int(place)
        return len(self.values) + (not is_missing(value))

    def outcomes(self, values: NDArray[Any], name: str, owner: str) -> NDArray[np.intp]:
        """Give the place of each value among the values."""
        present, which = distinct(values, name, owner)
        unseen = len(self.values) + 1
        table = [self._places.get(value, unseen) for value in present]
        return np.array([*table, len(self.values)], dtype=np.intp)[which]  # a missing value is -1, the last

    def _known_names(self, name: str) -> list[str | None]:
        if self.values == (False, True) and isinstance(self.values[1], bool):
            return [None, name]
        texts = [str(value) for value in self.values]
        if len(set(texts)) < len(texts):
            texts = [repr(value) for value in self.values]
        names: list[str | None] = [f"{name} = {text}" for text in texts]
        return [None, names[1]] if len(names) == 2 else names


def _number_text(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _check_bool(value: object, name: str, owner: str) -> None:
    if not isinstance(value, bool):
        refuse(name, owner, "a bool", value)
