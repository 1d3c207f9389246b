"""Rows in any common form, as checked columns: what is wrong is told with its row and value."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.errors import FeatureError
from bandit_forest.bandit.features.kinds import Feature, LabelsFeature, NumericFeature, TimeFeature
from bandit_forest.bandit.features.schema import Schema
from bandit_forest.bandit.features.values import as_context, expanded, plain
from bandit_forest.encoding.tables import frame_columns
from bandit_forest.errors import refuse

__all__ = ["Table", "checked_columns", "read_table"]

Values = Sequence[Any] | NDArray[Any]
Clean = Callable[[Any, Callable[[], int]], Any]
"""Cleans a value, or refuses it; the callable returns its row."""
_RULE = "a list of mappings, a mapping of columns of one length, or a frame of pandas, Polars or PyArrow"
_PLAIN_TYPES: dict[str, set[type]] = {"boolean": {bool, NoneType}, "categorical": {str, int, NoneType}}


class Table:
    """Columns of one length.

    Parameters
    ----------
    columns
        The values by name: arrays of numbers, or lists.
    n_rows
        Their length.
    first_row
        Number of the first row in what was given.
    given
        The names that each row has, where the table is made of mappings; None: all of them.
    """

    def __init__(
        self,
        columns: dict[str, Values],
        n_rows: int,
        *,
        first_row: int = 0,
        given: Sequence[Container[str]] | None = None,
    ) -> None:
        self.columns = columns
        self.n_rows = n_rows
        self.first_row = first_row
        self._given = given

    def without(self, names: Iterable[str]) -> Table:
        """Return the table without some columns."""
        left_out = set(names)
        columns = {name: values for name, values in self.columns.items() if name not in left_out}
        return Table(columns, self.n_rows, first_row=self.first_row, given=self._given)

    def rows(self, numbers: Iterable[int]) -> list[dict[str, Any]]:
        """Return some rows as dicts of plain values."""
        return [
            {
                name: plain(values[number])
                for name, values in self.columns.items()
                if self._given is None or name in self._given[number]
            }
            for number in numbers
        ]

    def part(self, start: int) -> Table:
        """Return the rows from a number on."""
        columns = {name: values[start:] for name, values in self.columns.items()}
        given = None if self._given is None else self._given[start:]
        return Table(columns, self.n_rows - start, first_row=self.first_row + start, given=given)


def read_table(rows: Any, owner: str) -> Table:
    """Return the columns of rows in any common form."""
    if isinstance(rows, Mapping):
        columns = {name: _values(values, name, owner) for name, values in rows.items()}
    elif isinstance(rows, Sequence) and not isinstance(rows, str):
        contexts = [_context(row, number) for number, row in enumerate(rows)]
        names = dict.fromkeys(name for context in contexts for name in context)
        columns = {name: [context.get(name) for context in contexts] for name in names}
        return Table(columns, len(contexts), given=contexts)
    else:
        columns = frame_columns(rows, owner, _RULE, _series_values)
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1 or not all(isinstance(name, str) for name in columns):
        refuse("rows", owner, _RULE, rows)
    return Table(columns, lengths.pop())


def checked_columns(schema: Schema, table: Table) -> dict[str, NDArray[Any]]:
    """Return the columns that the encoder of a schema takes, or refuse a value with its row."""
    columns: dict[str, NDArray[Any]] = {}
    for name in table.columns:
        if name not in schema.features:
            schema.refuse_unknown(name, table.columns[name])
    for name, feature in schema.features.items():
        values = table.columns.get(name)
        given: Values = [None] * table.n_rows if values is None else values
        clean = _clean_at(schema, name, table.first_row)
        if isinstance(feature, LabelsFeature | TimeFeature):
            columns |= _parts(feature, name, given, clean)
        else:
            columns[name] = _checked(feature, given, clean)
    return columns


def _checked(feature: Feature, values: Values, clean: Clean) -> NDArray[Any]:
    """Return a column with clean values: by its distinct values where it has few types, else value by value."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf" and isinstance(feature, NumericFeature):
        return _checked_numbers(feature, values.astype(np.float64), clean)
    listed = list(values)
    if isinstance(values, np.ndarray) and values.dtype.kind not in "mM":  # whose elements may become ints
        listed = values.tolist()
    types = set(map(type, listed))
    if isinstance(feature, NumericFeature) and types <= {int, float, NoneType}:
        with suppress(OverflowError):  # an int beyond all floats is refused below, with its row
            return _checked_numbers(feature, np.array(listed, dtype=np.float64), clean)
    if types <= _PLAIN_TYPES.get(feature.kind, set()):
        for value in dict.fromkeys(listed):
            clean(value, lambda value=value: listed.index(value))  # type: ignore[misc]
        return np.array(listed, dtype=object)
    return np.array([clean(value, lambda row=row: row) for row, value in enumerate(listed)], object)  # type: ignore[misc]


def _checked_numbers(feature: NumericFeature, numbers: NDArray[np.float64], clean: Clean) -> NDArray[np.float64]:
    wrong = np.isinf(numbers) if feature.missing else ~np.isfinite(numbers)
    if wrong.any():
        row = int(wrong.argmax())
        clean(float(numbers[row]), lambda: row)
    return numbers


def _parts(feature: LabelsFeature | TimeFeature, name: str, values: Values, clean: Clean) -> dict[str, NDArray[Any]]:
    if isinstance(values, np.ndarray) and values.dtype.kind == "M" and not np.isnat(values).any():
        days = values.astype("datetime64[D]")
        return {
            f"{name} hour": (values.astype("datetime64[h]") - days).astype(np.int64),
            f"{name} weekday": (days.astype(np.int64) + 3) % 7,
            f"{name} month": values.astype("datetime64[M]").astype(np.int64) % 12 + 1,
        }
    cleaned = [clean(value, lambda row=row: row) for row, value in enumerate(values)]  # type: ignore[misc]
    rows = [expanded(feature, name, value) for value in cleaned]
    return {column: np.array([row[column] for row in rows], dtype=object) for column in expanded(feature, name, None)}


def _clean_at(schema: Schema, name: str, first_row: int) -> Clean:
    """Return what cleans a value of a feature, or refuses it with its row."""

    def clean(value: Any, row: Callable[[], int]) -> Any:
        try:
            return schema.clean(name, value)
        except FeatureError as error:
            raise error.at(row=first_row + row()) from None

    return clean


def _context(row: Any, number: int) -> dict[str, Any]:
    try:
        return as_context(row)
    except FeatureError as error:
        raise error.at(row=number) from None


def _series_values(series: Any) -> Values:
    """Return numbers and moments as an array, anything else as a list with None where it is null."""
    import narwhals as nw

    is_null = series.is_null()
    has_zone = series.dtype == nw.Datetime and getattr(series.dtype, "time_zone", None) is not None
    if not is_null.any() and (series.dtype.is_numeric() or (series.dtype.is_temporal() and not has_zone)):
        values = series.to_numpy()
        return values if values.dtype.kind in "iufM" else list(values)
    return [None if null else value for value, null in zip(series.to_list(), is_null.to_list(), strict=True)]


def _values(values: Any, name: object, owner: str) -> Values:
    """Return one column of a mapping: a list, an array, or a series of a frame."""
    if isinstance(values, np.ma.MaskedArray) and values.ndim == 1:
        return values.tolist()  # type: ignore[no-any-return]  # None where it is masked
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return values
    if isinstance(values, Sequence) and not isinstance(values, str):
        return values
    try:
        import narwhals as nw

        return _series_values(nw.from_native(values, series_only=True))
    except (ImportError, TypeError):
        refuse(str(name), owner, "a column: a list, an array or a series", values)
