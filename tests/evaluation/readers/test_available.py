"""Logs in which not all actions are available to each event, and what is found where they do not say so."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from logs import changed, honest_log

from bandit_forest import InvalidArgumentError
from bandit_forest.evaluation import Log, evaluate, uniform
from bandit_forest.evaluation.readers import Columns, read_csv, read_export, read_frame
from bandit_forest.evaluation.writers import write_parquet

COLUMNS = Columns(available="can")
HEADER = "action,reward,propensity,can\n"


@pytest.mark.parametrize("write", ["|".join, json.dumps], ids=["bars", "JSON"])
def test_cells_of_a_table_name_the_available_actions(tmp_path, write):
    path = tmp_path / "log.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerows([HEADER.strip().split(","), ["b", 1, 0.5, write(["b", "a"])], ["c", 0, 0.5, ""]])
        rows.writerows([["a", 0, 0.5, write(["a", "never taken"])], ["a", 1, 1, write(["a"])]])
    source = read_csv(path, columns=COLUMNS)
    assert source.action_names == ("a", "b", "c", "never taken")
    (log,) = source.batches()
    expected = [[True, True, False, False], [True] * 4, [True, False, False, True], [True, False, False, False]]
    assert log.available.tolist() == expected
    assert log.features is None
    assert uniform().probabilities(log)[0].tolist() == [0.5, 0.5, 0.0, 0.0]


def test_frames_hold_lists_or_texts():
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    polars = pytest.importorskip("polars", reason="needs Polars")
    rows = {"action": ["a", "b"], "reward": [1, 0], "propensity": [0.5, 1.0], "can": [["a", "b", "c"], ["b"]]}
    as_texts = rows | {"can": ["a|b|c", "b"]}
    for frame in (rows, as_texts, pandas.DataFrame(rows), polars.DataFrame(rows), polars.DataFrame(as_texts)):
        log = read_frame(frame, columns=COLUMNS)
        assert log.action_names == ("a", "b", "c")
        assert log.available.tolist() == [[True, True, True], [False, True, False]]


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("a|d", r"'can' of log.csv, line 3 must be names among the actions a, b. Got 'd' instead"),
        ("b", r"'can' of log.csv, line 3 must be actions among which is the one that was taken, a. Got 'b' instead"),
    ],
)
def test_a_refusal_names_the_column(tmp_path, cell, told):
    (tmp_path / "log.csv").write_text(f"{HEADER}b,1,0.5,a|b\na,1,0.5,{cell}\n")
    with pytest.raises(InvalidArgumentError, match=told):
        list(read_csv(tmp_path / "log.csv", columns=COLUMNS, actions=["a", "b"]).batches())


def test_a_number_is_no_list_of_actions():
    rows = {"action": ["a"], "reward": [1], "propensity": [0.5], "can": [5]}
    with pytest.raises(InvalidArgumentError, match="'can' of read_frame, row 0 must be a list of actions"):
        read_frame(rows, columns=COLUMNS)


def test_the_probabilities_of_a_table_are_columns_or_lists(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        'action,reward,propensity,p,pa,pb\na,1,0.25,"[0.25, 0.75]",0.25,0.75\nb,1,0.5,"[0.5, 0.5]",0.5,0.5\n'
    )
    for probabilities in ("p", ["pa", "pb"]):
        (log,) = read_csv(path, columns=Columns(probabilities=probabilities)).batches()
        assert log.probabilities.tolist() == [[0.25, 0.75], [0.5, 0.5]]


def test_the_export_may_offer_actions_that_were_never_taken(tmp_path):
    log = Log(
        actions=[0, 1],
        rewards=[1, 0],
        propensities=[0.5, 0.5],
        available=[[True] * 3] * 2,
        action_names=["a", "b", "c"],
    )
    write_parquet(log, tmp_path / "log.parquet")
    assert read_export(tmp_path / "log.parquet").action_names == ("a", "b", "c")


def test_what_is_found_without_the_available_actions_names_the_cure():
    rng = np.random.default_rng(0)
    log, _ = honest_log(4000)
    can = np.arange(3) != rng.integers(0, 3, 4000)[:, None]  # two of three actions
    shares = can / can.sum(axis=1, keepdims=True)
    actions = (shares.cumsum(axis=1) < rng.random(4000)[:, None]).sum(axis=1)
    told = changed(log, actions=actions, propensities=shares[np.arange(4000), actions], available=can)
    assert not evaluate(told, [uniform()]).faults
    silent = changed(told, available=None)
    faults = {finding.name: finding.meaning for finding in evaluate(silent, [uniform()]).faults}
    assert "or not all actions were available: name the column with `available`" in faults["mean weight"]
    wrong = changed(told, available=can, propensities=told.propensities / 2)
    faults = {finding.name: finding.meaning for finding in evaluate(wrong, [uniform()]).faults}
    assert "not all actions were available" not in faults["mean weight"]
