"""Every format gives back what was written, whatever names and values it holds; and Vowpal Wabbit reads it too."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import changed, honest_log

from bandit_forest import InvalidArgumentError
from bandit_forest.evaluation import Log
from bandit_forest.evaluation.readers import (
    Columns,
    read_csv,
    read_dsjson,
    read_export,
    read_frame,
    read_obp,
    read_open_bandit,
    read_parquet,
    read_vw,
)
from bandit_forest.evaluation.writers import write_dsjson, write_obp, write_parquet, write_vw

WRITERS = {"vw": write_vw, "dsjson": write_dsjson, "parquet": write_parquet}
READERS = {"vw": read_vw, "dsjson": read_dsjson, "parquet": read_export}

names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8) | st.sampled_from(
    ["a b", "a:b", "a|b", "a=b", "50 %", "_label_cost", "été", "%41", "\u2028", "'tag", "a\tb", "#"]
)
numbers = st.floats(allow_infinity=False) | st.sampled_from([-0.0, 1e308, 5e-324, 2.0**60])
texts = st.none() | st.text(st.characters(codec="utf-8"), max_size=6) | names
flags = st.none() | st.booleans()


@st.composite
def logs(draw) -> Log:
    n_events = draw(st.integers(1, 4))
    columns = {}
    for name in draw(st.lists(names, max_size=4, unique=True)):
        kind = draw(st.sampled_from([numbers, texts, flags]))
        values = draw(st.lists(kind, min_size=n_events, max_size=n_events))
        if all(value is None or value != value for value in values):
            values[0] = "known"  # a column without any value has no kind
            values = [value if isinstance(value, str) else None for value in values]
        columns[name] = np.array(values, dtype=float if isinstance(values[0], float) else object)
    each = {"min_size": n_events, "max_size": n_events}
    return Log(
        actions=draw(st.lists(st.integers(0, 2), **each)),
        rewards=draw(st.lists(st.floats(0, 1), **each)),
        propensities=draw(st.lists(st.floats(1e-300, 1), **each)),
        features=columns or None,
        action_names=["a", "b c", "d:é|"],
    )


def known(log: Log) -> list[dict[str, object]]:
    """Return the features of each event, those without a value left out; a negative zero is told from zero."""
    rows = [{} for _ in range(len(log))]
    for name, values in (log.features or {}).items():
        for row, value in zip(rows, values.tolist(), strict=True):
            if value is not None and value == value:
                row[name] = (type(value).__name__, repr(value))
    return rows


@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=60)
@given(log=logs())
def test_what_is_written_is_read(tmp_path_factory, name, log):
    path = tmp_path_factory.mktemp("formats") / "log"
    assert WRITERS[name](log, path) == len(log)
    source = READERS[name](path, actions=log.action_names)
    assert source.n_events == len(log)
    (read,) = source.batches()
    assert read.actions.tolist() == log.actions.tolist()
    assert read.rewards.tolist() == log.rewards.tolist()
    assert read.propensities.tolist() == log.propensities.tolist()
    assert known(read) == known(log)


@settings(max_examples=60)
@given(columns=st.dictionaries(names, st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=3))
def test_arrays_of_open_bandit_pipeline(tmp_path_factory, columns):
    path = tmp_path_factory.mktemp("formats") / "log.npz"
    columns = {name.rstrip("\0") or "x": np.array(values) for name, values in columns.items()}  # as NumPy's texts
    log = Log(actions=[0, 1, 1], rewards=[0, 1, 0.5], propensities=[1, 0.5, 0.25], features=columns, action_names=2)
    assert write_obp(log, path) == 3
    (read,) = read_obp(path).batches()
    assert known(read) == known(log)
    assert read.rewards.tolist() == [0, 1, 0.5]


@pytest.mark.parametrize("name", [*WRITERS, "obp"])
def test_contexts_come_back(tmp_path, name):
    log, _ = honest_log(250)
    log = changed(log, variable_names=["a b", "c:|", "_é", "x"], action_names=["p", "q", "r s"])
    path = tmp_path / "log"
    ({**WRITERS, "obp": write_obp})[name](log, path)
    given_names = {"variable_names": log.variable_names} if name in ("vw", "dsjson") else {}
    source = ({**READERS, "obp": read_obp})[name](path, actions=log.action_names, **given_names)
    batches = list(source.batches(100))
    assert [len(batch) for batch in batches] == [100, 100, 50]
    assert np.array_equal(np.concatenate([batch.contexts for batch in batches]), log.contexts)
    assert batches[0].variable_names == log.variable_names
    assert np.array_equal(np.concatenate([batch.actions for batch in batches]), log.actions)


@pytest.mark.parametrize("name", ["dsjson", "parquet", "obp"])
def test_probabilities_times_and_versions_come_back(tmp_path, name):
    log, _ = honest_log(50)
    path = tmp_path / "log"
    ({**WRITERS, "obp": write_obp})[name](log, path)
    (read,) = ({**READERS, "obp": read_obp})[name](path, actions=log.action_names).batches()
    assert np.array_equal(read.probabilities, log.probabilities)
    if name != "obp":
        assert read.times == pytest.approx(log.times)
        assert read.versions.tolist() == log.versions.tolist()


def test_the_logs_last_parts_come_back(tmp_path):
    log, _ = honest_log(20)
    available = np.ones((20, 3), dtype=bool)
    available[:5, 2] = log.actions[:5] == 2
    rewards = np.where(np.arange(20) == 3, np.nan, log.rewards)
    ids = np.array([f"event {number}" for number in range(20)])
    log = changed(log, available=available, rewards=rewards, columns={"event_id": ids})
    write_parquet(log, tmp_path / "log.parquet")
    (read,) = read_export(tmp_path / "log.parquet", actions=log.action_names).batches()
    assert np.array_equal(read.available, available)
    assert np.array_equal(read.rewards, rewards, equal_nan=True)
    assert read.columns["event_id"].tolist() == ids.tolist()
    assert write_vw(log, tmp_path / "log.vw") == 19


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("1:0:0.5 | a\nnonsense\n", "log, line 2, column 1"),
        ("1:0:0.5 | a\n\n0:0:0.5 |\n", "log, line 3, column 1"),
        ("9" * 5000 + ":0:0.5 | a\n", "'label' of log, line 1"),
        ("1:x:0.5 | a\n", "'cost' of log, line 1, column 3"),
        ("1:0:0.5 | a\n1:0:1.5 | a\n", "'probability' of log, line 2"),
        ("1:-2:0.5 | a\n", "'cost' of log, line 1"),
        ("1:0:0.5 |n a b:x\n", "'feature' of log, line 1, column 14"),
        ("1:0:0.5 |context y\n", "'context' of log, line 1"),
    ],
)
def test_faults_in_text_are_refused_by_line(tmp_path, content, place):
    path = tmp_path / "log"
    path.write_text(content)
    with pytest.raises(InvalidArgumentError, match=place):
        list(read_vw(path, variable_names=["x"]).batches())


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"_label_Action": 0}, "'_label_Action' of log, line 2"),
        ({"_label_cost": "x"}, "'_label_cost' of log, line 2"),
        ({"_label_probability": 2}, "'_label_probability' of log, line 2"),
        ({"p": [0.5]}, "'p' of log, line 2"),
        ({"a": None}, "'p' of log, line 2"),
        ({"a": [0, 1]}, "'p' of log, line 2"),
        ({"a": [-1, 1]}, "'p' of log, line 2"),
        ({"p": [10**400, 0.5]}, "'p' of log, line 2"),
        ({"_label_cost": -(10**400)}, "'_label_cost' of log, line 2"),
        ({"Timestamp": "yesterday"}, "'Timestamp' of log, line 2"),
        ({"c": 3}, "'c' of log, line 2"),
    ],
)
def test_faults_in_dsjson_are_refused_by_line(tmp_path, change, place):
    log, _ = honest_log(3)
    path = tmp_path / "log"
    write_dsjson(log, path)
    lines = path.read_text().splitlines()
    lines[1] = json.dumps(json.loads(lines[1]) | change)
    path.write_text("\n".join(lines))
    with pytest.raises(InvalidArgumentError, match=place):
        list(read_dsjson(path).batches())
    path.write_text(lines[0] + "\n{broken\n")
    with pytest.raises(InvalidArgumentError, match="line 2, column 2"):
        read_dsjson(path)


@pytest.mark.parametrize("value", ["[" * 100_000, '{"_label_Action": ' + "9" * 5000 + "}"])
def test_json_that_python_cannot_hold_is_refused_by_line(tmp_path, value):
    (tmp_path / "log").write_text("\n" + value)
    with pytest.raises(InvalidArgumentError, match="'line' of log, line 2 must be JSON"):
        read_dsjson(tmp_path / "log")


@pytest.mark.parametrize("state", [None, "m", ["m"], {"m": "9" * 5000}])
def test_a_foreign_state_of_vowpal_wabbit_does_not_keep_a_log_from_being_read(tmp_path, state):
    log, _ = honest_log(3)
    write_dsjson(log, tmp_path / "log")
    events = [json.loads(line) | {"VWState": state} for line in (tmp_path / "log").read_text().splitlines()]
    (tmp_path / "log").write_text("\n".join(map(json.dumps, events)))
    (read,) = read_dsjson(tmp_path / "log").batches()
    assert read.actions.tolist() == log.actions.tolist()


@pytest.mark.parametrize(
    "text", ["{}:0:0.5 | a\n", '{{"_label_Action": {}, "_label_cost": 0, "_label_probability": 1}}']
)
def test_more_actions_than_there_may_be_are_refused_before_they_are_named(tmp_path, text):
    (tmp_path / "log").write_text(text.format(10**12))
    with pytest.raises(InvalidArgumentError, match="at most 65536"):
        (read_vw if "|" in text else read_dsjson)(tmp_path / "log")


def test_foreign_text_and_dsjson(tmp_path):
    path = tmp_path / "log"
    path.write_text("2:-0.5:0.25 'tag |user age:30 city_paris |x:2 b\n1:0:1|a q\n")
    (log,) = read_vw(path).batches()
    assert log.actions.tolist() == [1, 0]
    assert log.rewards.tolist() == [0.5, 0.0]
    assert list(log.features) == ["user.age", "user.city_paris", "x.b", "a.q"]
    event = {
        **{"_label_cost": -1, "_label_probability": 0.8, "_label_Action": 3, "_labelIndex": 2, "a": [3, 1, 2]},
        **{"p": [0.8, 0.1, 0.1], "EventId": "e", "Timestamp": "2026-11-18T00:00:00.0000000Z"},
        "c": {"User": {"age": 30, "tags": [1, 0]}, "_multi": [{"x": 1}, {"x": 2}, {"x": 3}]},
    }
    path.write_text(json.dumps(event) + '\n{"RewardValue": 1, "EventId": "e"}\n')
    (log,) = read_dsjson(path).batches()
    assert log.probabilities.tolist() == [[0.1, 0.1, 0.8]]
    assert list(log.features) == ["User.age", "User.tags.0", "User.tags.1"]


CSV = (
    "when,arm,win,chance,age,plan\n2026-01-01T00:00:00+00:00,go,1,0.5,30,basic\n2026-01-02T00:00:00+00:00,stay,,0.5,,\n"
)
COLUMNS = Columns(action="arm", reward="win", propensity="chance", time="when")


@pytest.mark.parametrize("name", ["vw", "dsjson"])
def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path, name):
    log, _ = honest_log(20)
    WRITERS[name](log, tmp_path / "plain")
    (tmp_path / "marked").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "plain").read_bytes())
    (plain,), (marked,) = (READERS[name](tmp_path / file, actions=3).batches() for file in ("plain", "marked"))
    assert known(marked) == known(plain)
    assert marked.propensities.tolist() == plain.propensities.tolist()


def test_a_byte_order_mark_is_no_part_of_a_csv_file(tmp_path):
    (tmp_path / "log.csv").write_bytes(b"\xef\xbb\xbf" + CSV.replace("when", '"when"').encode())
    (log,) = read_csv(tmp_path / "log.csv", columns=COLUMNS).batches()
    assert log.times[1] - log.times[0] == 86_400


def test_csv(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(CSV)
    source = read_csv(path, columns=COLUMNS)
    assert (source.n_events, source.action_names) == (2, ("go", "stay"))
    (log,) = source.batches()
    assert log.actions.tolist() == [0, 1]
    assert np.array_equal(log.rewards, [1.0, np.nan], equal_nan=True)
    assert np.array_equal(log.features["age"], [30.0, np.nan], equal_nan=True)
    assert log.features["plan"].tolist() == ["basic", None]
    assert log.times[1] - log.times[0] == 86_400


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("stay,,0.5", "stay,,1.5", "'chance' of log.csv, line 3"),
        ("stay,,0.5", "stay,x,0.5", "'win' of log.csv, line 3"),
        ("stay,,0.5,,", "stay,,0.5,", "'row' of log.csv, line 3"),
        ("2026-01-02T00:00:00+00:00", "then", "'when' of log.csv, line 3"),
        ("arm,", "leg,", "column 'arm'"),
        ("stay,", "fly,", "'arm' of log.csv, line 3"),
    ],
)
def test_faults_in_csv_are_refused_by_line_and_column(tmp_path, old, new, place):
    path = tmp_path / "log.csv"
    path.write_text(CSV.replace(old, new))
    with pytest.raises(InvalidArgumentError, match=place):
        list(read_csv(path, columns=COLUMNS, actions=["go", "stay"]).batches())


def test_frames():
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    frame = pandas.DataFrame({"action": [3, 1], "reward": [1, 0], "propensity": [0.5, 0.5], "age": [1, 2]})
    log = read_frame(frame)
    assert log.action_names == ("1", "3")
    assert log.actions.tolist() == [1, 0]


def test_files_that_are_something_else_are_refused(tmp_path):
    path = tmp_path / "log"
    path.write_text("nothing of the kind")
    for read in (read_export, read_obp, read_dsjson):
        with pytest.raises(InvalidArgumentError):
            read(path)


@pytest.mark.parametrize(
    "read", [read_csv, read_dsjson, read_export, read_obp, read_open_bandit, read_parquet, read_vw]
)
def test_a_file_that_is_not_there_is_refused(tmp_path, read):
    with pytest.raises(InvalidArgumentError, match="the name of a file that exists"):
        read(tmp_path / "nowhere")


@pytest.mark.parametrize(("name", "options"), [("vw", ""), ("dsjson", "--dsjson")])
def test_vowpal_wabbit_reads_what_we_write(tmp_path, name, options):
    vowpalwabbit = pytest.importorskip("vowpalwabbit", reason="needs Vowpal Wabbit")
    log, _ = honest_log(300, n_actions=7)
    features = {
        "a b:|": np.linspace(-3, 3, 300),
        "_été": np.array(["", "x y", None, "été:|"] * 75, dtype=object),
        "member": np.array([True, False, None] * 100, dtype=object),
    }
    log = changed(log, features=features, probabilities=log.probabilities, times=log.times)
    path = tmp_path / "log"
    WRITERS[name](log, path)
    workspace = vowpalwabbit.Workspace(f"--cb_explore 7 -d {path} {options}", enable_logging=True)
    workspace.finish()
    told = "".join(workspace.get_log())
    assert "number of examples = 300" in told
    assert not any(word in told.lower() for word in ("warning", "error", "malformed", "unknown"))
    average = float(told.split("average loss = ")[1].split("total")[0])
    assert np.isfinite(average)
