"""The export of a service whose events offer their actions, and the log that is read from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import pytest
from offered_projects import OFFER, make_offered_project, play, rank
from projects import opened

from bandit_forest.bandit.pairs import PairBandit
from bandit_forest.errors import InvalidArgumentError
from bandit_forest.evaluation import as_it_stands, evaluate, learn_along, uniform
from bandit_forest.evaluation.readers import read_export
from bandit_forest.service.recovery.export import export_journal


def test_an_export_has_what_was_offered_and_what_was_taken(tmp_path: Path) -> None:
    project = make_offered_project(tmp_path / "data")
    with opened(project) as decider:
        play(decider, 30)
        told = rank(decider.context, event_id="last")
    assert export_journal(project, tmp_path / "events.parquet") == 34
    rows = {row["event_id"]: row for row in parquet.read_table(tmp_path / "events.parquet").to_pylist()}
    last = rows["last"]
    assert (last["action"], last["propensity"], last["state"]) == (str(told.action), told.propensity, "waiting")
    assert json.loads(last["offered"]) == OFFER
    assert last["available_actions"] == ["a17", "18"]
    assert last["propensities"][last["available_actions"].index(last["action"])] == told.propensity
    taken = next(action for action in OFFER if action["id"] == told.action)
    assert (last["action.price"], last["action.kind"], last["context.age"]) == (taken["price"], taken["kind"], 42)
    assert (rows["l0"]["offered"], rows["l0"]["state"], rows["l0"]["reward"]) == (None, "learned", 0.5)


def test_an_export_is_read_as_a_log_with_offers(tmp_path: Path) -> None:
    project = make_offered_project(tmp_path / "data")
    with opened(project) as decider:
        play(decider, 60)
        told = rank(decider.context, event_id="last")
    n_rows = export_journal(project, tmp_path / "events.parquet")
    rows = parquet.read_table(tmp_path / "events.parquet").to_pylist()
    decided = [row for row in rows if row["offered"] is not None]
    source = read_export(tmp_path / "events.parquet")
    (log,) = source.batches()
    assert len(log) == source.n_events == len(decided) < n_rows
    assert [list(batch.actions) for batch in source.batches(7)] == [
        part for start in range(0, n_rows, 7) if (part := _places(rows[start : start + 7]))
    ]
    assert log.offers is not None
    assert log.probabilities is not None
    assert log.offers[-1].actions == OFFER
    assert log.offers[-1].context["age"] == 42
    assert OFFER[log.actions[-1]]["id"] == told.action
    assert log.propensities.tolist() == [row["propensity"] for row in decided]
    assert np.array_equal(log.probabilities[np.arange(len(log)), log.actions], log.propensities)
    bandit = PairBandit(seed=1, warm_up_events=10)
    learn_along(log, bandit)
    evaluated = evaluate(source, [uniform(), as_it_stands(bandit, name="bandit")])
    assert evaluated.n_events == len(decided)
    assert evaluated.n_rewarded == sum(row["reward"] is not None for row in decided)
    assert 0 < evaluated.effective_sample_size("bandit") <= evaluated.n_rewarded


@pytest.mark.parametrize(("column", "value"), [("offered", "[{"), ("action", "nobody")])
def test_an_export_that_was_altered_is_refused_by_its_row(tmp_path: Path, column: str, value: str) -> None:
    project, file = make_offered_project(tmp_path / "data"), tmp_path / "events.parquet"
    with opened(project) as decider:
        rank(decider.context, event_id="first")
    export_journal(project, file)
    table = parquet.read_table(file)
    place = table.schema.get_field_index(column)
    parquet.write_table(table.set_column(place, table.schema.field(place), [[value]]), file)
    with pytest.raises(InvalidArgumentError, match=f"The '{column}' of events.parquet, row 1 must be"):
        list(read_export(file).batches())
    with pytest.raises(InvalidArgumentError, match="None where each event offers its own"):
        read_export(file, actions=["a17"])


def _places(rows: list[dict[str, Any]]) -> list[int]:
    return [row["available_actions"].index(row["action"]) for row in rows if row["offered"] is not None]
