"""Means over trials, with 95 % intervals."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.errors import MissingExtraError

__all__ = ["Mean", "mean"]


class Mean(NamedTuple):
    """A mean over trials."""

    value: float
    margin: float
    """Half the width of the 95 % interval; NaN for one trial."""


def mean(values: NDArray[np.float64]) -> Mean:
    """Return the mean of independent trials, with its 95 % interval by Student's t.

    Examples
    --------
    >>> mean(np.array([1.0, 2.0, 3.0]))
    Mean(value=2.0, margin=2.48...)
    """
    n_trials = len(values)
    if n_trials == 1:
        return Mean(float(values[0]), math.nan)
    error = float(values.std(ddof=1)) / math.sqrt(n_trials)
    return Mean(float(values.mean()), t_quantile(n_trials - 1) * error)


def t_quantile(n_degrees: int) -> float:
    """Return the quantile of Student's distribution with 2.5 % above it.

    Examples
    --------
    >>> round(t_quantile(9), 3)
    2.262
    """
    try:
        from scipy.special import stdtrit
    except ImportError as error:
        raise MissingExtraError("Reports need SciPy: pip install 'bandit-forest[experiments]'.") from error
    return float(stdtrit(n_degrees, 0.975))
