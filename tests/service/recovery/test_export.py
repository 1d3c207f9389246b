"""The export: a Parquet file with a row an event."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from projects import Clock, context, make_project, opened

from bandit_forest import Bandit
from bandit_forest.cli import main
from bandit_forest.errors import InvalidArgumentError
from bandit_forest.evaluation import column, evaluate
from bandit_forest.evaluation.opening import open_log
from bandit_forest.evaluation.readers import read_export, read_parquet
from bandit_forest.evaluation.writers import write_parquet
from bandit_forest.service.config.tables import Actions, RewardRule
from bandit_forest.service.recovery.export import export_journal
from bandit_forest.service.recovery.start import begin_from

EXPIRED_AT = 1_000_101.0


def test_every_event_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bandit_forest.evaluation.writers.export._ROWS", 2)  # several groups
    project = make_project(tmp_path / "data", reward=RewardRule(low=-1, high=2, window_seconds=100))
    clock = Clock()
    with opened(project, clock) as decider:
        decider.decide(context(1), event_id="expired")
        first = decider.decide(context(2), event_id="rewarded", available_actions=["c", "a"])
        decider.reward("rewarded", 1.5)
        clock.now = EXPIRED_AT
        decider.expire()
        decider.learn({"city": "Paris", "member": False}, action="b", reward=-1, propensity=0.25, event_id="learned")
        decider.decide(context(3), event_id="waiting").commit.result()
        assert export_journal(project, tmp_path / "events.parquet") == 4  # while it runs
    rows = {row["event_id"]: row for row in pq.read_table(tmp_path / "events.parquet").to_pylist()}
    assert list(rows) == ["rewarded", "expired", "learned", "waiting"]
    assert {name: row["state"] for name, row in rows.items()} == {name: name for name in rows}
    rewarded = rows["rewarded"]
    assert rewarded["time"] == datetime.fromtimestamp(1_000_000, UTC)
    assert (rewarded["action"], rewarded["propensity"], rewarded["reward"]) == (first.action, 0.5, 1.5)
    assert rewarded["available_actions"] == ["c", "a"]
    assert {name: rewarded[f"context.{name}"] for name in context(2)} == context(2)
    assert rows["expired"]["reward"] is None
    assert rows["expired"]["reward_time"] == datetime.fromtimestamp(EXPIRED_AT, UTC)
    assert (rows["learned"]["reward"], rows["learned"]["context.age"]) == (-1.0, None)
    assert rows["waiting"]["reward_time"] is None


def test_decisions_have_the_version_of_the_model(tmp_path: Path) -> None:
    project = make_project(tmp_path / "data")
    with opened(project) as decider:
        decider.learn(context(), action="b", reward=1, propensity=0.25)
        versions = {}
        for number in range(5):
            decided = decider.decide(context(number), event_id=f"e{number}")
            versions[decided.event_id] = decider.forest.n_events
            decider.reward(decided.event_id, 1)
    export_journal(project, tmp_path / "events.parquet")
    rows = pq.read_table(tmp_path / "events.parquet").to_pylist()
    assert rows[0]["model_version"] is None
    assert {row["event_id"]: row["model_version"] for row in rows[1:]} == versions
    (log,) = read_export(tmp_path / "events.parquet").batches()
    assert log.versions.tolist() == [None, 1, 2, 3, 4, 5]


def test_versions_go_on_from_the_bandit_that_a_folder_begins_with(tmp_path: Path) -> None:
    project = make_project(tmp_path / "data", actions=Actions(names=("a", "b", "c")))
    bandit = Bandit.from_settings(project.settings)
    for name in project.action_names:
        bandit.add_action(name)
    for number in range(12):
        bandit.learn(bandit.decide(context(number)), reward=1.0)
    bandit.save(tmp_path / "learned.bandit")
    begin_from(project, tmp_path / "learned.bandit")
    with opened(project) as decider:
        told = [decider.decide(context(number), event_id=f"e{number}") for number in range(2)]
        decider.reward("e0", 1.0)
        told.append(decider.decide(context(), event_id="e2"))
    assert [decided.model_version for decided in told] == [12, 12, 13]
    export_journal(project, tmp_path / "events.parquet")
    rows = pq.read_table(tmp_path / "events.parquet").to_pylist()
    assert {row["event_id"]: row["model_version"] for row in rows} == {"e0": 12, "e1": 12, "e2": 13}


def test_all_that_were_enabled_are_available(tmp_path: Path) -> None:
    project = make_project(tmp_path / "data")
    with opened(project) as decider:
        decider.decide(context(1), event_id="before")
        decider.add_action("d")
        decider.decide(context(2), event_id="added")
        decider.disable_action("a")
        decider.decide(context(3), event_id="disabled")
        decider.learn(context(4), action="a", reward=1, propensity=0.5, event_id="elsewhere")
    export_journal(project, tmp_path / "events.parquet")
    rows = pq.read_table(tmp_path / "events.parquet").to_pylist()
    assert {row["event_id"]: row["available_actions"] for row in rows} == {
        "before": ["a", "b", "c"],
        "added": ["a", "b", "c", "d"],
        "disabled": ["b", "c", "d"],
        "elsewhere": None,
    }
    log = read_export(tmp_path / "events.parquet")
    assert log.action_names == ("a", "b", "c", "d")  # also those that were never taken


def test_the_shadow_choice_is_a_column(tmp_path: Path) -> None:
    project = make_project(tmp_path / "data", mode="shadow")
    with opened(project) as decider:
        decided = decider.decide(context(), action="b", propensity=0.5)
    export_journal(project, tmp_path / "events.parquet")
    (row,) = pq.read_table(tmp_path / "events.parquet").to_pylist()
    told = (row["action"], row["propensity"], row["forest_action"], row["forest_propensity"], row["forest_value"])
    assert told == ("b", 0.5, *decided[4:7])


def test_the_shadow_choice_is_evaluated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    project, file = make_project(tmp_path / "data", mode="shadow"), tmp_path / "events.parquet"
    with opened(project) as decider:
        for number in range(40):
            decided = decider.decide(context(number), action="abc"[number % 3], propensity=1 / 3, event_id=f"e{number}")
            decider.reward(decided.event_id, float(decided.action == "b"))
        told = decider.evaluation().policies[0]
    export_journal(project, file)
    (log,) = read_export(file).batches()
    assert log.columns["forest_propensity"][-1] == decided.forest_propensity
    evaluation = evaluate(log, [column("forest_action")])
    assert evaluation.estimate("forest_action").value == pytest.approx(told.value)
    monkeypatch.setattr(sys, "argv", ["bandit-forest", "evaluate", str(file), "--policy", "column:forest_action"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    monkeypatch.setattr(sys, "argv", [*sys.argv[:-1], "column:their_action"])
    has = "age, city, member, forest_action, forest_propensity, forest_value, event_id"
    with pytest.raises(SystemExit, match=f"a column of the log, which has {has}. Got 'their_action' instead"):
        main()


def test_a_failed_export_leaves_nothing_behind(tmp_path: Path) -> None:
    project = make_project(tmp_path / "data")
    with pytest.raises(InvalidArgumentError, match="a folder with a journal"):
        export_journal(project, tmp_path / "events.parquet")
    with opened(project) as decider:
        decider.decide(context())
    next((tmp_path / "data").glob("journal*")).write_bytes(b"damaged" * 1000)
    with pytest.raises(ValueError, match="damaged"):
        export_journal(project, tmp_path / "events.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_whole_numbers_of_any_size_are_exported(tmp_path: Path) -> None:
    project = make_project(tmp_path / "data")
    with opened(project) as decider:
        for age in (2**53 + 1, 2**64 - 1):
            decider.decide(context() | {"age": age})
    export_journal(project, tmp_path / "events.parquet")
    assert pq.read_table(tmp_path / "events.parquet")["context.age"].to_pylist() == [2.0**53, 2.0**64]


def test_an_export_tells_its_range_of_rewards(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    project = make_project(tmp_path / "data", reward=RewardRule(low=-1, high=250))
    with opened(project) as decider:
        for number in range(20):
            decider.decide(context(number), event_id=f"e{number}")
            decider.reward(f"e{number}", number * 12)
    file, again, plain = (tmp_path / f"{name}.parquet" for name in ("events", "again", "plain"))
    export_journal(project, file)
    assert read_export(file).reward_range == (-1.0, 250.0)
    assert read_parquet(file).reward_range == (-1.0, 250.0)
    write_parquet(read_export(file, reward_range=(-5, 300)), again)  # what is given counts
    assert read_export(again).reward_range == (-5.0, 300.0)
    table = pq.read_table(again)
    pq.write_table(table.replace_schema_metadata(None), plain)
    assert read_export(plain).reward_range == (0.0, 1.0)
    pq.write_table(table.replace_schema_metadata({"bandit_forest.reward_range": "wide"}), plain)
    with pytest.raises(InvalidArgumentError, match=r"'reward_range' of plain.parquet must be two finite numbers"):
        read_export(plain)
    assert open_log(file, reward_high=400).reward_range == (-1.0, 400.0)
    monkeypatch.setattr(sys, "argv", ["bandit-forest", "evaluate", str(file), "--policy", "uniform"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--reward-high", "9"])
    with pytest.raises(SystemExit, match=r"'reward' of events.parquet, row 2 must be in \[-1, 9\], or NaN; another"):
        main()
