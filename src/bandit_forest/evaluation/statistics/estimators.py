"""Estimators of the reward of a policy on logged events: pure functions of arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.errors import refuse
from bandit_forest.evaluation.statistics.estimate import Estimate
from bandit_forest.evaluation.statistics.evidence import Evidence
from bandit_forest.evaluation.statistics.sums import Sums

__all__ = ["direct", "doubly_robust", "ips", "snips"]

Floats = NDArray[np.float64]


def ips(weights: ArrayLike, rewards: ArrayLike, *, confidence: float = 0.95) -> Estimate:
    """Return the estimate by inverse propensity scores: the mean of weight times reward, with Wald's interval.

    Parameters
    ----------
    weights
        Probability of the logged action under the policy, divided by its propensity; one per event.
    rewards
        Reward of the logged action, one per event.
    confidence
        Confidence level of the interval.

    Examples
    --------
    >>> ips([2, 0, 2, 0], [1, 1, 0, 0]).value
    0.5
    """
    return _estimate("ips", *_columns(weights, rewards, "ips"), confidence)


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
    return _estimate("snips", *_columns(weights, rewards, "snips"), confidence)


def direct(probabilities: ArrayLike, means: ArrayLike, *, confidence: float = 0.95) -> Estimate:
    """Return the estimate of the direct method: the mean prediction of a model of the rewards. A diagnostic only.

    Parameters
    ----------
    probabilities
        Probability of every action under the policy, one row per event.
    means
        Estimated mean reward of every action, one row per event.
    confidence
        Confidence level of the interval, which ignores the errors of the model.

    Examples
    --------
    >>> direct([[0.5, 0.5]] * 2, [[0.2, 0.4]] * 2).value
    0.30000000000000004
    """
    table, estimated = _matrices(probabilities, means, "direct")
    expected = (table * estimated).sum(axis=1)
    return _estimate("ips", np.ones_like(expected), expected, confidence)


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

    `evaluate` uses a variant: it normalises the correction by its own weights, and multiplies the model by a share.

    Parameters
    ----------
    weights, rewards, confidence
        As in `ips`.
    actions
        The logged action, one per event.
    probabilities, means
        As in `direct`. The means of an event must be independent of its reward.

    References
    ----------
    Dudík, Langford and Li, Doubly Robust Policy Evaluation and Learning, ICML 2011.

    Examples
    --------
    >>> doubly_robust([2, 0], [1, 1], [0, 1], [[1, 0]] * 2, [[0.5, 0.5]] * 2).value
    1.0
    """
    table, estimated = _matrices(probabilities, means, "doubly_robust")
    weight, earned = _columns(weights, rewards, "doubly_robust")
    taken = estimated[np.arange(len(table)), np.asarray(actions, dtype=np.int64)]
    terms = (table * estimated).sum(axis=1) + weight * (earned - taken)
    return _estimate("snips", np.ones_like(terms), terms, confidence)


def _columns(weights: ArrayLike, rewards: ArrayLike, owner: str) -> tuple[Floats, Floats]:
    weight, earned = np.asarray(weights, dtype=np.float64), np.asarray(rewards, dtype=np.float64)
    if earned.ndim != 1 or weight.shape != earned.shape:
        refuse("weights", owner, "one number per event, like the rewards", weights)
    return weight, earned


def _estimate(name: str, weights: Floats, rewards: Floats, confidence: float) -> Estimate:
    zeros = np.zeros_like(rewards)
    return Sums(1).add([Evidence(rewards, weights, zeros, zeros, zeros)]).estimate(0, name, confidence)


def _matrices(probabilities: ArrayLike, means: ArrayLike, owner: str) -> tuple[Floats, Floats]:
    table, estimated = np.asarray(probabilities, dtype=np.float64), np.asarray(means, dtype=np.float64)
    if table.ndim != 2 or table.shape != estimated.shape:
        refuse("means", owner, "a matrix of the shape of the probabilities", means)
    return table, estimated
