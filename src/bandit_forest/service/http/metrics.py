"""Counts and latencies, in the text format of Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate

from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from bandit_forest.service.domain.statistics import Histogram
from bandit_forest.service.operations.results import Evaluation
from bandit_forest.service.operations.status import Status

__all__ = ["CONTENT_TYPE", "Measures", "exposition"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
_PREFIX = "bandit_forest_"


class Measures:
    """Latencies and refusals of the requests, since start.

    Parameters
    ----------
    paths
        Paths whose latencies are measured.
    """

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self.latencies = {path: Histogram(_SECONDS) for path in paths}
        self.refusals: Counter[str] = Counter()


def exposition(status: Status, evaluation: Evaluation, measures: Measures) -> bytes:
    """Return all metrics in the format of Prometheus."""
    return generate_latest(_Collector(status, evaluation, measures))


class _Collector(Collector):
    def __init__(self, status: Status, evaluation: Evaluation, measures: Measures) -> None:
        self._status, self._evaluation = status, evaluation
        self._measures = measures

    def collect(self) -> Iterator[Metric]:
        yield from _counters(self._status)
        yield from _gauges(self._status)
        yield from _by_policy(self._evaluation)
        yield from _by_action(self._status)
        yield from _histograms(self._status, self._measures)


def _counters(status: Status) -> Iterator[Metric]:
    for name, text, value in (
        ("decisions", "Decisions.", status.decisions),
        ("rewards", "Rewards of decisions that were learned.", status.rewards),
        ("learned", "Events from elsewhere that were learned.", status.learned),
        ("expired", "Events whose window ended without a reward.", status.expired),
        ("expired_early", "Alarm: events that made room for newer ones, since start.", status.expired_early),
        ("late_rewards", "Rewards refused after their window, since start.", status.late),
        ("duplicate_rewards", "Second rewards, since start; never learned.", status.duplicates),
    ):
        yield CounterMetricFamily(_PREFIX + name, text, value)


def _gauges(status: Status) -> Iterator[Metric]:
    for name, text, value in (
        ("waiting_events", "Events that wait for their reward.", status.waiting),
        ("waiting_events_limit", "Largest number of events that wait.", status.waiting_limit),
        ("remembered_events", "Finished events whose event_id is still known.", status.remembered),
        ("average_reward", "Average reward of all rewarded decisions.", status.average_reward),
        ("uniform_value", "Estimated average reward of uniform play on the same events.", status.uniform_value),
        ("warm_up_left", "Lessons still to come before the forest is made.", status.warm_up_left),
        ("model_version", "Lessons that the forest has learned.", status.model_version),
        ("forest_nodes", "Nodes of all trees.", status.n_nodes),
        ("forest_bytes", "Memory of the forest.", status.n_bytes),
        ("journal_queued_operations", "Operations that are not on disk yet.", status.queued),
        ("journal_bytes", "Size of the current journal file.", status.journal_bytes),
        ("storage_failing", "Alarm: 1 when the last write of the journal failed.", status.storage_failing),
        ("replica_staleness_seconds", "Time since this replica last had all lessons.", status.staleness),
        ("replica_learner", "1 if this replica makes the lessons.", status.is_learner),
        ("snapshot_timestamp_seconds", "Time of the last snapshot.", status.snapshot_time),
        ("snapshot_pause_seconds", "Time for which the last snapshot delayed decisions.", status.snapshot_seconds),
    ):
        if value is not None:
            yield GaugeMetricFamily(_PREFIX + name, text, float(value))


def _by_policy(evaluation: Evaluation) -> Iterator[Metric]:
    """Return the estimated rewards of other policies, by policy."""
    for name, text, field in (
        ("policy_value", "Estimated average reward of another policy on the same events.", "value"),
        ("policy_value_low", "Lower limit of its 95 % interval.", "low"),
        ("policy_value_high", "Upper limit of its 95 % interval.", "high"),
        ("policy_gain", "Estimated gain of another policy over the decisions, per decision.", "gain"),
        ("policy_gain_low", "Lower limit of the gain, with 95 % confidence at all times.", "always_low"),
        ("policy_gain_high", "Upper limit of the gain, with 95 % confidence at all times.", "always_high"),
        ("policy_effective_events", "Effective sample size: below 200 no verdict.", "effective_sample_size"),
    ):
        family = GaugeMetricFamily(_PREFIX + name, text, labels=["policy"])
        for policy in evaluation.policies:
            value = getattr(policy, field)
            if value is not None:
                family.add_metric([policy.policy], value)
        yield family


def _by_action(status: Status) -> Iterator[Metric]:
    decisions = CounterMetricFamily(_PREFIX + "action_decisions", "Decisions by action.", labels=["action"])
    rewards = GaugeMetricFamily(_PREFIX + "action_average_reward", "Average reward by action.", labels=["action"])
    for action in status.actions:
        decisions.add_metric([action.name], action.decisions)
        if action.average_reward is not None:
            rewards.add_metric([action.name], action.average_reward)
    yield decisions
    yield rewards


def _histograms(status: Status, measures: Measures) -> Iterator[Metric]:
    propensity = HistogramMetricFamily(_PREFIX + "propensity", "Propensity of the decisions.")
    buckets = _buckets(status.propensity_bounds[:-1], status.propensity_counts)
    propensity.add_metric([], buckets, status.propensity_sum)
    yield propensity
    refusals = CounterMetricFamily(_PREFIX + "refusals", "Requests refused since start, by reason.", labels=["code"])
    for code, count in sorted(measures.refusals.items()):
        refusals.add_metric([code], count)
    yield refusals
    text = "Time from the header of a request to its answer, including the durable journal."
    seconds = HistogramMetricFamily(_PREFIX + "request_seconds", text, labels=["path"])
    for path, latency in measures.latencies.items():
        seconds.add_metric([path], _buckets(latency.bounds, latency.counts), latency.sum)
    yield seconds


def _buckets(bounds: Iterable[float], counts: Iterable[int]) -> list[tuple[str, float]]:
    """Return accumulated counts by upper bound; the last count has no bound."""
    return list(zip([*map(str, bounds), "+Inf"], accumulate(counts), strict=True))
