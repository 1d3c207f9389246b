"""From the values of a column to the column's rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.encoding.categorical import Categorical
from bandit_forest.encoding.column import Column
from bandit_forest.encoding.numeric import Binned, Numeric
from bandit_forest.encoding.quantiles import equal_frequency_edges, frequent_thresholds
from bandit_forest.encoding.values import Scalar, as_scalar, distinct, holds_numbers, numbers
from bandit_forest.errors import refuse
from bandit_forest.validation import check_int
from bandit_forest.variables import MOST_THRESHOLDS

__all__ = ["Resolution", "fit_column"]


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """The resolution at which the values of a column are told apart.

    Parameters
    ----------
    n_bins
        Largest number of bins of a numeric column, one binary variable each; None keeps its numbers in order.
    max_thresholds
        Largest number of thresholds of a numeric column whose numbers stay in order.
    max_values
        Largest number of values of a categorical column that have a variable each.
    """

    n_bins: int | None = None
    max_thresholds: int = MOST_THRESHOLDS
    max_values: int = 100

    def check(self, owner: str) -> None:
        """Refuse numbers that are not possible."""
        if self.n_bins is not None:
            check_int(self.n_bins, "n_bins", owner, low=2)
        check_int(self.max_thresholds, "max_thresholds", owner, high=MOST_THRESHOLDS)
        check_int(self.max_values, "max_values", owner)


def fit_column(values: NDArray[Any], kind: str | None, resolution: Resolution, name: str, owner: str) -> Column:
    """Return the rule of a column, from its values.

    A column of zeros and ones makes a flag, any other column of numbers is numeric, all else is categorical.

    Parameters
    ----------
    values
        The column.
    kind
        'numeric' or 'categorical', or None to tell from the values.
    resolution
        Resolution at which its values are told apart.
    name, owner
        The column and the public method, for the error sentence.
    """
    if kind == "categorical" or (kind is None and not holds_numbers(values)):
        return _fit_categories(values, resolution.max_values, name, owner)
    column = numbers(values, name, owner)
    known = column[~np.isnan(column)]
    if np.isinf(known).any():
        refuse(name, owner, "a column of finite numbers, or missing", float(known[np.isinf(known)][0]))
    levels, counts = np.unique(known, return_counts=True)
    missing = 0 < known.size < column.size
    if kind is None and levels.tolist() == [0.0, 1.0]:
        return Categorical(values=(False, True), missing=missing)
    if resolution.n_bins is not None:
        return Binned(edges=equal_frequency_edges(levels, counts, resolution.n_bins), missing=missing)
    return Numeric(thresholds=frequent_thresholds(levels, counts, resolution.max_thresholds), missing=missing)


def _fit_categories(values: NDArray[Any], max_values: int, name: str, owner: str) -> Categorical:
    present, which = distinct(values, name, owner)
    known = which[which >= 0]
    missing = 0 < known.size < which.size
    categories = [as_scalar(value, name, owner) for value in present]
    if len(categories) < 2:
        return Categorical(values=(), missing=missing)
    if len(categories) <= max_values:
        return Categorical(values=sorted(categories, key=_order), missing=missing)
    repeated = {value: count for value, count in zip(categories, np.bincount(known).tolist(), strict=True) if count > 1}
    if not repeated:
        rule = f"at most {max_values} different values, or values that come more than once: leave out an identifier"
        refuse(name, owner, rule, categories)
    frequent = sorted(repeated, key=lambda value: (-repeated[value], _order(value)))[:max_values]
    return Categorical(values=sorted(frequent, key=_order), other=True, missing=missing)


def _order(value: Scalar) -> tuple[bool, Any]:
    """Sort numbers before texts."""
    return isinstance(value, str), value
