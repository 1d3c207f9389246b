"""The encoder: from rows of raw features to contexts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bandit_forest.encoding.column import Column
from bandit_forest.encoding.document import from_document, to_document
from bandit_forest.encoding.fitting import Resolution, fit_column
from bandit_forest.encoding.layout import lay_out
from bandit_forest.encoding.tables import as_columns
from bandit_forest.errors import InvalidArgumentError, refuse
from bandit_forest.variables import MOST_THRESHOLDS

__all__ = ["ContextEncoder"]

_LOWEST, _HIGHEST = -(2.0**53), 2.0**53  # all whole numbers in between are floats


class ContextEncoder:
    """Encode rows of numbers, texts and bools as contexts.

    A column of numbers becomes one ordered variable. Its code is the number of thresholds that the number reaches, so a
    tree can test `age >= 38` for each threshold. Texts have one binary variable per value. Bools, columns of zeros and
    ones, and columns of two numbers or two values have one binary variable. A column that never varies has none.

    A missing value (None, NaN, pandas' NA, or a key that a row lacks) sets its own binary variable, `... is missing`,
    if the column had missing values when the encoder was fitted; the code of an ordered variable is then 0. A number
    outside the fitted range has the lowest or the highest code. An unseen value sets the variable `... is another
    value` if the column has one, and otherwise no variable. Columns that were not fitted are ignored.

    The class follows the conventions of scikit-learn's transformers, but does not need scikit-learn.

    Parameters
    ----------
    n_bins
        Largest number of bins of equal frequency into which numbers are cut, with one binary variable per bin, for
        policies that take binary variables only. None: numbers are ordered variables.
    max_thresholds
        Largest number of thresholds of a numeric column. With more different numbers, the thresholds are quantiles.
    max_values
        Largest number of values of a categorical column that have a variable each. With more values, the most frequent
        values that occur more than once have one, and all others share the variable `... is another value`.
    columns
        Declared columns: 'numeric', 'categorical' (for codes that look like numbers), or the whole rule,
        `Numeric(thresholds=...)`, `Binned(edges=...)` or `Categorical(values=...)`. The rules of all other columns
        follow from their values.

    Examples
    --------
    >>> rows = [{"age": age, "city": city} for age, city in zip(range(20, 30), ["Lannion", "Paris"] * 5)]
    >>> encoder = ContextEncoder(max_thresholds=4).fit(rows)
    >>> encoder.variable_names
    ['age', 'city = Paris']
    >>> encoder.thresholds
    {0: (22.0, 24.0, 26.0, 28.0)}
    >>> encoder.encode({"age": 24, "city": "Paris"})
    array([2, 1], dtype=uint8)
    >>> ContextEncoder(n_bins=3).fit(rows).variable_names
    ['age < 23', 'age in [23, 27)', 'age >= 27', 'city = Paris']
    """

    def __init__(
        self,
        *,
        n_bins: int | None = None,
        max_thresholds: int = MOST_THRESHOLDS,
        max_values: int = 100,
        columns: Mapping[str, str | Column] | None = None,
    ) -> None:
        self.n_bins = n_bins
        self.max_thresholds = max_thresholds
        self.max_values = max_values
        self.columns = columns

    @classmethod
    def from_schema(cls, columns: Mapping[str, Column]) -> Self:
        """Return an encoder with these rules of all columns; no rows are needed.

        Examples
        --------
        >>> from bandit_forest.encoding import Categorical, Numeric
        >>> schema = {"age": Numeric(thresholds=[30, 50]), "member": Categorical(values=[False, True])}
        >>> ContextEncoder.from_schema(schema).encode({"age": 42, "member": True})
        array([1, 1], dtype=uint8)
        """
        owner = "ContextEncoder.from_schema"
        if not isinstance(columns, Mapping):
            refuse("columns", owner, "a mapping from names to columns", columns)
        for name, column in columns.items():
            if not isinstance(name, str) or not isinstance(column, Column):
                refuse("columns", owner, "a mapping from names to columns", {name: column})
        encoder = cls(columns=columns)
        encoder._adopt(dict(columns), owner)
        return encoder

    def fit(self, rows: Any, y: object = None) -> Self:  # noqa: ARG002, scikit-learn passes the labels
        """Learn the rule of every column from rows.

        Parameters
        ----------
        rows
            A list of dicts, a dict of columns, a NumPy array with fields or of two dimensions, or a frame (pandas,
            Polars, PyArrow, ...; these need `pip install 'bandit-forest[frames]'`).
        y
            Ignored.
        """
        owner = "ContextEncoder.fit"
        resolution = Resolution(n_bins=self.n_bins, max_thresholds=self.max_thresholds, max_values=self.max_values)
        resolution.check(owner)
        known = self._known_columns(owner)
        table = as_columns(rows, owner)
        for name in known:
            if name not in table:
                refuse("rows", owner, f"a table with the column '{name}'", list(table))
        if not any(column.size for column in table.values()):
            refuse("rows", owner, "a table with at least one row and one column", rows)
        fitted: dict[str, Column] = {}
        for name, values in table.items():
            rule = known.get(name)
            fitted[name] = rule if isinstance(rule, Column) else fit_column(values, rule, resolution, name, owner)
        self._adopt(fitted, owner)
        return self

    def transform(self, rows: Any) -> NDArray[np.uint8]:
        """Return the contexts of rows: a matrix with one row per context and one column per variable.

        Parameters
        ----------
        rows
            As in `fit`; columns that were not fitted are ignored.
        """
        owner = "ContextEncoder.transform"
        self._check_fitted()
        table = as_columns(rows, owner, self.columns_)
        n_rows = next(iter(table.values())).size
        contexts = np.zeros((n_rows, self.n_variables + 1), dtype=np.uint8)
        each = np.arange(n_rows)
        for name, column, variables, codes, _ in self._layout.columns:
            outcomes = column.outcomes(table[name], name, owner)
            contexts[each, np.array(variables)[outcomes]] = np.array(codes, dtype=np.uint8)[outcomes]
        return np.ascontiguousarray(contexts[:, :-1])

    def fit_transform(self, rows: Any, y: object = None) -> NDArray[np.uint8]:
        """Fit on rows, and return their contexts."""
        return self.fit(rows, y).transform(rows)

    def encode(self, row: Mapping[str, Any]) -> NDArray[np.uint8]:
        """Return the context of one row; it takes a few microseconds, for single decisions.

        Parameters
        ----------
        row
            A mapping from column to value.
        """
        owner = "ContextEncoder.encode"
        self._check_fitted()
        if not isinstance(row, Mapping):
            refuse("row", owner, "a mapping from column to value", row)
        n_variables = len(self._layout.variable_names)
        context = bytearray(n_variables + 1)
        get = row.get
        for name, column, variables, codes, limits in self._layout.columns:
            value: Any = get(name)
            kind = value.__class__
            # Most numbers are plain, and the call would take as long as all the rest.
            if limits and (kind is float or kind is int) and _LOWEST <= value <= _HIGHEST:
                outcome = bisect_right(limits, value + 0.0)
            else:
                outcome = column.outcome(value, name, owner)
            context[variables[outcome]] = codes[outcome]
        return np.frombuffer(context, dtype=np.uint8, count=n_variables)

    @property
    def n_variables(self) -> int:
        """The number of variables of a context."""
        self._check_fitted()
        return len(self._layout.variable_names)

    @property
    def variable_names(self) -> list[str]:
        """The name of each variable: the column's name if it is ordered, otherwise a test such as `city = Paris`."""
        self._check_fitted()
        return list(self._layout.variable_names)

    @property
    def thresholds(self) -> dict[int, tuple[float, ...]]:
        """The thresholds of each ordered variable, by its number, as `BanditForest` takes them."""
        self._check_fitted()
        return dict(self._layout.thresholds)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the name of each variable, as scikit-learn asks for it."""
        return np.array(self.variable_names, dtype=object)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the parameters of the constructor, as scikit-learn asks for them."""
        return {name: getattr(self, name) for name in ("n_bins", "max_thresholds", "max_values", "columns")}

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the constructor; the next `fit` uses them."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                rule = "one of " + ", ".join(f"'{parameter}'" for parameter in known)
                refuse("name of a parameter", "ContextEncoder.set_params", rule, name)
            setattr(self, name, value)
        return self

    def to_json(self) -> str:
        """Return the fitted encoder as JSON."""
        self._check_fitted()
        return to_document(self.columns_)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the encoder of the JSON that `to_json` returned."""
        return cls.from_schema(from_document(text))

    def __repr__(self) -> str:
        state = f"{self.n_variables} variables" if self.__sklearn_is_fitted__() else "not fitted"
        return f"<ContextEncoder: {state}>"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "columns_")

    def _adopt(self, columns: dict[str, Column], owner: str) -> None:
        """Take over the rules of all columns."""
        layout = lay_out(columns)
        if not layout.variable_names:
            refuse("columns", owner, "columns of which at least one takes different values", columns)
        self.columns_ = columns
        self.feature_names_in_ = np.array(list(columns), dtype=object)
        self.n_features_in_ = len(columns)
        self._layout = layout

    def _known_columns(self, owner: str) -> dict[str, str | Column]:
        known = {} if self.columns is None else self.columns
        if not isinstance(known, Mapping):
            refuse("columns", owner, "a mapping from names to columns", known)
        for name, rule in known.items():
            if not isinstance(rule, Column) and rule not in ("numeric", "categorical"):
                refuse(f"columns['{name}']", owner, "'numeric', 'categorical' or a rule such as Numeric(...)", rule)
        return dict(known)

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise InvalidArgumentError(
                "This ContextEncoder is not fitted yet: call fit(rows), or make it with ContextEncoder.from_schema."
            )
