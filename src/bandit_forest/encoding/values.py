"""Values of one column: which are missing, which are numbers, which are distinct."""

from __future__ import annotations

import math
import sys
from datetime import date
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.errors import refuse

__all__ = ["TIMES", "Scalar", "as_number", "as_scalar", "distinct", "holds_numbers", "is_missing", "numbers"]

Scalar = str | bool | int | float

TIMES = "a time is given by its parts, such as its hour, or as it is to a Bandit"
"""What to do with times, which an encoder does not take."""

_NUMBERS = (int, Real, Decimal, np.bool_)  # int first, for speed; NumPy's numbers are Real, its bool is not
_PLAIN = {float, int, bool, type(None)}  # what NumPy makes floats of as `as_number` does


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN, or pandas' NA or NaT."""
    if value is None:
        return True
    if isinstance(value, (float, np.floating)):
        return math.isnan(value)
    if isinstance(value, Decimal):
        return value.is_nan()
    pandas = sys.modules.get("pandas")  # without it there is no NA
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)


def as_number(value: object, name: str, owner: str) -> float:
    """Return one number as a float, NaN when it is missing; refuse one that is too large for a float."""
    if isinstance(value, _NUMBERS):
        try:
            number = float(value)
            if not math.isinf(number) or number == value:
                return number
        except (OverflowError, ValueError):  # too large, or a signalling NaN
            pass
    if is_missing(value):
        return math.nan
    refuse(name, owner, "a number, or missing", value)


def as_scalar(value: object, name: str, owner: str) -> Scalar:
    """Return a category as the plain Python value that JSON can hold.

    A whole float becomes an int, since a column of codes with missing values is often stored as floats.
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float) and math.isfinite(plain):
        return int(plain) if plain.is_integer() else plain
    if isinstance(plain, (str, bool, int)):
        return plain
    rule = "a text, bool or finite number, or missing"
    refuse(name, owner, f"{rule}; {TIMES}" if isinstance(plain, date) else rule, value)


def holds_numbers(column: NDArray[Any]) -> bool:
    """Return whether all known values of a column are numbers, and not all of them bools."""
    if column.dtype.kind != "O":
        return column.dtype.kind in "iuf"
    cells = column.tolist()
    known = {
        kind for kind in set(map(type, cells)) if any(type(cell) is kind and not is_missing(cell) for cell in cells)
    }
    return bool(known - {bool, np.bool_}) and all(issubclass(kind, _NUMBERS) for kind in known)


def numbers(column: NDArray[Any], name: str, owner: str) -> NDArray[np.float64]:
    """Return a column as floats, NaN where a value is missing."""
    if column.dtype.kind in "biuf":
        return column.astype(np.float64)
    cells = column.tolist()
    if set(map(type, cells)) <= _PLAIN:
        try:
            return np.array(cells, dtype=np.float64)
        except OverflowError:  # an int that is too large, to be refused by its name
            pass
    return np.array([as_number(cell, name, owner) for cell in cells], dtype=np.float64)


def distinct(column: NDArray[Any], name: str, owner: str) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the distinct known values of a column, and for each row which of them it holds, -1 when missing.

    Examples
    --------
    >>> distinct(np.array(["b", "a", "b"]), "letter", "example")
    (['a', 'b'], array([1, 0, 1]))
    """
    if column.dtype.kind == "O":
        return _distinct_objects(column, name, owner)
    if column.dtype.kind in "iu" and column.size and int(column.max()) - int(column.min()) < column.size + 256:
        return _distinct_codes(column)
    values, places = np.unique(column, return_inverse=True)
    known = [value for value in values.tolist() if not is_missing(value)]
    places[places >= len(known)] = -1  # NaN sorts last
    return known, places


def _distinct_codes(column: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """Count instead of sorting, where integers lie close together."""
    low = int(column.min())
    shifted = (column - column.dtype.type(low)).astype(np.intp)
    present = np.flatnonzero(np.bincount(shifted))
    place = np.zeros(int(present[-1]) + 1, dtype=np.intp)
    place[present] = np.arange(present.size)
    return [low + step for step in present.tolist()], place[shifted]


def _distinct_objects(column: NDArray[Any], name: str, owner: str) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the values of an object column in the order in which they first come."""
    cells = column.tolist()
    try:
        present = dict.fromkeys(cells)
    except TypeError:  # a list or a dict, which no category can be
        refuse(name, owner, "texts, bools or numbers, or missing", column)
    known = [value for value in present if not is_missing(value)]
    places = dict.fromkeys(present, -1) | {value: place for place, value in enumerate(known)}
    return known, np.fromiter(map(places.__getitem__, cells), np.intp, len(cells))
