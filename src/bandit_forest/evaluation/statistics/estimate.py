"""An estimate with its interval."""

from __future__ import annotations

import math
from typing import NamedTuple

from bandit_forest.evaluation.statistics.special import student_quantile

__all__ = ["Estimate"]


class Estimate(NamedTuple):
    """A value with its confidence interval."""

    value: float
    standard_error: float
    low: float
    high: float

    @classmethod
    def around(cls, value: float, standard_error: float, confidence: float, *, degrees: float = math.inf) -> Estimate:
        """Return an estimate whose interval is that of the normal distribution, or of Student's with these degrees.

        Examples
        --------
        >>> round(Estimate.around(0.5, 0.1, 0.95).high, 3), round(Estimate.around(0.5, 0.1, 0.95, degrees=20).high, 3)
        (0.696, 0.709)
        """
        radius = student_quantile((1 + confidence) / 2, degrees) * standard_error
        return cls(value, standard_error, value - radius, value + radius)
