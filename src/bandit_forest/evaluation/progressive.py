"""Rewards of policies that learn: a policy learns from a log and is evaluated on it, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.bandit import Bandit
from bandit_forest.bandit.pairs import PairBandit
from bandit_forest.distributed.shards import Lessons
from bandit_forest.encoding import ContextEncoder
from bandit_forest.evaluation.bandits import given_to, policy_on
from bandit_forest.evaluation.log import Log, Source
from bandit_forest.evaluation.models import growing_pieces
from bandit_forest.evaluation.statistics.estimate import Estimate
from bandit_forest.evaluation.statistics.evidence import Evidence, logged_evidence, policy_evidence
from bandit_forest.evaluation.statistics.linear import LEAST_SAMPLE
from bandit_forest.evaluation.statistics.spread import LEAST_REWARDS, Spread
from bandit_forest.evaluation.statistics.sums import Sums
from bandit_forest.evaluation.targets import Batched, propensities_of
from bandit_forest.parameters import check_parameter
from bandit_forest.randomness import draw
from bandit_forest.validation import check_int

__all__ = ["Learner", "Progressive", "Replay", "learn_along", "lessons_of", "replay"]

Floats = NDArray[np.float64]

_REPLAY = 0x7265706C  # the stream of random numbers that replay draws from


class Learner(Batched, Protocol):
    """Methods that a policy needs to learn from a log and be evaluated on it."""

    def mean_rewards_many(self, contexts: Any) -> Floats:
        """Return the estimated mean reward of each action, one row per context."""

    def learn_many(self, contexts: Any, actions: ArrayLike, rewards: ArrayLike, *, propensities: ArrayLike) -> None:
        """Learn from events in their order."""


class Progressive(NamedTuple):
    """Average reward of a policy while it learned from every event of a log."""

    n_events: int
    """Number of events with a reward."""
    doubly_robust: Estimate
    snips: Estimate
    logged: Estimate
    """What the logging policy earned."""
    gain: Estimate
    """Doubly robust, minus logged, on the same events."""
    effective: float
    """Effective sample size."""
    rare_rewards: float
    """Number of rare rewards that the effective sample can be expected to hold."""

    @property
    def is_judged(self) -> bool:
        """Whether the log has enough events and rewards for a verdict, as in `evaluate`."""
        return self.effective >= LEAST_SAMPLE and self.rare_rewards >= LEAST_REWARDS


class Replay(NamedTuple):
    """Average reward of a policy while it learned from the events that it could have decided itself."""

    n_events: int
    """Number of events with a reward."""
    n_accepted: int
    """Number of events that the policy lived through."""
    estimate: Estimate


def learn_along(
    log: Source,
    policy: Learner | Bandit | PairBandit,
    *,
    encoder: ContextEncoder | None = None,
    confidence: float = 0.95,
    progress: Callable[[int], object] | None = None,
) -> Progressive:
    """Let a policy learn from a log, and return its estimated reward during the learning.

    Each piece of events is evaluated before the policy learns it, by the doubly robust estimator with the policy's own
    mean rewards. The estimate is for a policy that learns from the logged decisions, not from its own decisions.

    Parameters
    ----------
    log
        A `Log`, or a reader of a file.
    policy
        A `Bandit` for a log with features, a `PairBandit` for a log with offers, or another policy; it learns.
    encoder
        Encodes the features of the log; the log's own contexts when None. Left out with a bandit.
    confidence
        Confidence level of the intervals.
    progress
        Called with the number of events read so far, every now and then.
    """
    learner: Learner = policy_on(policy, log)
    sums, spread, n_seen = Sums(2), Spread(), 0
    for batch, contexts in _rewarded(log, learner, encoder):
        for rows in growing_pieces(len(batch), n_seen):
            part, seen = batch[rows], contexts[rows]
            sums.add([_evidence(part, seen, learner), logged_evidence(part.rewards)])
            spread.add(part.rewards)
            learner.learn_many(seen, part.actions, _shares(part), propensities=part.propensities)
        n_seen += len(batch)
        if progress is not None:
            progress(n_seen)
    effective = sums.effective_sample_size(0)
    return Progressive(
        n_events=n_seen,
        doubly_robust=sums.estimate(0, "dr", confidence),
        snips=sums.estimate(0, "snips", confidence),
        logged=sums.estimate(1, "dr", confidence),
        gain=sums.difference(0, 1, "dr", confidence),
        effective=effective,
        rare_rewards=effective * spread.rarity,
    )


def replay(
    log: Source,
    policy: Learner | Bandit | PairBandit,
    *,
    encoder: ContextEncoder | None = None,
    bound: float | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    progress: Callable[[int], object] | None = None,
) -> Replay:
    """Replay the events of a log that a policy could have decided itself, and return its reward.

    An event is accepted with probability weight / `bound`. The weight is the policy's probability of the logged action
    divided by its propensity. The policy learns from accepted events only. As long as no weight exceeds the bound, they
    are a stream as the policy itself would have made it. An event whose weight exceeds the bound is accepted, and
    counts weight / bound times in the estimate.

    Parameters
    ----------
    log
        A `Log`, or a reader of a file.
    policy
        A `Bandit` for a log with features, a `PairBandit` for a log with offers, or another policy; it learns.
    encoder
        Encodes the features of the log; the log's own contexts when None. Left out with a bandit.
    bound
        Largest expected weight. None: the number of actions, which is exact for a uniform logging policy.
    seed
        Seed of the random acceptances.
    confidence
        Confidence level of the interval.
    progress
        Called with the number of events read so far, every now and then.

    References
    ----------
    Li, Chu, Langford and Wang, Unbiased Offline Evaluation of Contextual-bandit-based News Article Recommendation
    Algorithms, WSDM 2011.
    Dudík, Erhan, Langford and Li, Sample-efficient Nonstationary Policy Evaluation for Contextual Bandits, UAI 2012.
    """
    learner: Learner = policy_on(policy, log)
    rule = "a number of at least 1"
    limit = float(learner.n_actions) if bound is None else check_parameter(bound, "bound", "replay", rule, 1.0, np.inf)
    stream = check_int(seed, "seed", "replay", low=0)
    sums = Sums(1)
    n_seen = n_accepted = 0
    for batch, contexts in _rewarded(log, learner, encoder):
        shares, counts = _shares(batch), np.zeros(len(batch))
        for event in range(len(batch)):
            one = batch[event : event + 1]
            row, action = contexts[event : event + 1], one.actions
            probability = float(propensities_of(learner, row, one.available)[0, action[0]])
            weight = probability / float(one.propensities[0]) / limit
            if draw(stream, _REPLAY, n_seen + event) < weight:
                counts[event] = max(weight, 1.0)
                learner.learn_many(row, action, shares[event : event + 1], propensities=[probability])
        lived = counts > 0
        sums.add([_lived(batch.rewards[lived], counts[lived])])
        n_seen, n_accepted = n_seen + len(batch), n_accepted + int(np.count_nonzero(lived))
        if progress is not None:
            progress(n_seen)
    return Replay(n_seen, n_accepted, sums.estimate(0, "snips", confidence))


def lessons_of(log: Source, *, encode: Callable[[Log], NDArray[np.uint8]]) -> Lessons:
    """Return the events of a log that have a reward, as `learn_in_shards` takes them.

    Parameters
    ----------
    log
        A `Log`, or a reader of a file.
    encode
        Function that returns the contexts of a part of the log.
    """
    batches = [(encode(batch), batch.actions, _shares(batch)) for batch in _with_rewards(log)]
    return Lessons(*(np.concatenate(column) for column in zip(*batches, strict=True)))


def _evidence(log: Log, contexts: Any, policy: Learner) -> Evidence:
    low, high = log.reward_range
    table = propensities_of(policy, contexts, log.available)
    means = low + (high - low) * np.nan_to_num(policy.mean_rewards_many(contexts), nan=0.5)
    return policy_evidence(log, table, means)


def _lived(rewards: Floats, counts: Floats) -> Evidence:
    """Return the evidence of events that count more or less than once."""
    zeros = np.zeros_like(rewards)
    return Evidence(rewards, counts, zeros, zeros, zeros)


def _rewarded(log: Source, policy: Learner, encoder: ContextEncoder | None) -> Iterator[tuple[Log, Any]]:
    """Yield the events with a reward, and what the policy decides on."""
    return ((known, given_to(policy, known, encoder)) for known in _with_rewards(log))


def _with_rewards(log: Source) -> Iterator[Log]:
    for batch in log.batches():
        known = batch[np.flatnonzero(~np.isnan(batch.rewards))]
        if len(known):
            yield known


def _shares(log: Log) -> Floats:
    low, high = log.reward_range
    return (log.rewards - low) / (high - low)
