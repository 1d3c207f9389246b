"""The text that Prometheus reads: well formed, complete, and with histograms that add up."""

from __future__ import annotations

import re

import pytest

from bandit_forest.service.domain.statistics import Histogram
from bandit_forest.service.http.metrics import Measures, exposition
from bandit_forest.service.operations.results import Evaluation, PolicyValue
from bandit_forest.service.operations.status import ActionStatus, Status

SAMPLE = re.compile(r'^([a-z_]+)(\{([a-z_]+="(?:[^"\\\n]|\\\\|\\"|\\n)*",?)+\})? (-?[0-9.e+-]+|NaN)$')


NOTHING = Evaluation(average_reward=None, policies=())


def status(**changes) -> Status:
    actions = (
        ActionStatus(name='say "hi"\n', state="enabled", decisions=3, rewards=2, average_reward=0.5),
        ActionStatus(name="back\\slash", state="disabled", decisions=1, rewards=0, average_reward=None),
    )
    values = {
        **{"name": "offers", "mode": "decide", "warm_up_left": 0, "decisions": 4, "rewards": 2, "learned": 1},
        **{
            "expired": 1,
            "waiting": 1,
            "remembered": 3,
            "late": 2,
            "duplicates": 5,
            "waiting_limit": 10,
            "expired_early": 3,
            "average_reward": 0.5,
        },
        **{"uniform_value": 0.25, "propensity_bounds": (0.1, 0.5, 1.0), "propensity_counts": (1, 0, 3)},
        **{"propensity_sum": 2.5, "actions": actions, "capacity": 16, "model_version": 3, "n_nodes": 7},
        **{"n_bytes": 1000, "seq": 9, "durable_seq": 8, "queued": 1, "storage_failing": True},
        **{"storage_failure": "full", "journal_bytes": 4096, "snapshot_seq": 5, "snapshot_time": 1.5e9},
        **{"snapshot_seconds": 0.01, "history": ()},
    }
    return Status(**values | changes)


def samples(told: bytes) -> dict[str, float]:
    """Read the text as strictly as the format is; return the value of each sample."""
    text = told.decode()
    assert text.endswith("\n")
    found: dict[str, float] = {}
    typed: set[str] = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            name = line.split()[2]
            assert name not in typed
            typed.add(name)
        elif not line.startswith("# HELP "):
            assert SAMPLE.match(line), line
            series, _, value = line.rpartition(" ")
            assert series not in found
            found[series] = float(value)
            base = series.partition("{")[0]
            assert {base, re.sub("_(bucket|sum|count)$", "", base)} & typed
    return found


def test_counts_gauges_and_the_alarm_are_told():
    told = samples(exposition(status(), NOTHING, Measures()))
    for name, value in {
        **{"decisions_total": 4, "rewards_total": 2, "waiting_events": 1, "late_rewards_total": 2, "expired_total": 1},
        **{"waiting_events_limit": 10, "expired_early_total": 3},
        **{"average_reward": 0.5, "forest_nodes": 7, "forest_bytes": 1000, "snapshot_timestamp_seconds": 1.5e9},
        **{"storage_failing": 1, "duplicate_rewards_total": 5, "journal_queued_operations": 1},
    }.items():
        assert told[f"bandit_forest_{name}"] == value


def test_what_is_not_known_yet_is_not_told():
    told = samples(exposition(status(average_reward=None, snapshot_time=None), NOTHING, Measures()))
    assert "bandit_forest_average_reward" not in told
    assert "bandit_forest_snapshot_timestamp_seconds" not in told


def test_what_other_policies_would_have_earned_is_told():
    forest = PolicyValue(
        **{"policy": "forest", "events": 900, "effective_sample_size": 300.0, "value": 0.5, "low": 0.4, "high": 0.6},
        **{"gain": 0.1, "gain_low": 0.0, "gain_high": 0.2, "always_low": -0.1, "always_high": 0.3, "verdict": ""},
    )
    told = samples(exposition(status(), Evaluation(average_reward=0.4, policies=(forest,)), Measures()))
    for name, value in {"value": 0.5, "gain": 0.1, "gain_low": -0.1, "gain_high": 0.3, "effective_events": 300}.items():
        assert told[f'bandit_forest_policy_{name}{{policy="forest"}}'] == value


def test_names_of_actions_are_escaped():
    told = samples(exposition(status(), NOTHING, Measures()))
    assert told['bandit_forest_action_decisions_total{action="say \\"hi\\"\\n"}'] == 3
    assert told['bandit_forest_action_decisions_total{action="back\\\\slash"}'] == 1


def test_the_propensities_are_a_histogram():
    told = samples(exposition(status(), NOTHING, Measures()))
    buckets = [told[f'bandit_forest_propensity_bucket{{le="{bound}"}}'] for bound in ("0.1", "0.5", "+Inf")]
    assert buckets == [1, 1, 4]
    assert told["bandit_forest_propensity_count"] == 4
    assert told["bandit_forest_propensity_sum"] == 2.5


def test_latencies_fall_into_their_buckets():
    measures = Measures(["/v1/decide"])
    for seconds in (0.0005, 0.0006, 0.3, 60.0):
        measures.latencies["/v1/decide"].observe(seconds)
    measures.refusals["late_reward"] += 1
    told = samples(exposition(status(), NOTHING, measures))

    def bucket(bound: str) -> float:
        return told[f'bandit_forest_request_seconds_bucket{{le="{bound}",path="/v1/decide"}}']

    assert [bucket(bound) for bound in ("0.0005", "0.001", "0.2", "0.5", "5.0", "+Inf")] == [1, 2, 2, 3, 3, 4]
    assert told['bandit_forest_request_seconds_count{path="/v1/decide"}'] == 4
    assert told['bandit_forest_request_seconds_sum{path="/v1/decide"}'] == pytest.approx(60.3011)
    assert told['bandit_forest_refusals_total{code="late_reward"}'] == 1


def test_a_histogram_counts_everything():
    histogram = Histogram((0.5, 1.0))
    for seconds in (0.0, 1.0, 1e9):
        histogram.observe(seconds)
    assert sum(histogram.counts) == 3
