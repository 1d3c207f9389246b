"""One pass over a log: sums of all estimators, sequences and diagnostics, in parts of about the same size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bandit_forest.encoding import ContextEncoder
from bandit_forest.evaluation.balance import Balance
from bandit_forest.evaluation.contexts import Contexts
from bandit_forest.evaluation.log import BATCH_SIZE, Log, Source
from bandit_forest.evaluation.models import ActionMeans, ForestMeans, LoggingModel, Means, OfferMeans
from bandit_forest.evaluation.statistics.evidence import logged_evidence, policy_evidence
from bandit_forest.evaluation.statistics.sequences import Interval, ValueSequence
from bandit_forest.evaluation.statistics.spread import Spread
from bandit_forest.evaluation.statistics.sums import Sums
from bandit_forest.evaluation.targets import Target

__all__ = ["N_PARTS", "WEIGHT_EDGES", "Part", "Pass"]

Floats = NDArray[np.float64]

N_PARTS = 20
WEIGHT_EDGES = 2.0 ** np.arange(-4, 13)
"""Where the groups of weights end whose sums are kept."""


class Part:
    """Sums of consecutive events. The logging policy comes first among the policies, then the targets."""

    def __init__(self, n_targets: int, n_actions: int) -> None:
        self.balance = Balance(n_actions)
        self.sums = Sums(1 + n_targets)
        self.rewards = Spread()
        self.largest_weights = np.zeros(1 + n_targets)
        self.weight_sums = np.zeros((n_targets, len(WEIGHT_EDGES) + 1))
        """Sum of the weights of each target, by their size."""
        self.end_time: float | None = None
        self.sequences: list[Interval] = []
        """Confidence sequence of each target's value, from the first event of the log up to the last of this part."""

    def __add__(self, other: Part) -> Part:
        both = object.__new__(Part)
        both.balance = self.balance + other.balance
        both.sums = self.sums + other.sums
        both.rewards = self.rewards + other.rewards
        both.weight_sums = self.weight_sums + other.weight_sums
        both.largest_weights = np.maximum(self.largest_weights, other.largest_weights)
        both.end_time, both.sequences = other.end_time, other.sequences
        return both


class Pass:
    """Goes through a log once.

    Parameters
    ----------
    source
        The log.
    targets
        The policies to evaluate.
    means
        Estimates of mean rewards for the doubly robust estimator and the direct method; a fresh forest when None.
    encoder
        Encodes the log's features for the models that learn along; fitted on the first batch when None.
    confidence
        Confidence level of the sequences.
    """

    def __init__(
        self,
        source: Source,
        targets: Sequence[Target],
        *,
        means: Means | None,
        encoder: ContextEncoder | None,
        confidence: float,
    ) -> None:
        self._source, self._targets, self._confidence = source, targets, confidence
        self._means, self._contexts = means, Contexts(encoder)
        self._logging: LoggingModel | None = None
        self.sequences = [ValueSequence(reward_range=source.reward_range) for _ in targets]
        self.parts: list[Part] = []
        self._part_is_full = False

    def run(self, progress: Callable[[int], object] | None) -> None:
        """Read all events."""
        n_done = 0
        for log, is_last_of_part in _cut(self._source):
            if not self.parts or self._part_is_full:
                self.parts.append(Part(len(self._targets), log.n_actions))
            self._add(log, self.parts[-1])
            self._part_is_full = is_last_of_part
            if is_last_of_part:
                self._close(self.parts[-1])
            n_done += len(log)
            if progress is not None:
                progress(n_done)
        if self.parts and not self._part_is_full:
            self._close(self.parts[-1])

    def _close(self, part: Part) -> None:
        part.sequences = [sequence.value(self._confidence) for sequence in self.sequences]

    def _add(self, log: Log, part: Part) -> None:
        contexts = self._contexts.of(log)
        if self._logging is None:
            self._logging = LoggingModel(contexts.shape[1], log.n_actions, thresholds=self._contexts.thresholds)
        part.balance.add(log, self._logging.predict_and_learn(contexts, log.actions))
        part.end_time = None if log.times is None else float(log.times[-1])
        low, high = log.reward_range
        if self._means is None:
            self._means = self._fresh_means(contexts.shape[1], log)
        shares = (log.rewards - low) / (high - low)
        given = contexts if log.offers is None else log.offers
        means = self._means.predict_and_learn(given, log.actions, shares, log.propensities)
        known = np.flatnonzero(~np.isnan(log.rewards))
        self._add_evidence(log[known], low + (high - low) * means[known], part)

    def _add_evidence(self, log: Log, means: Floats, part: Part) -> None:
        tables = [target.probabilities(log) for target in self._targets]
        evidence = [policy_evidence(log, table, means) for table in tables]
        for sequence, one in zip(self.sequences, evidence, strict=True):
            sequence.add(one.weights, log.rewards)
        part.rewards.add(log.rewards)
        part.sums.add([logged_evidence(log.rewards), *evidence])
        for sums, one in zip(part.weight_sums, evidence, strict=True):
            sums += np.bincount(np.digitize(one.weights, WEIGHT_EDGES), one.weights, len(sums))
        largest = [float(one.weights.max(initial=0.0)) for one in evidence]
        part.largest_weights = np.maximum(part.largest_weights, [1.0, *largest])

    def _fresh_means(self, n_variables: int, log: Log) -> Means:
        if log.offers is not None:
            return OfferMeans(log.n_actions, log.kinds)
        if not n_variables:
            return ActionMeans(log.n_actions)
        return ForestMeans(n_variables, log.n_actions, thresholds=self._contexts.thresholds)


def _cut(source: Source) -> Iterator[tuple[Log, bool]]:
    """Return batches that end where a part ends, and whether they do."""
    n_events = max(source.n_events, 1)
    ends = [n_events * (part + 1) // N_PARTS for part in range(N_PARTS)]
    start = 0
    for log in source.batches(BATCH_SIZE):
        cuts = [end - start for end in ends if 0 < end - start < len(log)]
        for first, last in zip([0, *cuts], [*cuts, len(log)], strict=True):
            if last > first:
                yield log[first:last], start + last in ends
        start += len(log)
