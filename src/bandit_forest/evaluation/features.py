"""Features of events as rows and as columns, and names that other formats can hold."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.features.values import plain
from bandit_forest.bandit.pairs.model import ID
from bandit_forest.evaluation.log import Log

__all__ = ["action_features", "columns_of", "escape", "known_of", "listed", "rows_of", "tag_of", "unescape", "untag"]

_PLAIN = frozenset("_-+.,/()<>[]@!?&*;$")
_INT = re.compile(r"0|-?[1-9][0-9]{0,999}")  # Python reads no more than a few thousand digits


def escape(text: str) -> str:
    """Return a text without spaces, colons, bars and other signs that separate features, as percent-encoded UTF-8.

    Examples
    --------
    >>> escape("café : 5 %")
    'café%20%3A%205%20%25'
    """
    return "".join(sign if sign.isalnum() or sign in _PLAIN else _percent(sign) for sign in text)


def unescape(text: str) -> str:
    """Return the text that `escape` was given; what it cannot have made stays as it is.

    Examples
    --------
    >>> unescape("caf%C3%A9"), unescape("50%F0")
    ('café', '50%F0')
    """
    try:
        return unquote(text, errors="surrogatepass") if "%" in text else text
    except UnicodeDecodeError:
        return text


def tag_of(action_id: str | int) -> str:
    """Return the tag of an action: its id, escaped so that the text of a number is not taken for the number.

    Examples
    --------
    >>> tag_of(17), tag_of("17"), untag("%317")
    ('17', '%317', '17')
    """
    text = escape(str(action_id))
    return _percent(text[0]) + text[1:] if isinstance(action_id, str) and _INT.fullmatch(text) else text


def untag(text: str) -> str | int:
    """Return the id that `tag_of` was given; whole numbers in the tags of others are ints."""
    return int(text) if _INT.fullmatch(text) else unescape(text)


def known_of(features: Mapping[str, Any]) -> dict[str, Any]:
    """Return the features that are not missing, as values of Python.

    Examples
    --------
    >>> known_of({"age": math.nan, "city": None, "member": np.False_})
    {'member': False}
    """
    values = {name: plain(value) for name, value in features.items()}
    return {name: value for name, value in values.items() if value is not None}


def action_features(action: Mapping[str, Any]) -> dict[str, Any]:
    """Return the features of an offered action that are not missing, without its id."""
    return {name: value for name, value in known_of(action).items() if name != ID}


def rows_of(log: Log) -> list[dict[str, Any]]:
    """Return the features of each event, without those that are missing; contexts are not among them."""
    rows: list[dict[str, Any]] = [{} for _ in range(len(log))]
    for name, values in (log.features or {}).items():
        for row, value in zip(rows, listed(values), strict=True):
            row[name] = value
    return [known_of(row) for row in rows]


def listed(values: NDArray[Any]) -> list[Any]:
    """Return the values of a column as those of Python; times as datetimes, None where one is missing.

    Examples
    --------
    >>> listed(np.array(["2024-05-17T09:30", "NaT"], dtype="datetime64[ns]"))
    [datetime.datetime(2024, 5, 17, 9, 30), None]
    """
    column = values.astype("datetime64[us]") if values.dtype.kind == "M" else values
    cells: list[Any] = column.tolist()
    return cells


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, NDArray[Any]]:
    """Return columns from rows: numbers as floats with NaN where one is missing, all else as objects with None.

    Examples
    --------
    >>> columns_of([{"age": 3.0}, {"age": 4.0, "city": "Paris"}])
    {'age': array([3., 4.]), 'city': array([None, 'Paris'], dtype=object)}
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _tight([row.get(name) for row in rows]) for name in names}


def _tight(values: Iterable[Any]) -> NDArray[Any]:
    column = np.fromiter(values, dtype=object)
    kinds = {type(value) for value in column} - {type(None)}
    if kinds <= {int, float} and kinds:
        with suppress(OverflowError):  # an int beyond all floats stays as it is
            return np.array([math.nan if value is None else float(value) for value in column])
    return column


def _percent(sign: str) -> str:
    return "".join(f"%{octet:02X}" for octet in sign.encode("utf-8", errors="surrogatepass"))
