"""What a context may hold: the kinds of its fields."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from bandit_forest.errors import refuse
from bandit_forest.service.config.checks import FINITE, check_bool, listed
from bandit_forest.validation import check_int, check_number

__all__ = ["BooleanField", "CategoricalField", "Field", "NumericField"]


@dataclass(frozen=True, kw_only=True)
class NumericField:
    """A number in the context.

    Parameters
    ----------
    edges
        Where its bins meet; None when `n_bins` bins of equal frequency are learned from the first events.
    n_bins
        How many bins are learned.
    missing
        Whether null, or no value at all, is allowed.
    """

    edges: tuple[float, ...] | None = None
    n_bins: int = 5
    missing: bool = False

    def __post_init__(self) -> None:
        check_int(self.n_bins, "bins", "a numeric field", low=2, high=1000)
        check_bool(self.missing, "missing", "a numeric field")
        if self.edges is not None:
            rule = "increasing finite numbers, at least one"
            edges = [check_number(edge, "edges", "a numeric field", rule, *FINITE) for edge in listed(self.edges)]
            if not edges or any(low >= high for low, high in pairwise(edges)):
                refuse("edges", "a numeric field", rule, self.edges)
            object.__setattr__(self, "edges", tuple(edges))


@dataclass(frozen=True, kw_only=True)
class CategoricalField:
    """A choice in the context.

    Parameters
    ----------
    values
        The texts or ints that have a variable each; None when the most frequent of the first events are learned.
    max_values
        How many values are learned at most.
    open
        Whether other values are allowed; they set no variable. A field with learned values is always open.
    missing
        Whether null, or no value at all, is allowed.
    """

    values: tuple[str | int, ...] | None = None
    max_values: int = 100
    open: bool = False
    missing: bool = False

    def __post_init__(self) -> None:
        owner = "a categorical field"
        check_int(self.max_values, "max_values", owner, high=10_000)
        check_bool(self.open, "open", owner)
        check_bool(self.missing, "missing", owner)
        if self.values is None:
            return
        values = listed(self.values)
        plain = all(isinstance(value, (str, int)) and not isinstance(value, bool) for value in values)
        if not plain or not values or len(set(values)) < len(values):
            refuse("values", owner, "different texts or whole numbers, at least one", self.values)
        object.__setattr__(self, "values", tuple(values))


@dataclass(frozen=True, kw_only=True)
class BooleanField:
    """True or false in the context.

    Parameters
    ----------
    missing
        Whether null, or no value at all, is allowed.
    """

    missing: bool = False

    def __post_init__(self) -> None:
        check_bool(self.missing, "missing", "a boolean field")


Field = NumericField | CategoricalField | BooleanField
