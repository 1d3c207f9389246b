"""Estimators as functions of the means of four numbers per event, with their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ESTIMATORS", "LEAST_SAMPLE", "STUDENT", "Linear", "Means"]

Floats = NDArray[np.float64]

LEAST_SAMPLE = 200
"""Effective sample size below which there is no verdict, and a model of the rewards is not trusted in full."""

_LEAST_VARIANCE = 1e-15


class Means(NamedTuple):
    """Means over events of the numbers of one policy."""

    earned: float
    """Weight times reward."""
    predicted: float
    """Weight times the estimated mean reward of the action taken."""
    weight: float
    expected: float
    """The estimated mean reward of the policy."""
    covariance: Floats
    """Covariance of the four numbers above."""
    effective: float
    """Effective sample size."""


class Linear(NamedTuple):
    """A function of the four means: its value, and its gradient."""

    value: float
    gradient: Floats


def _ips(means: Means) -> Linear:
    return Linear(means.earned, np.array([1.0, 0.0, 0.0, 0.0]))


def _direct(means: Means) -> Linear:
    return Linear(means.expected, np.array([0.0, 0.0, 0.0, 1.0]))


def _snips(means: Means) -> Linear:
    return _ratio(means.earned, means.weight, 0)


def _doubly_robust(means: Means) -> Linear:
    """Return SNIPS, corrected by a control variate.

    The weighted mean of the model's predictions errs as that of the rewards does, and what it should be is known: the
    mean prediction for the policy. That error, times a share, is subtracted. With share 0 this is SNIPS, with share 1
    the self-normalised doubly robust estimate. The share is the one in [0, 1] with the least variance, and is reduced
    where the effective sample is too small to know that variance.
    """
    plain, predicted = _snips(means), _ratio(means.predicted, means.weight, 1)
    error = Linear(predicted.value - means.expected, predicted.gradient - [0.0, 0.0, 0.0, 1.0])
    variance = float(error.gradient @ means.covariance @ error.gradient)
    if not variance > _LEAST_VARIANCE:
        return plain
    best = float(plain.gradient @ means.covariance @ error.gradient) / variance
    share = min(max(best, 0.0), 1.0) * min(means.effective / LEAST_SAMPLE, 1.0)
    return Linear(plain.value - share * error.value, plain.gradient - share * error.gradient)


def _ratio(numerator: float, weight: float, place: int) -> Linear:
    scale = 1.0 / weight if weight else math.nan
    gradient = np.zeros(4)
    gradient[place], gradient[2] = scale, -numerator * scale**2
    return Linear(numerator * scale, gradient)


ESTIMATORS: Mapping[str, Callable[[Means], Linear]] = MappingProxyType(
    {"snips": _snips, "dr": _doubly_robust, "ips": _ips, "dm": _direct}
)
"""The estimators by their short names; the default first."""

STUDENT = frozenset({"snips", "dr"})
"""Estimators whose intervals allow for heavy weights; those of the others are Wald's, as in other tools."""
