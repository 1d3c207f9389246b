"""Where to cut a column of numbers, given its distinct numbers and how often each comes."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_FLOOR, Context
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["equal_frequency_edges", "frequent_thresholds"]

Floats = NDArray[np.float64]
Counts = NDArray[np.intp]

_LARGEST_WHOLE = 2.0**53  # beyond it all floats are whole


def equal_frequency_edges(levels: Floats, counts: Counts, n_bins: int) -> list[float]:
    """Return the edges of at most `n_bins` bins of about the same frequency.

    Each quantile moves to the nearest boundary between two different numbers. So no bin is empty, no bin comes twice,
    and a number that fills most of the column is cut off from the rest.

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
    return [_roundest(low, high) for low, high in _sides(levels, _quantile_cuts(counts, n_bins))]


def frequent_thresholds(levels: Floats, counts: Counts, max_thresholds: int) -> list[float]:
    """Return at most `max_thresholds` thresholds: between all numbers if these are few, else at quantiles.

    A number that is more frequent than the share of one code is cut off from the rest, and the quantiles are those of
    the others. Thresholds between whole numbers are numbers that occur. Others are rounded down to the fewest digits
    that separate the same numbers.

    Examples
    --------
    >>> levels, counts = np.unique([18.0, 23, 23, 38, 61], return_counts=True)
    >>> frequent_thresholds(levels, counts, 255)
    [23.0, 38.0, 61.0]
    >>> levels, counts = np.unique([0.0] * 92 + [10, 20, 30, 40, 50, 60, 70, 80], return_counts=True)
    >>> frequent_thresholds(levels, counts, 4)
    [10.0, 30.0, 50.0, 70.0]
    """
    if levels.size <= max_thresholds + 1:
        cuts = np.arange(levels.size - 1)
    else:
        n_codes = max_thresholds + 1
        cuts = _quantile_cuts(np.minimum(counts, _share(counts, n_codes)), n_codes)
    is_whole = bool((levels == np.rint(levels)).all()) and bool((abs(levels) <= _LARGEST_WHOLE).all())
    return [high if is_whole else _shortest(low, high) for low, high in _sides(levels, cuts)]


def _sides(levels: Floats, cuts: Counts) -> Iterator[tuple[float, float]]:
    """Return the numbers on both sides of each cut."""
    return zip(levels[cuts].tolist(), levels[cuts + 1].tolist(), strict=True)


def _quantile_cuts(weights: NDArray[Any], n_parts: int) -> Counts:
    """Return the numbers of the levels after which the column is cut, into parts of about the same weight."""
    below = np.cumsum(weights)
    quantiles = below[-1] * np.arange(1, n_parts) / n_parts
    boundaries = below[:-1]
    right = np.searchsorted(boundaries, quantiles).clip(0, boundaries.size - 1)
    left = (right - 1).clip(0)
    return np.unique(np.where(quantiles - boundaries[left] <= boundaries[right] - quantiles, left, right))


def _share(counts: Counts, n_codes: int) -> float:
    """Return the weight of one code when every number that weighs more has a code of its own.

    With the `n` most frequent numbers set apart, the others share `n_codes - n` codes. The first `n` will do for which
    no number among the others weighs more than that share.
    """
    falling = np.sort(counts)[::-1]
    rest = falling[::-1].cumsum()[::-1][:n_codes]
    shares = rest / np.arange(n_codes, 0, -1)
    return float(shares[np.argmax(falling[:n_codes] <= shares)])


def _roundest(low: float, high: float) -> float:
    """Return `high` rounded to the fewest digits that keep it above `low` and not above itself.

    Saved journals learn their bins anew, so this must not change.
    """
    rounded = (float(f"{high:.{digits}g}") for digits in range(1, 17))
    return next((edge for edge in rounded if low < edge <= high), high)


def _shortest(low: float, high: float) -> float:
    """Return `high` rounded down to the fewest digits that keep it above `low`."""
    contexts = (Context(prec=digits, rounding=ROUND_FLOOR) for digits in range(1, 18))
    rounded = (float(context.create_decimal(repr(high))) for context in contexts)
    return next((threshold for threshold in rounded if threshold > low), high)
