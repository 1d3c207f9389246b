"""Findings about a log, before any estimate: each has its meaning and a remedy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.evaluation.balance import Balance
from bandit_forest.evaluation.statistics.estimate import Estimate
from bandit_forest.evaluation.statistics.linear import LEAST_SAMPLE
from bandit_forest.evaluation.statistics.special import chi_squared_tail
from bandit_forest.evaluation.statistics.spread import LEAST_REWARDS

__all__ = ["Finding", "Level", "Weights", "log_findings", "policy_findings"]

_FALSE_ALARMS = 0.005  # probability that a test finds a fault where there is none
_LARGE_SHARE = 0.05
_DRIFT = 0.02


class Level(StrEnum):
    """Effect of a finding on the verdict."""

    SOUND = "sound"
    CAUTION = "caution"
    STOP = "stop"


class Finding(NamedTuple):
    """One finding about a log."""

    name: str
    level: Level
    value: str
    """What was found."""
    meaning: str
    """What it means, and what to do."""


def log_findings(parts: Sequence[Balance], action_names: tuple[str, ...]) -> list[Finding]:
    """Return what the log itself shows, whatever policy is evaluated.

    Parameters
    ----------
    parts
        Sums of consecutive parts of the log, of about the same size.
    action_names
        The name of each action.
    """
    whole = sum(parts[1:], start=parts[0])
    return [
        _mean_weight(whole),
        _mean_weight_by_action(whole, action_names),
        _calibration(whole),
        _mean_weight_over_time(parts),
        _sample_ratio(whole),
        _contradictions(whole),
        _certain(whole),
        _rewarded(whole, parts),
    ]


class Weights(NamedTuple):
    """Importance weights of one policy, summed up."""

    n_events: int
    """Number of events with a reward."""
    effective: float
    """Effective sample size."""
    effective_over_time: Sequence[float]
    """Effective sample size of each part of the log."""
    rare_rewards: float
    """Number of rare rewards that the effective sample can be expected to hold."""
    largest_share: float
    """Share of the largest weight in the sum of all."""
    mean: Estimate
    """Mean weight."""


def policy_findings(name: str, weights: Weights) -> list[Finding]:
    """Return what the log shows about one policy."""
    return [
        _effective(name, weights),
        _rare_rewards(name, weights.rare_rewards),
        _largest(name, weights.largest_share),
        _policy_weight(name, weights.mean),
    ]


def _mean_weight(whole: Balance) -> Finding:
    (mean,), (error,) = whole.overall.means()
    return _tested(
        "mean weight",
        whole.overall.scores(),
        f"{mean:.3f} ± {error:.3f}, expected 1",
        "the propensities agree with the actions that were taken",
        f"the propensities are not the probabilities with which actions were drawn{_unless_available(whole)}. Log "
        "the probability of the decision itself, at its time, and see that contexts, actions and propensities belong "
        "to the same events",
    )


def _mean_weight_by_action(whole: Balance, action_names: tuple[str, ...]) -> Finding:
    scores = whole.by_action.scores()
    worst = int(np.argmax(np.abs(scores)))
    mean, error = whole.by_action.means()
    return _tested(
        "mean weight by action",
        scores,
        f"furthest from 1: {action_names[worst]}, {mean[worst]:.3f} ± {error[worst]:.3f}",
        "each action was taken as often as its propensities say",
        f"an action was taken more or less often than its propensities say{_unless_available(whole)}. Look for a rule "
        "that overrides the policy, or for events that are lost by action",
    )


def _unless_available(whole: Balance) -> str:
    """Return what else a mean weight other than 1 may come from, where the log does not exclude it."""
    return "" if whole.n_restricted else ", or not all actions were available: name the column with `available`"


def _calibration(whole: Balance) -> Finding:
    scores = whole.by_bin.scores()[whole.by_bin.pairs > 0]
    mean, _ = whole.by_bin.means()
    known = mean[whole.by_bin.pairs > 0]
    spread = f"{known.min():.3f} to {known.max():.3f} in {len(known)} bins" if len(known) else "no events"
    return _tested(
        "calibration of propensities",
        scores,
        f"mean weight {spread}",
        "likely and unlikely actions were taken as often as their propensities say",
        "propensities are wrong for actions that are likely, or unlikely, in their context. They may be rounded, cut "
        "off, or those of another event",
    )


def _mean_weight_over_time(parts: Sequence[Balance]) -> Finding:
    scores = np.concatenate([part.overall.scores() for part in parts])
    worst = int(np.argmax(np.abs(scores)))
    (mean,), _ = parts[worst].overall.means()
    return _tested(
        "mean weight over time",
        scores,
        f"furthest from 1: part {worst + 1} of {len(parts)}, {mean:.3f}",
        "the propensities agree with the actions in every part of the log",
        "the propensities are wrong in a part of the log. Look what changed at that time, and leave that part out",
    )


def _sample_ratio(whole: Balance) -> Finding:
    if not whole.expected.any():
        return Finding(
            "sample ratio",
            Level.SOUND,
            "not tested",
            "The log has no probabilities of all actions. The mean weight by action tests nearly the same.",
        )
    deviation = whole.taken - whole.expected
    degrees = int(np.linalg.matrix_rank(whole.covariance, tol=1e-9 * max(whole.n_events, 1)))
    statistic = float(deviation @ np.linalg.pinv(whole.covariance, rcond=1e-9, hermitian=True) @ deviation)
    chance = chi_squared_tail(statistic, max(degrees, 1))
    return _judged(
        "sample ratio",
        chance >= _FALSE_ALARMS,
        f"chi squared {statistic:.1f} with {degrees} degrees of freedom, p = {chance:.2g}",
        "actions were taken as often as their probabilities say",
        "actions were not taken as often as their probabilities say. Look for lost events and for rules that override "
        "the policy",
    )


def _contradictions(whole: Balance) -> Finding:
    return _judged(
        "consistent probabilities",
        whole.n_contradictions == 0,
        f"{whole.n_contradictions:,} events contradict themselves",
        "propensities and probabilities say the same",
        "there are events whose probabilities do not sum to 1, or whose propensity is not the probability of the "
        "action taken. Write both from the same decision",
    )


def _certain(whole: Balance) -> Finding:
    share = whole.n_certain / max(whole.n_events, 1)
    return _judged(
        "exploration",
        share == 0,
        f"{share:.1%} of the events were decided with propensity 1",
        "every event left a chance to some other action",
        "those events tell nothing about any other action, and no test can tell whether their propensity is true. "
        "Estimates hold for policies that act alike there. Check that 1 is not a default or a cut-off",
        otherwise=Level.CAUTION,
    )


def _rewarded(whole: Balance, parts: Sequence[Balance]) -> Finding:
    shares = np.array([part.n_rewarded / max(part.n_events, 1) for part in parts])
    share = whole.n_rewarded / max(whole.n_events, 1)
    sizes = np.array([part.n_events for part in parts])
    expected = max(share * (1 - share), 1e-12)
    statistic = float((sizes * (shares - share) ** 2).sum() / expected)
    steady = chi_squared_tail(statistic, max(len(parts) - 1, 1)) >= _FALSE_ALARMS or float(np.ptp(shares)) < _DRIFT
    return _judged(
        "events with a reward",
        share == 1 or steady,
        f"{share:.1%}, {shares.min():.1%} to {shares.max():.1%} over time",
        "rewards are known" if share == 1 else "the share is steady. Estimates hold for events with a reward",
        "the share of events with a reward changes over the log. Late rewards may still be missing. Cut the log where "
        "all rewards have come, or give a missing reward its value",
        otherwise=Level.CAUTION,
    )


def _effective(name: str, weights: Weights) -> Finding:
    effective, parts = weights.effective, weights.effective_over_time
    share = effective / max(weights.n_events, 1)
    return _judged(
        f"{name}: effective sample size",
        effective >= LEAST_SAMPLE,
        f"{effective:,.0f} of {weights.n_events:,} events ({share:.1%}); by part of the log {min(parts):,.0f} to "
        f"{max(parts):,.0f}",
        "the log has enough events that act like this policy",
        f"below {LEAST_SAMPLE} there is no verdict: the logging policy seldom did what this policy would do. Log more "
        "events, or events with more exploration",
    )


def _rare_rewards(name: str, number: float) -> Finding:
    return _judged(
        f"{name}: rare rewards",
        number >= LEAST_REWARDS,
        f"{number:,.1f} to be expected in the effective sample",
        "the log has enough of them to estimate their variance",
        f"below {LEAST_REWARDS} there is no verdict: rewards are rare, and where this policy weighs heavily too few "
        "came to estimate their variance, so that the interval is too narrow. Log more events",
    )


def _largest(name: str, share: float) -> Finding:
    return _judged(
        f"{name}: largest weight",
        share <= _LARGE_SHARE,
        f"{share:.1%} of all weight is on one event",
        "no single event decides",
        "one event decides much of the estimate. Trust the doubly robust estimate more, and the intervals less",
        otherwise=Level.CAUTION,
    )


def _policy_weight(name: str, mean: Estimate) -> Finding:
    score = (mean.value - 1) / mean.standard_error if mean.standard_error > 0 else 0.0
    low = abs(score) <= NormalDist().inv_cdf(1 - _FALSE_ALARMS / 2)
    return _judged(
        f"{name}: mean weight",
        low,
        f"{mean.value:.3f} ± {mean.standard_error:.3f}, expected 1",
        "the weights average to 1, as they should",
        "weights that do not average to 1 come from wrong propensities, or from actions that this policy takes and the "
        "log never does",
        otherwise=Level.CAUTION,
    )


def _tested(name: str, scores: NDArray[np.float64], value: str, good: str, bad: str) -> Finding:
    """Return a finding of tests, each score being normal with standard error 1 where there is no fault."""
    limit = NormalDist().inv_cdf(1 - _FALSE_ALARMS / 2 / max(len(scores), 1))
    worst = float(np.abs(scores).max(initial=0.0))
    return _judged(name, math.isnan(worst) or worst <= limit, value, good, bad)


def _judged(name: str, is_sound: bool, value: str, good: str, bad: str, *, otherwise: Level = Level.STOP) -> Finding:
    text = good if is_sound else bad
    return Finding(name, Level.SOUND if is_sound else otherwise, value, f"{text[0].upper()}{text[1:]}.")
