"""The incomplete gamma function and Student's quantiles, as far as tests and intervals need them."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

__all__ = ["chi_squared_tail", "gamma_series", "student_quantile"]

_LEAST_DEGREES = 4.0
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
    return top + math.log(total), float((shares * numbers).sum()) / total / x


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


def student_quantile(probability: float, degrees: float) -> float:
    """Return a quantile of Student's distribution, by the expansion of Cornish and Fisher around the normal one.

    With at least 4 degrees of freedom it is right to two digits or more; fewer are taken for 4.

    Examples
    --------
    >>> round(student_quantile(0.975, 10), 2), round(student_quantile(0.975, math.inf), 4)
    (2.23, 1.96)
    """
    z, v = NormalDist().inv_cdf(probability), max(degrees, _LEAST_DEGREES)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return sum(term / v**power for power, term in enumerate(terms))
