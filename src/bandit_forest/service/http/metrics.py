"""Counts and latencies for Prometheus, in its text format (version 0.0.4)."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from bandit_forest.service.http.responses import Answer
from bandit_forest.service.operations.results import Status

__all__ = ["CONTENT_TYPE", "Histogram", "Measures", "exposition"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)


class Histogram:
    """How long requests took: counts by upper bound, as Prometheus counts them.

    Examples
    --------
    >>> latency = Histogram()
    >>> latency.observe(0.003)
    >>> sum(latency.counts), latency.sum
    (1, 0.003)
    """

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self) -> None:
        self.bounds = _SECONDS
        self.counts = [0] * (len(_SECONDS) + 1)
        self.sum = 0.0

    def observe(self, seconds: float) -> None:
        """Count one request."""
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.sum += seconds


class Measures:
    """What is measured around the decider, since start."""

    def __init__(self) -> None:
        self.latencies: dict[str, Histogram] = {}
        self.refusals: Counter[str] = Counter()

    def latency_of(self, path: str) -> Histogram:
        """Give the latencies of a path."""
        return self.latencies.setdefault(path, Histogram())

    def count(self, answer: Answer) -> None:
        """Count an answer, if it is a refusal."""
        if answer.code is not None:
            self.refusals[answer.code] += 1


def exposition(status: Status, measures: Measures) -> str:
    """Write everything that is measured.

    Parameters
    ----------
    status
        Of the decider.
    measures
        Of the requests.
    """
    lines: list[str] = []
    for name, kind, text, value in _numbers(status):
        if value is not None:
            lines += [*_head(name, kind, text), f"bandit_forest_{name} {_number(value)}"]
    lines += _head("action_decisions_total", "counter", "Decisions by action.")
    lines += [
        f"bandit_forest_action_decisions_total{_labels(action=action.name)} {action.decisions}"
        for action in status.actions
    ]
    lines += _head("action_average_reward", "gauge", "Average reward by action.")
    lines += [
        f"bandit_forest_action_average_reward{_labels(action=action.name)} {_number(action.average_reward)}"
        for action in status.actions
        if action.average_reward is not None
    ]
    lines += _head("propensity", "histogram", "Propensity of the decisions.")
    lines += _histogram(
        "propensity", {}, status.propensity_bounds[:-1], status.propensity_counts, status.propensity_sum
    )
    lines += _head("refusals_total", "counter", "Requests refused since start, by reason.")
    lines += [
        f"bandit_forest_refusals_total{_labels(code=code)} {count}" for code, count in sorted(measures.refusals.items())
    ]
    lines += _head(
        "request_seconds", "histogram", "Time from reading a request to its answer, durable journal included."
    )
    for path, latency in measures.latencies.items():
        lines += _histogram("request_seconds", {"path": path}, latency.bounds, latency.counts, latency.sum)
    return "\n".join(lines) + "\n"


def _numbers(status: Status) -> Iterator[tuple[str, str, str, float | None]]:
    """Give the name, kind, meaning and value of all that is one number."""
    yield "decisions_total", "counter", "Decisions.", status.decisions
    yield "rewards_total", "counter", "Rewards of decisions that were learned.", status.rewards
    yield "learned_total", "counter", "Events from elsewhere that were learned.", status.learned
    yield "expired_total", "counter", "Events whose window ended without a reward.", status.expired
    yield "late_rewards_total", "counter", "Rewards refused after their window, since start.", status.late
    yield "duplicate_rewards_total", "counter", "Second rewards, since start; never learned.", status.duplicates
    yield "waiting_events", "gauge", "Events that wait for their reward.", status.waiting
    yield "remembered_events", "gauge", "Finished events that still answer to their event_id.", status.remembered
    yield "average_reward", "gauge", "Average reward of all rewarded decisions.", status.average_reward
    yield "uniform_value", "gauge", "Estimated average reward of uniform play on the same events.", status.uniform_value
    yield "warm_up_left", "gauge", "Events still to come before the forest is made.", status.warm_up_left
    yield "model_version", "gauge", "Events that the forest has learned.", status.model_version
    yield "forest_nodes", "gauge", "Nodes of all trees.", status.n_nodes
    yield "forest_bytes", "gauge", "Memory of the forest.", status.n_bytes
    yield "journal_queued_operations", "gauge", "Operations that are not on disk yet.", status.queued
    yield "journal_bytes", "gauge", "Size of the current journal file.", status.journal_bytes
    yield "storage_failing", "gauge", "Alarm: 1 when the last write of the journal failed.", status.storage_failing
    yield "snapshot_timestamp_seconds", "gauge", "When the last snapshot was taken.", status.snapshot_time
    yield "snapshot_pause_seconds", "gauge", "How long it held up decisions.", status.snapshot_seconds


def _histogram(
    name: str, labels: Mapping[str, str], bounds: Iterable[float], counts: Iterable[int], total: float
) -> list[str]:
    """Write one histogram; the last count has no bound."""
    sums = list(accumulate(counts))
    edges = [*map(_number, bounds), "+Inf"]
    lines = [
        f"bandit_forest_{name}_bucket{_labels(**labels, le=edge)} {count}"
        for edge, count in zip(edges, sums, strict=True)
    ]
    shown = _labels(**labels)
    return [
        *lines,
        f"bandit_forest_{name}_sum{shown} {_number(total)}",
        f"bandit_forest_{name}_count{shown} {sums[-1]}",
    ]


def _head(name: str, kind: str, text: str) -> list[str]:
    return [f"# HELP bandit_forest_{name} {text}", f"# TYPE bandit_forest_{name} {kind}"]


def _labels(**labels: str) -> str:
    """Write labels, escaped as the format asks for."""
    escapes = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
    shown = ",".join(f'{name}="{value.translate(escapes)}"' for name, value in labels.items())
    return f"{{{shown}}}" if shown else ""


def _number(value: float) -> str:
    return repr(float(value)) if isinstance(value, float) else str(int(value))
