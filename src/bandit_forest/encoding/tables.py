"""Rows in any common form, as columns of one length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.encoding.values import TIMES
from bandit_forest.errors import MissingExtraError, refuse

__all__ = ["Columns", "as_columns", "frame_columns"]

Columns = dict[str, NDArray[Any]]

_LARGEST_EXACT = 2**53  # all whole numbers up to here are floats
_PLAIN = "a column of texts, bools or numbers"
_RICH = "a column of texts, bools, numbers, times or lists"
_RULE = "a list of dicts, a dict of columns of one length, a NumPy array of two dimensions or with fields, or a frame"


def as_columns(rows: Any, owner: str, names: Iterable[str] | None = None, *, rich: bool = False) -> Columns:
    """Return the columns of a table, by name.

    Parameters
    ----------
    rows
        A list of dicts (a key that a row lacks is a missing value), a dict of columns, a NumPy array with fields or of
        two dimensions (its columns are named x0, x1, ...), or a frame of pandas, Polars, PyArrow and others.
    owner
        The public method, for the error sentence.
    names
        The columns to return, or None for all.
    rich
        Whether columns of times and of lists are taken too, which no encoder takes.
    """
    table = _read(rows, owner, names, rich=rich)
    for name in table if names is None else names:
        if name not in table:
            refuse("rows", owner, f"a table with the column '{name}'", list(table))
    wanted = {name: _checked(table[name], name, owner, rich=rich) for name in (table if names is None else names)}
    if len({column.size for column in wanted.values()}) > 1:
        refuse("rows", owner, _RULE, rows)
    return wanted


def _read(rows: Any, owner: str, names: Iterable[str] | None, *, rich: bool) -> dict[str, Any]:
    if isinstance(rows, np.ndarray) and rows.dtype.names is not None:
        return {name: rows[name] for name in rows.dtype.names}
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        return {f"x{place}": column for place, column in enumerate(rows.T)}
    if isinstance(rows, Mapping):
        return dict(rows)
    if isinstance(rows, Sequence) and all(issubclass(kind, Mapping) for kind in set(map(type, rows))):
        keys = names if names is not None else dict.fromkeys(chain.from_iterable(rows))
        return {key: _values(rows, key) for key in keys}
    return frame_columns(rows, owner, _RULE, lambda series: _read_series(series, owner, rich=rich))


def _values(rows: Sequence[Mapping[str, Any]], key: str) -> list[Any]:
    """Return one value of each row, None where a row lacks it."""
    try:
        return list(map(itemgetter(key), rows))
    except KeyError:
        return [row.get(key) for row in rows]


def frame_columns(rows: Any, owner: str, rule: str, read: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the columns of a frame of pandas, Polars or PyArrow, each as `read` makes them; refuse anything else."""
    try:
        import narwhals as nw
    except ImportError:
        if hasattr(rows, "columns"):
            cure = "pip install 'bandit-forest[frames]'"
            raise MissingExtraError(f"{owner} needs narwhals to read a {type(rows).__name__}: {cure}.") from None
        refuse("rows", owner, rule, rows)
    try:
        frame = nw.from_native(rows, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            refuse("rows", owner, rule, rows)
        return {column.name: read(column) for column in frame.iter_columns()}
    except nw.exceptions.DuplicateError:
        names = list(rows.column_names if hasattr(rows, "column_names") else rows.columns)  # PyArrow, pandas
        twice = [name for name in names if names.count(name) > 1]
        refuse("rows", owner, "a frame whose columns have different names", twice)


def _read_series(series: Any, owner: str, *, rich: bool) -> Any:
    """Return a series of numbers or times as an array, NaN where a number is null; of anything else as a list."""
    import narwhals as nw

    kind = series.dtype
    is_time, is_list = kind in (nw.Datetime, nw.Date), kind in (nw.List, nw.Array)
    if rich and kind == nw.Datetime and kind.time_zone is None:
        return series.to_numpy()
    if rich and (is_time or is_list):
        return [None if null else value for value, null in zip(series.to_list(), series.is_null(), strict=True)]
    if kind.is_temporal() or kind.is_nested() or kind == nw.Binary:
        rule = _RICH if rich else f"{_PLAIN}; {TIMES}" if is_time else _PLAIN
        refuse(str(series.name), owner, rule, f"a column of {'times' if is_time else kind.__class__.__name__}")
    if not kind.is_numeric():
        return series.to_list()
    known = series.drop_nulls()
    if len(known) == len(series):
        return series.to_numpy()
    if series.dtype.is_integer() and len(known) and max(-int(known.min()), int(known.max())) > _LARGEST_EXACT:
        return series.to_list()  # codes that a float would round
    return series.cast(nw.Float64).to_numpy()


def _checked(values: Any, name: object, owner: str, *, rich: bool) -> NDArray[Any]:
    """Return one column as an array of numbers, bools, texts or objects, or of times to the microsecond."""
    if not isinstance(name, str):
        refuse("rows", owner, "a table whose columns are named by texts", name)
    rule = _RICH if rich else _PLAIN
    if isinstance(values, (str, bytes)) or not isinstance(values, (Sequence, np.ndarray)):
        refuse(name, owner, rule, values)
    column = values if isinstance(values, np.ndarray) else _tight(values)
    if column.ndim == 1 and column.dtype.kind == "M":
        if rich:
            return column.astype("datetime64[us]")
        rule = f"{rule}; {TIMES}"
    if column.ndim != 1 or column.dtype.kind not in "biufUO":
        refuse(name, owner, rule, values)
    return column


def _tight(values: Sequence[Any]) -> NDArray[Any]:
    """Return an array of one plain type where all values have it, since arrays of objects are slow."""
    kinds = set(map(type, values))
    plain = {bool: np.bool_, float: np.float64, int: np.int64}.get(kinds.pop()) if len(kinds) == 1 else None
    if plain is not None:
        with suppress(OverflowError):  # ints beyond 64 bits
            return np.array(values, dtype=plain)
    return np.fromiter(values, object, len(values))
