"""Parquet files that are damaged, that hold what Python cannot, or that are no export although they look like one."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from logs import honest_log

from bandit_forest.errors import DamagedFileError, InvalidArgumentError
from bandit_forest.evaluation import Log, Offered, uniform
from bandit_forest.evaluation.readers import Columns, read_export, read_frame, read_parquet
from bandit_forest.evaluation.writers import write_parquet

ROWS = {"action": ["a", "b"], "reward": [0.0, 1.0], "propensity": [0.5, 0.5]}
OFFERS = ROWS | {
    "available_actions": [["a", "b"], ["b"]],
    "propensities": [[0.5, 0.5], [0.5]],
    "offered": [json.dumps([{"id": one} for one in ids]) for ids in ("ab", "b")],
}
FAR = 2**61  # as milliseconds, this is 1970 to arithmetic that overflows


def written(path: Path, columns: dict[str, Any]) -> Path:
    parquet.write_table(pa.table(columns), path / "log.parquet")
    return path / "log.parquet"


def test_a_damaged_file_is_refused_whichever_byte_is_another(tmp_path):
    log, _ = honest_log(300)
    write_parquet(log, tmp_path / "log.parquet")
    whole, rng = (tmp_path / "log.parquet").read_bytes(), random.Random(1)
    told = []
    for _ in range(250):
        content = bytearray(whole)
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        (tmp_path / "log.parquet").write_bytes(content)
        try:
            assert sum(map(len, read_export(tmp_path / "log.parquet").batches())) == 300
        except DamagedFileError as error:
            told.append(str(error))
        except InvalidArgumentError:
            pass
    assert len(told) > 50
    assert all(text.startswith("'log.parquet' is damaged: ") and text[-2] != "." for text in told)
    assert not any("\n" in text for text in told)


def test_what_the_disk_refuses_is_no_damage(tmp_path, monkeypatch):
    def fail(_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = written(tmp_path, ROWS)
    monkeypatch.setattr(parquet, "ParquetFile", fail)
    with pytest.raises(PermissionError):
        read_parquet(path)


@pytest.mark.parametrize(
    ("column", "row"),
    [
        (pa.array([0, FAR], pa.timestamp("us")), 2),
        (pa.array([0, FAR], pa.timestamp("ms", "UTC")), 2),
        (pa.array([0, 2**30], pa.date32()), 2),
        (pa.array([0, FAR], pa.duration("s")), 2),
        (pa.array([None, 0], pa.timestamp("us", "Nowhere/City")), 2),
        (pa.array([[0], [FAR]], pa.list_(pa.timestamp("us"))), 2),
        (pa.array([b"\xff", b"b"]).view(pa.string()), 1),
    ],
    ids=lambda given: str(getattr(given, "type", given)),
)
def test_values_that_python_cannot_hold_are_refused_by_their_row(tmp_path, column, row):
    told = f"of log.parquet, row {row} must be of values that Python can hold, such as texts in UTF-8, and times of"
    path = written(tmp_path, ROWS | {"when": column})
    for columns in (Columns(), Columns(time="when"), Columns(available="when"), Columns(action="when")):
        with pytest.raises(InvalidArgumentError, match=f"'when' {told}"):
            list(read_parquet(path, columns=columns).batches())


@pytest.mark.parametrize("actions", [[["a"], ["b"]], [{"name": "a"}, {"name": "b"}]])
def test_a_list_is_no_action(tmp_path, actions):
    path, rule = written(tmp_path, ROWS | {"action": actions}), "must be a name or a number. Got"
    for given in (None, ["a", "b"]):
        with pytest.raises(InvalidArgumentError, match=f"'action' of log.parquet, row 1 {rule}"):
            list(read_parquet(path, actions=given).batches())
    for action in (*actions, 10**5000):
        with pytest.raises(InvalidArgumentError, match=f"'action' of read_frame, row 1 {rule}"):
            read_frame([{"action": one, "reward": 1, "propensity": 0.5} for one in ("a", action)])


@pytest.mark.parametrize("sets", [[[["a"]], [["b"]]], [{"a": 1}, {"a": 2}]])
def test_available_actions_of_another_type_are_refused(tmp_path, sets):
    with pytest.raises(InvalidArgumentError, match=r"'can' of log\.parquet, row 1 must be"):
        list(read_parquet(written(tmp_path, ROWS | {"can": sets}), columns=Columns(available="can")).batches())


def test_lists_of_one_length_name_the_available_actions(tmp_path):
    sets = pa.array([["a", "c"], ["b", "c"]], pa.list_(pa.string(), 2))
    source = read_parquet(written(tmp_path, ROWS | {"can": sets}), columns=Columns(available="can"))
    assert source.action_names == ("a", "b", "c")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("propensities", None),
        ("propensities", "[0.5]"),
        ("available_actions", None),
        ("available_actions", 5),
        ("offered", "{}"),
        ("offered", "null"),
        ("offered", '["b"]'),
        ("offered", "[" * 100_000),
        ("offered", 5),
    ],
)
def test_an_export_without_what_was_offered_is_refused_by_its_row(tmp_path, column, value):
    (log,) = read_export(written(tmp_path, OFFERS)).batches()
    assert uniform().probabilities(log).tolist() == [[0.5, 0.5], [1.0, 0.0]]
    values = [value if isinstance(value, int) else OFFERS[column][0] if value is None else OFFERS["offered"][0], value]
    row = 1 if isinstance(value, int) or value == "[0.5]" else 2
    with pytest.raises(InvalidArgumentError, match=rf"'{column}' of log\.parquet, row {row} must be"):
        list(read_export(written(tmp_path, OFFERS | {column: values})).batches())


@pytest.mark.parametrize("column", ["available_actions", "propensities"])
def test_an_export_of_offers_has_their_columns(tmp_path, column):
    path = written(tmp_path, {name: values for name, values in OFFERS.items() if name != column})
    with pytest.raises(InvalidArgumentError, match=f"'columns' of log.parquet must be a table with .* '{column}'"):
        read_export(path)


def test_an_offer_has_a_list_of_actions():
    with pytest.raises(InvalidArgumentError, match=r"'offers\[0\]' of Log must be an Offered with 1 to 1 actions"):
        Log(actions=[0], rewards=[1], propensities=[1], action_names=1, offers=[Offered({}, 5)])
