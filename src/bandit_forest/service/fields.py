"""What a context may hold: the kinds of its fields."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from bandit_forest.errors import refuse
from bandit_forest.service.checking import FINITE, check_bool, listed
from bandit_forest.validation import check_int, check_number
from bandit_forest.variables import MOST_THRESHOLDS

__all__ = ["BooleanField", "CategoricalField", "Field", "NumericField"]


@dataclass(frozen=True, kw_only=True)
class NumericField:
    """A number in the context.

    Parameters
    ----------
    thresholds
        Of its ordered variable; None when they are learned from the first events.
    edges
        Where its bins meet: a binary variable for each bin, instead of an ordered one.
    n_bins
        How many bins of equal frequency are learned, instead of thresholds.
    missing
        Whether null, or no value at all, is allowed.
    """

    thresholds: tuple[float, ...] | None = None
    edges: tuple[float, ...] | None = None
    n_bins: int | None = None
    missing: bool = False

    def __post_init__(self) -> None:
        check_bool(self.missing, "missing", "a numeric field")
        if self.n_bins is not None:
            check_int(self.n_bins, "bins", "a numeric field", low=2, high=1000)
        for name in ("thresholds", "edges"):
            if (numbers := getattr(self, name)) is not None:
                object.__setattr__(self, name, _increasing(numbers, name))
        if self.thresholds is not None:
            if self.edges is not None or self.n_bins is not None:
                refuse("thresholds", "a numeric field", "absent where there are 'edges' or 'bins'", self.thresholds)
            if len(self.thresholds) > MOST_THRESHOLDS:
                refuse("thresholds", "a numeric field", f"at most {MOST_THRESHOLDS} numbers", self.thresholds)

    @property
    def is_learned(self) -> bool:
        """Whether thresholds or bins are learned from the first events."""
        return self.thresholds is None and self.edges is None

    @property
    def is_ordered(self) -> bool:
        """Whether it is an ordered variable, not bins."""
        return self.edges is None and self.n_bins is None


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


def _increasing(numbers: object, name: str) -> tuple[float, ...]:
    rule = "increasing finite numbers, at least one"
    checked = tuple(check_number(number, name, "a numeric field", rule, *FINITE) for number in listed(numbers))
    if not checked or any(low >= high for low, high in pairwise(checked)):
        refuse(name, "a numeric field", rule, numbers)
    return checked


Field = NumericField | CategoricalField | BooleanField
