"""Estimators of what a policy would have earned: pure functions of arrays.

Each is a ratio of two means, so that each has its terms: a numerator and a denominator per event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.errors import refuse
from bandit_forest.evaluation.statistics.estimate import Estimate, Ratios

__all__ = ["ESTIMATORS", "STUDENT", "Evidence", "Terms", "direct", "doubly_robust", "ips", "snips", "weights_of"]

Floats = NDArray[np.float64]


class Terms(NamedTuple):
    """Numerator and denominator of each event."""

    numerators: Floats
    denominators: Floats


class Evidence(NamedTuple):
    """What is known of each event about one policy."""

    rewards: Floats
    """The reward of the action that was taken."""
    weights: Floats
    """The policy's probability of that action, divided by its propensity."""
    means_taken: Floats
    """The estimated mean reward of that action."""
    means_policy: Floats
    """The estimated mean reward of the policy: of every action, by the policy's probabilities."""


def _ips_terms(evidence: Evidence) -> Terms:
    return Terms(evidence.weights * evidence.rewards, np.ones_like(evidence.rewards))


def _snips_terms(evidence: Evidence) -> Terms:
    return Terms(evidence.weights * evidence.rewards, evidence.weights)


def _direct_terms(evidence: Evidence) -> Terms:
    return Terms(evidence.means_policy, np.ones_like(evidence.rewards))


def _doubly_robust_terms(evidence: Evidence) -> Terms:
    correction = evidence.weights * (evidence.rewards - evidence.means_taken)
    return Terms(evidence.means_policy + correction, np.ones_like(evidence.rewards))


ESTIMATORS: Mapping[str, Callable[[Evidence], Terms]] = MappingProxyType(
    {"snips": _snips_terms, "dr": _doubly_robust_terms, "ips": _ips_terms, "dm": _direct_terms}
)
"""The terms of each estimator, by its short name; the default first."""

STUDENT = frozenset({"snips", "dr"})
"""Estimators whose intervals have Student's quantiles; those of the others are normal, as in other tools."""


def ips(weights: ArrayLike, rewards: ArrayLike, *, confidence: float = 0.95) -> Estimate:
    """Return the estimate by inverse propensity scores: the mean of weight times reward, with Wald's interval.

    Parameters
    ----------
    weights
        Probability of the logged action under the policy, divided by its propensity; one per event.
    rewards
        Reward of the logged action, one per event.
    confidence
        Of the interval.

    Examples
    --------
    >>> ips([2, 0, 2, 0], [1, 1, 0, 0]).value
    0.5
    """
    return _estimate("ips", weights, rewards, None, None, confidence)


def snips(weights: ArrayLike, rewards: ArrayLike, *, confidence: float = 0.95) -> Estimate:
    """Return the self-normalised estimate: weighted mean of the rewards, with the interval of the delta method.

    Parameters
    ----------
    weights, rewards, confidence
        As in `ips`.

    References
    ----------
    Swaminathan and Joachims, The Self-Normalized Estimator for Counterfactual Learning, NeurIPS 2015.

    Examples
    --------
    >>> snips([2, 0, 1, 0], [1, 1, 0, 0]).value
    0.6666666666666666
    """
    return _estimate("snips", weights, rewards, None, None, confidence)


def direct(probabilities: ArrayLike, means: ArrayLike, *, confidence: float = 0.95) -> Estimate:
    """Return the estimate of the direct method: what a model of the rewards expects. A diagnostic only.

    Parameters
    ----------
    probabilities
        Probability of every action under the policy, one row per event.
    means
        Estimated mean reward of every action, one row per event.
    confidence
        Of the interval, which knows nothing of the model's errors.

    Examples
    --------
    >>> direct([[0.5, 0.5]] * 2, [[0.2, 0.4]] * 2).value
    0.30000000000000004
    """
    table, estimated = _matrices(probabilities, means, "direct")
    zeros = np.zeros(len(table))
    evidence = Evidence(zeros, zeros, zeros, (table * estimated).sum(axis=1))
    return _single("dm", evidence, confidence)


def doubly_robust(
    weights: ArrayLike,
    rewards: ArrayLike,
    actions: ArrayLike,
    probabilities: ArrayLike,
    means: ArrayLike,
    *,
    confidence: float = 0.95,
) -> Estimate:
    """Return the doubly robust estimate: the direct method, corrected by the weighted errors of its model.

    Parameters
    ----------
    weights, rewards, confidence
        As in `ips`.
    actions
        The logged action, one per event.
    probabilities, means
        As in `direct`. The means of an event must not know its reward.

    References
    ----------
    Dudík, Langford and Li, Doubly Robust Policy Evaluation and Learning, ICML 2011.

    Examples
    --------
    >>> doubly_robust([2, 0], [1, 1], [0, 1], [[1, 0]] * 2, [[0.5, 0.5]] * 2).value
    1.0
    """
    table, estimated = _matrices(probabilities, means, "doubly_robust")
    taken = estimated[np.arange(len(table)), np.asarray(actions, dtype=np.int64)]
    return _estimate("dr", weights, rewards, taken, (table * estimated).sum(axis=1), confidence)


def weights_of(probabilities: Floats, actions: NDArray[np.int64], propensities: Floats) -> Floats:
    """Return the importance weight of each event: the policy's probability of the logged action by its propensity.

    Examples
    --------
    >>> weights_of(np.array([[0.2, 0.8]]), np.array([1]), np.array([0.5]))
    array([1.6])
    """
    return probabilities[np.arange(len(actions)), actions] / propensities


def _estimate(
    name: str,
    weights: ArrayLike,
    rewards: ArrayLike,
    taken: Floats | None,
    policy: Floats | None,
    confidence: float,
) -> Estimate:
    earned, weight = np.asarray(rewards, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if earned.ndim != 1 or weight.shape != earned.shape:
        refuse("weights", name, "one number per event, like the rewards", weights)
    zeros = np.zeros_like(earned)
    evidence = Evidence(earned, weight, zeros if taken is None else taken, zeros if policy is None else policy)
    return _single(name, evidence, confidence)


def _single(name: str, evidence: Evidence, confidence: float) -> Estimate:
    terms, ratios = ESTIMATORS[name](evidence), Ratios(1, student=name in STUDENT)
    return ratios.add(terms.numerators[:, None], terms.denominators[:, None]).estimate(0, confidence)


def _matrices(probabilities: ArrayLike, means: ArrayLike, owner: str) -> tuple[Floats, Floats]:
    table, estimated = np.asarray(probabilities, dtype=np.float64), np.asarray(means, dtype=np.float64)
    if table.ndim != 2 or table.shape != estimated.shape:
        refuse("means", owner, "a matrix of the shape of the probabilities", means)
    return table, estimated
