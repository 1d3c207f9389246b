"""The incomplete gamma function, as far as tests and confidence sequences need it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["chi_squared_tail", "gamma_series"]

_EXPONENT = 40.0  # what is left out of a series is below exp(-40) of its sum


def gamma_series(a: float, x: float) -> tuple[float, float]:
    """Return the logarithm of S(a, x), and the derivative of that logarithm in x.

    S(a, x) is the sum over n >= 0 of x^n / (a (a + 1) ... (a + n)), and the lower incomplete gamma function is
    x^a e^-x S(a, x). All terms are positive, so that nothing cancels.

    Examples
    --------
    >>> log_sum, _ = gamma_series(1.0, 2.0)
    >>> round(math.exp(log_sum), 12) == round((math.exp(2) - 1) / 2, 12)
    True
    """
    # Terms grow up to n = x - a, then fall like a Poisson distribution's: Bernstein's bound says how many matter.
    n_terms = int(max(x - a, 0.0) + _EXPONENT / 3 + math.sqrt((_EXPONENT / 3) ** 2 + 2 * _EXPONENT * max(x, a))) + 2
    numbers = np.arange(n_terms, dtype=np.float64)
    logs: NDArray[np.float64] = np.cumsum(math.log(x) - np.log(a + numbers)) - math.log(x)
    top = float(logs.max())
    shares = np.exp(logs - top)
    total = float(shares.sum())
    return top + math.log(total), float(shares @ numbers) / total / x


def chi_squared_tail(statistic: float, degrees: int) -> float:
    """Return the probability that a chi-squared variable exceeds a statistic.

    Examples
    --------
    >>> round(chi_squared_tail(3.841459, 1), 6)
    0.05
    """
    if statistic <= 0.0:
        return 1.0
    a, x = degrees / 2, statistic / 2
    return max(0.0, 1.0 - math.exp(a * math.log(x) - x - math.lgamma(a) + gamma_series(a, x)[0]))
