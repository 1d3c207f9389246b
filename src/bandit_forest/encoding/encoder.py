"""The encoder: from rows of raw features to contexts of binary variables."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bandit_forest.encoding.columns import Column
from bandit_forest.encoding.document import from_document, to_document
from bandit_forest.encoding.fitting import fit_column
from bandit_forest.encoding.tables import as_columns
from bandit_forest.errors import InvalidArgumentError, refuse
from bandit_forest.validation import check_int

__all__ = ["ContextEncoder"]


class ContextEncoder:
    """Encode rows of numbers, texts and bools as contexts of binary variables.

    Numbers are cut into bins of equal frequency, one variable a bin; texts have one variable a value; bools, and
    columns of zeros and ones, stay one variable, as does every column of two bins or two values. A column that never
    varies has none.

    A missing value (None, NaN, or a key that a row lacks) sets a variable of its own, `... is missing`, if the column
    had missing values when the encoder was fitted; otherwise it sets none. A value that was never seen sets none. A
    number outside the fitted range belongs to the first or last bin. Columns that were not fitted are ignored.

    It follows the conventions of scikit-learn's transformers, without needing scikit-learn.

    Parameters
    ----------
    n_bins
        Largest number of bins of a numeric column.
    columns
        What is known beforehand, by column: 'numeric' or 'categorical' where the values do not tell (codes that look
        like numbers), or the whole rule, `Numeric(edges=...)` or `Categorical(values=...)`. All others are told from
        the values.

    Examples
    --------
    >>> rows = [{"age": age, "city": city} for age, city in zip(range(20, 30), ["Lannion", "Paris"] * 5)]
    >>> encoder = ContextEncoder(n_bins=3).fit(rows)
    >>> encoder.variable_names
    ['age < 23', 'age in [23, 27)', 'age >= 27', 'city = Paris']
    >>> encoder.encode({"age": 24, "city": "Paris"})
    array([0, 1, 0, 1], dtype=uint8)
    """

    def __init__(self, *, n_bins: int = 5, columns: Mapping[str, str | Column] | None = None) -> None:
        self.n_bins = n_bins
        self.columns = columns

    @classmethod
    def from_schema(cls, columns: Mapping[str, Column]) -> Self:
        """Make an encoder from the rule of every column, without rows.

        Examples
        --------
        >>> from bandit_forest.encoding import Categorical, Numeric
        >>> schema = {"age": Numeric(edges=[30, 50]), "member": Categorical(values=[False, True])}
        >>> ContextEncoder.from_schema(schema).encode({"age": 42, "member": True})
        array([0, 1, 0, 1], dtype=uint8)
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
        n_bins = check_int(self.n_bins, "n_bins", owner, low=2)
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
            fitted[name] = rule if isinstance(rule, Column) else fit_column(values, rule, n_bins, name, owner)
        self._adopt(fitted, owner)
        return self

    def transform(self, rows: Any) -> NDArray[np.uint8]:
        """Encode rows: a matrix of zeros and ones, a row a context.

        Parameters
        ----------
        rows
            As in `fit`; columns that were not fitted are ignored.
        """
        owner = "ContextEncoder.transform"
        self._check_fitted()
        table = as_columns(rows, owner, self.columns_)
        n_rows = next(iter(table.values())).size
        bits = np.zeros((n_rows, self.n_variables + 1), dtype=np.uint8)
        each = np.arange(n_rows)
        for name, column, places in self._plan:
            bits[each, np.array(places)[column.outcomes(table[name], name, owner)]] = 1
        return np.ascontiguousarray(bits[:, :-1])

    def fit_transform(self, rows: Any, y: object = None) -> NDArray[np.uint8]:
        """Fit on rows, and encode them."""
        return self.fit(rows, y).transform(rows)

    def encode(self, row: Mapping[str, Any]) -> NDArray[np.uint8]:
        """Encode one row; a few microseconds, for decisions one at a time.

        Parameters
        ----------
        row
            A mapping from column to value.
        """
        owner = "ContextEncoder.encode"
        self._check_fitted()
        if not isinstance(row, Mapping):
            refuse("row", owner, "a mapping from column to value", row)
        n_variables = len(self._names)
        bits = bytearray(n_variables + 1)
        for name, column, places in self._plan:
            bits[places[column.outcome(row.get(name), name, owner)]] = 1
        return np.frombuffer(bits, dtype=np.uint8, count=n_variables)

    @property
    def n_variables(self) -> int:
        """The number of binary variables of a context."""
        self._check_fitted()
        return len(self._names)

    @property
    def variable_names(self) -> list[str]:
        """The name of each binary variable."""
        self._check_fitted()
        return list(self._names)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Give the name of each binary variable, as scikit-learn asks for it."""
        return np.array(self.variable_names, dtype=object)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Give the parameters of the constructor, as scikit-learn asks for them."""
        return {"n_bins": self.n_bins, "columns": self.columns}

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the constructor; the next `fit` uses them."""
        for name, value in params.items():
            if name not in self.get_params():
                refuse("name of a parameter", "ContextEncoder.set_params", "'n_bins' or 'columns'", name)
            setattr(self, name, value)
        return self

    def to_json(self) -> str:
        """Write the fitted encoder as JSON."""
        self._check_fitted()
        return to_document(self.columns_)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read an encoder that `to_json` wrote."""
        return cls.from_schema(from_document(text))

    def __repr__(self) -> str:
        state = f"{self.n_variables} variables" if self.__sklearn_is_fitted__() else "not fitted"
        return f"<ContextEncoder: n_bins={self.n_bins}, {state}>"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "columns_")

    def _adopt(self, columns: dict[str, Column], owner: str) -> None:
        """Take over the rules of all columns: name the variables and say which outcome sets which."""
        numbers = count()
        outcomes = {name: column.outcome_names(name) for name, column in columns.items()}
        names = [variable for column in outcomes.values() for variable in column if variable is not None]
        if not names:
            refuse("columns", owner, "columns of which at least one takes different values", columns)
        nowhere = len(names)  # a place beyond the last variable, for outcomes that set none
        self.columns_ = columns
        self.feature_names_in_ = np.array(list(columns), dtype=object)
        self.n_features_in_ = len(columns)
        self._names = names
        self._plan = [
            (name, column, [nowhere if variable is None else next(numbers) for variable in outcomes[name]])
            for name, column in columns.items()
        ]

    def _known_columns(self, owner: str) -> dict[str, str | Column]:
        known = {} if self.columns is None else self.columns
        if not isinstance(known, Mapping):
            refuse("columns", owner, "a mapping from names to columns", known)
        for name, rule in known.items():
            if not isinstance(rule, Column) and rule not in ("numeric", "categorical"):
                refuse(f"columns['{name}']", owner, "'numeric', 'categorical', Numeric(...) or Categorical(...)", rule)
        return dict(known)

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise InvalidArgumentError(
                "This ContextEncoder is not fitted yet: call fit(rows), or make it with ContextEncoder.from_schema."
            )
