"""From the values of a column to the column's rule."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.encoding.columns import Categorical, Column, Numeric
from bandit_forest.encoding.values import Scalar, as_scalar, distinct, holds_numbers, numbers
from bandit_forest.errors import refuse

__all__ = ["equal_frequency_edges", "fit_column"]


def fit_column(values: NDArray[Any], kind: str | None, n_bins: int, name: str, owner: str) -> Column:
    """Make the rule of a column from its values.

    A column of numbers is binned, unless it holds zeros and ones only, which make a flag; any other is categorical.

    Parameters
    ----------
    values
        The column.
    kind
        'numeric' or 'categorical', or None to tell from the values.
    n_bins
        Number of bins of a numeric column.
    name, owner
        The column and the public method, for the error sentence.
    """
    if kind == "categorical" or (kind is None and not holds_numbers(values)):
        return _fit_categories(values, name, owner)
    column = numbers(values, name, owner)
    known = column[~np.isnan(column)]
    if np.isinf(known).any():
        refuse(name, owner, "a column of finite numbers, or missing", float(known[np.isinf(known)][0]))
    levels, counts = np.unique(known, return_counts=True)
    missing = 0 < known.size < column.size
    if kind is None and levels.tolist() == [0.0, 1.0]:
        return Categorical(values=(False, True), missing=missing)
    return Numeric(edges=equal_frequency_edges(levels, counts, n_bins), missing=missing)


def equal_frequency_edges(levels: NDArray[np.float64], counts: NDArray[np.intp], n_bins: int) -> list[float]:
    """Cut sorted distinct numbers into at most `n_bins` bins of about the same frequency.

    Each quantile moves to the nearest boundary between two different numbers, so no bin is empty and no bin comes
    twice, and a number that fills most of the column is cut off from the rest.

    Examples
    --------
    >>> levels, counts = np.unique([1.0, 2, 3, 4, 5, 6, 7, 8, 9, 10], return_counts=True)
    >>> equal_frequency_edges(levels, counts, 5)
    [3.0, 5.0, 7.0, 9.0]
    >>> levels, counts = np.unique([0.0] * 92 + [10, 20, 30, 40, 50, 60, 70, 80], return_counts=True)
    >>> equal_frequency_edges(levels, counts, 5)
    [10.0]
    """
    if levels.size < 2:
        return []
    below = np.cumsum(counts)
    quantiles = below[-1] * np.arange(1, n_bins) / n_bins
    boundaries = below[:-1]
    right = np.searchsorted(boundaries, quantiles).clip(0, boundaries.size - 1)
    left = (right - 1).clip(0)
    nearest = np.where(quantiles - boundaries[left] <= boundaries[right] - quantiles, left, right)
    cuts = np.unique(nearest)
    return [_roundest(float(low), float(high)) for low, high in zip(levels[cuts], levels[cuts + 1], strict=True)]


def _roundest(low: float, high: float) -> float:
    """Round `high` to as few digits as keep it above `low` and not above itself, for names that can be read."""
    rounded = (float(f"{high:.{digits}g}") for digits in range(1, 17))
    return next((edge for edge in rounded if low < edge <= high), high)


def _fit_categories(values: NDArray[Any], name: str, owner: str) -> Categorical:
    present, which = distinct(values, name, owner)
    categories = sorted((as_scalar(value, name, owner) for value in present), key=_order)
    missing = bool(categories) and bool((which < 0).any())
    return Categorical(values=categories if len(categories) > 1 else (), missing=missing)


def _order(value: Scalar) -> tuple[bool, Any]:
    """Sort numbers before texts."""
    return isinstance(value, str), value
