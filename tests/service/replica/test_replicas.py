"""Replicas on a real PostgreSQL: each request and answer, at one replica or at several."""

from __future__ import annotations

import hashlib
import math
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from running import CONTEXT, Running, write_project

from bandit_forest.cli import main
from bandit_forest.service.config.project_file import load_project
from bandit_forest.service.recovery.export import export_journal
from bandit_forest.service.replica.backup import DUMP
from bandit_forest.service.replica.export import read_events
from bandit_forest.service.replica.verify import verify_database

PATIENCE = 30.0


def until(is_so: Callable[[], object]) -> None:
    """Wait for what replicas will come to know."""
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def digest(replica: Running) -> str:
    return hashlib.sha256(replica.http.get("/v1/model").content).hexdigest()


def test_a_request_that_is_repeated_elsewhere_gets_the_first_answer(shared: Path):
    with Running(shared) as one, Running(shared) as two:
        asked = {"context": CONTEXT, "event_id": "e1"}
        first = one.post("/v1/decide", asked)
        assert two.post("/v1/decide", asked) == first
        assert two.post("/v1/decide/batch", {"events": [asked, asked]}) == {"decisions": [first, first]}
        assert two.post("/v1/reward", {"event_id": "e1", "reward": 1.0}) == {
            "event_id": "e1",
            "reward": 1.0,
            "ignored": False,
        }
        one.refused(
            "/v1/reward", {"event_id": "e1", "reward": 0.5}, status=409, code="duplicate_reward", at="$.event_id"
        )
        other = asked | {"context": CONTEXT | {"age": 7}}
        two.refused("/v1/decide", other, status=409, code="event_conflict", at="$.event_id")
        one.refused("/v1/reward", {"event_id": "e2", "reward": 0.5}, status=404, code="unknown_event", at="$.event_id")
        until(lambda: one.get("/v1/status")["model_version"] == two.get("/v1/status")["model_version"] == 1)
        assert digest(one) == digest(two)
        later = one.post("/v1/decide", {"context": CONTEXT, "event_id": "e3"})
        assert later["model_version"] == 1
        assert two.post("/v1/decide", asked) == first


def test_batches_are_answered_item_by_item(shared: Path):
    with Running(shared) as one:
        means = one.post("/v1/decide", {"context": CONTEXT, "mean_rewards": True})["mean_rewards"]
        asked = [{"context": CONTEXT, "mean_rewards": asks} for asks in (True, False)]
        told = one.post("/v1/decide/batch", {"events": asked})["decisions"]
        assert [item.get("mean_rewards") for item in told] == [means, None]
        wrong = {"context": {"age": "old", "city": "Paris", "member": True}, "event_id": "w"}
        told = one.post("/v1/decide/batch", {"events": [{"context": CONTEXT, "event_id": "a"}, wrong]})["decisions"]
        assert told[0]["event_id"] == "a"
        assert told[1]["error"]["path"] == "$.events[1].context.age"
        rewards = [{"event_id": "a", "reward": 1}, {"event_id": "a", "reward": 0}, {"event_id": "b", "reward": 1}]
        told = one.post("/v1/reward/batch", {"rewards": rewards})["rewards"]
        assert told[0] == {"event_id": "a", "reward": 1.0, "ignored": False}
        assert [item["error"]["code"] for item in told[1:]] == ["duplicate_reward", "unknown_event"]
        assert told[2]["error"]["path"] == "$.rewards[2].event_id"


def test_events_from_elsewhere_are_learned_once(shared: Path):
    with Running(shared) as one, Running(shared) as two:
        event = {"context": CONTEXT, "action": "gold", "reward": 1, "propensity": 0.5, "event_id": "x"}
        assert one.post("/v1/learn", event) == {"event_id": "x", "ignored": False}
        two.refused("/v1/learn", event, status=409, code="duplicate_reward", at="$.event_id")
        two.refused("/v1/learn", event | {"reward": 0}, status=409, code="event_conflict", at="$.event_id")
        one.post("/v1/decide", {"context": CONTEXT, "event_id": "d"})
        two.refused("/v1/learn", event | {"event_id": "d"}, status=409, code="event_conflict", at="$.event_id")
        two.refused(
            "/v1/decide", {"context": CONTEXT, "event_id": "x"}, status=409, code="event_conflict", at="$.event_id"
        )
        until(lambda: two.get("/v1/status")["learned"] == 1)


def test_changes_of_actions_reach_every_replica(shared: Path):
    with Running(shared) as one, Running(shared) as two:
        assert one.post("/v1/actions/add", {"name": "silver"}) == {"name": "silver", "state": "enabled"}
        two.refused("/v1/actions/add", {"name": "silver"}, status=409, code="action_conflict", at="$.name")
        assert two.post("/v1/actions/disable", {"name": "basic"})["state"] == "disabled"
        one.refused("/v1/actions/disable", {"name": "none"}, status=404, code="unknown_action", at="$.name")
        asked = {"context": CONTEXT, "available_actions": ["silver"]}
        assert two.post("/v1/decide", asked)["action"] == "silver"
        until(lambda: {a["name"]: a["state"] for a in one.get("/v1/status")["actions"]}["basic"] == "disabled")


def test_events_without_a_reward_expire_everywhere(tmp_path: Path, url: str):
    rule = "[reward]\nwindow_seconds = 0.5\ndefault = 0.0"
    shared = write_project(tmp_path, storage=f'journal = "{url}"', more=rule)
    with Running(shared) as one, Running(shared) as two:
        one.post("/v1/decide", {"context": CONTEXT, "event_id": "late"})
        until(lambda: one.get("/v1/status")["expired"] == two.get("/v1/status")["expired"] == 1)
        one.refused("/v1/reward", {"event_id": "late", "reward": 1}, status=410, code="late_reward", at="$.event_id")
        until(lambda: two.get("/v1/status")["model_version"] == 1)


def test_one_learner_at_a_time_and_another_after_it(shared: Path):
    with Running(shared) as one, Running(shared) as two:
        until(lambda: one.get("/v1/status")["is_learner"] or two.get("/v1/status")["is_learner"])
        learner, other = (one, two) if one.get("/v1/status")["is_learner"] else (two, one)
        assert other.get("/v1/status")["is_learner"] is False
        other.post("/v1/decide", {"context": CONTEXT, "event_id": "e"})
        learner.kill()
        other.post("/v1/reward", {"event_id": "e", "reward": 1})
        until(lambda: other.get("/v1/status")["model_version"] == 1)
        metrics = other.http.get("/metrics").text
        assert "bandit_forest_replica_learner 1.0" in metrics
        assert "bandit_forest_replica_staleness_seconds" in metrics


def test_a_database_that_is_away_refuses_work_and_readiness_until_it_is_back(shared: Path, postgres):
    with Running(shared) as one:
        one.post("/v1/decide", {"context": CONTEXT, "event_id": "before"})
        postgres.kill()
        until(lambda: one.http.post("/v1/decide", json={"context": CONTEXT}).status_code == 503)
        one.refused("/v1/decide", {"context": CONTEXT}, status=503, code="storage_unavailable")
        until(lambda: one.http.get("/readyz").status_code == 503)
        postgres.start()
        until(lambda: one.http.get("/readyz").status_code == 200)
        one.post("/v1/reward", {"event_id": "before", "reward": 1})


def test_verify_and_export_read_the_database(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    with Running(shared) as one, Running(shared) as two:
        for number in range(120):
            asked = {"context": CONTEXT | {"age": number % 60}, "event_id": f"e{number}"}
            (one, two)[number % 2].post("/v1/decide", asked)
            if number % 3:
                (two, one)[number % 2].post("/v1/reward", {"event_id": f"e{number}", "reward": number % 2})
        until(lambda: one.get("/v1/status")["model_version"] == 80)
        until(lambda: max(replica.get("/v1/status")["snapshot_seq"] for replica in (one, two)) > 0)
    verified = verify_database(load_project(shared))
    assert (verified.n_decisions, verified.n_events) == (120, 80)
    assert verified.snapshot_version > 0
    table = tmp_path / "events.parquet"
    monkeypatch.setattr("sys.argv", ["bandit-forest", "export", str(table), str(shared)])
    with pytest.raises(SystemExit):
        main()
    assert "Events written: 120" in capsys.readouterr().out
    assert sorted(pq.read_table(table)["state"].to_pylist()) == ["rewarded"] * 80 + ["waiting"] * 40


def test_an_export_has_the_actions_that_were_enabled(shared: Path, tmp_path: Path):
    with Running(shared) as one:
        first = sorted(action["name"] for action in one.get("/v1/status")["actions"])
        one.post("/v1/decide", {"context": CONTEXT, "event_id": "before"})
        one.post("/v1/actions/add", {"name": "added"})
        one.post("/v1/decide", {"context": CONTEXT, "event_id": "after"})
        one.post("/v1/actions/disable", {"name": first[0]})
        one.post("/v1/decide", {"context": CONTEXT, "event_id": "without"})
    project = load_project(shared)
    export_journal(project, tmp_path / "events.parquet", read_events(project))
    rows = pq.read_table(tmp_path / "events.parquet").to_pylist()
    assert {row["event_id"]: sorted(row["available_actions"]) for row in rows} == {
        "before": first,
        "after": sorted([*first, "added"]),
        "without": sorted([*first[1:], "added"]),
    }


def test_an_export_has_the_versions_that_were_answered(shared: Path, tmp_path: Path):
    with Running(shared) as one:
        told = {
            name: one.post("/v1/decide", {"context": CONTEXT, "event_id": name})["model_version"]
            for name in ("first", "second")
        }
        for number, name in enumerate(("second", "first"), start=1):
            one.post("/v1/reward", {"event_id": name, "reward": 1})
            until(lambda number=number: one.get("/v1/status")["model_version"] == number)
        told["last"] = one.post("/v1/decide", {"context": CONTEXT, "event_id": "last"})["model_version"]
    assert told == {"first": 0, "second": 0, "last": 2}
    project = load_project(shared)
    export_journal(project, tmp_path / "events.parquet", read_events(project))
    rows = pq.read_table(tmp_path / "events.parquet").to_pylist()
    assert {row["event_id"]: row["model_version"] for row in rows} == told
    events = read_events(project)
    assert list(events) == list(events)  # an export reads them again where categories are whole numbers


def test_two_replicas_of_one_seed_do_not_share_their_draws(shared: Path):
    n_events, n_actions = 600, 3
    with Running(shared) as one, Running(shared) as two:
        chosen = [
            [
                decision["action"]
                for decision in replica.post("/v1/decide/batch", {"events": [{"context": CONTEXT}] * n_events})[
                    "decisions"
                ]
            ]
            for replica in (one, two)
        ]
    share = sum(mine == its for mine, its in zip(*chosen, strict=True)) / n_events
    error = math.sqrt((1 / n_actions) * (1 - 1 / n_actions) / n_events)
    assert abs(share - 1 / n_actions) < 3 * error


def test_a_project_that_contradicts_its_database_is_refused(shared: Path, url: str, tmp_path: Path):
    with Running(shared):
        pass
    other = write_project(tmp_path, storage=f'journal = "{url}"', more="[reward]\nhigh = 2.0")
    with pytest.raises(RuntimeError, match="did not start"):
        Running(other)


def test_the_oldest_events_make_room(tmp_path: Path, url: str):
    shared = write_project(tmp_path, storage=f'journal = "{url}"', more="[limits]\nwaiting_events = 5")
    with Running(shared) as one:
        for number in range(8):
            one.post("/v1/decide", {"context": CONTEXT, "event_id": f"e{number}"})
        until(lambda: one.get("/v1/status")["expired"] == 3)
        one.refused("/v1/reward", {"event_id": "e0", "reward": 1}, status=410, code="late_reward", at="$.event_id")
        one.post("/v1/reward", {"event_id": "e7", "reward": 1})


def test_a_backup_is_restored_by_postgresql_and_goes_on(shared: Path, url: str, postgres, tmp_path: Path, monkeypatch):
    with Running(shared) as one:
        first = one.post("/v1/decide", {"context": CONTEXT, "event_id": "e"})
        one.post("/v1/reward", {"event_id": "e", "reward": 1})
        until(lambda: one.get("/v1/status")["model_version"] == 1)
        monkeypatch.setattr("sys.argv", ["bandit-forest", "backup", str(tmp_path / "copy"), str(shared)])
        with pytest.raises(SystemExit):
            main()
        known = digest(one)
    restored = postgres.new_database("restored")
    subprocess.run(["pg_restore", "--no-owner", f"--dbname={restored}", str(tmp_path / "copy" / DUMP)], check=True)
    shared.write_text(shared.read_text().replace(url, restored))
    with Running(shared) as two:
        assert digest(two) == known
        assert two.post("/v1/decide", {"context": CONTEXT, "event_id": "e"}) == first
