"""Columns of categories: one binary variable per value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.encoding.column import Column, check_bool
from bandit_forest.encoding.values import Scalar, as_scalar, distinct, is_missing
from bandit_forest.errors import refuse

__all__ = ["Categorical"]


@dataclass(frozen=True, kw_only=True)
class Categorical(Column):
    """A column of categories, with one binary variable per value; for two values, one variable for the second.

    The values False and True make a flag, whose variable has the name of the column.

    Parameters
    ----------
    values
        Different texts, bools or numbers.
    other
        Whether all other values share a variable, `city is another value`. If not, they set no variable. With a single
        value there is no such variable either, since it would be the complement of the value's variable.
    missing
        Whether a missing value has a variable of its own.

    Examples
    --------
    >>> Categorical(values=["Brest", "Paris"]).outcome_names("city")
    [None, 'city = Paris', None, None]
    >>> Categorical(values=["Brest", "Paris"], other=True, missing=True).outcome_names("city")
    ['city = Brest', 'city = Paris', 'city is missing', 'city is another value']
    """

    values: Sequence[Scalar]
    other: bool = False
    missing: bool = False
    _places: dict[Scalar, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rule = "different texts, bools or numbers"
        if isinstance(self.values, str) or not isinstance(self.values, (Sequence, np.ndarray)):
            refuse("values", "Categorical", rule, self.values)
        values = tuple(as_scalar(value, "values", "Categorical") for value in self.values)
        if len(set(values)) < len(values):
            refuse("values", "Categorical", rule, self.values)
        check_bool(self.other, "other", "Categorical")
        check_bool(self.missing, "missing", "Categorical")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "_places", {value: place for place, value in enumerate(values)})

    def outcome(self, value: object, name: str, owner: str) -> int:
        """Return the place of a value among the values."""
        try:
            place = self._places.get(value)  # type: ignore[call-overload]
        except TypeError:
            refuse(name, owner, "a text, bool or number, or missing", value)
        if place is not None:
            return int(place)
        return len(self.values) + (not is_missing(value))

    def outcomes(self, values: NDArray[Any], name: str, owner: str) -> NDArray[np.intp]:
        """Return the place of each value among the values."""
        present, which = distinct(values, name, owner)
        another = len(self.values) + 1
        table = [self._places.get(value, another) for value in present]
        return np.array([*table, len(self.values)], dtype=np.intp)[which]  # a missing value is -1, the last

    def outcome_names(self, name: str) -> list[str | None]:
        """Return the name of the variable of each value, of a missing value and of another value."""
        has_other = self.other and len(self.values) > 1
        other = f"{name} is another value" if has_other else None
        return [*self._value_names(name), self._missing_name(name), other]

    def _value_names(self, name: str) -> list[str | None]:
        if self.values == (False, True) and isinstance(self.values[1], bool):
            return [None, name]
        texts = [str(value) for value in self.values]
        if len(set(texts)) < len(texts):
            texts = [repr(value) for value in self.values]
        names: list[str | None] = [f"{name} = {text}" for text in texts]
        return [None, names[1]] if len(names) == 2 and not self.other else names
