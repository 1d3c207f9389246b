"""Times of events and times as features, from frames and from files."""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from bandit_forest import Bandit, InvalidArgumentError
from bandit_forest.bandit import TimeFeature
from bandit_forest.encoding import ContextEncoder
from bandit_forest.evaluation import Log, as_it_stands, evaluate, learn_along, uniform
from bandit_forest.evaluation.readers import Columns, read_csv, read_frame, read_parquet
from bandit_forest.evaluation.writers import vw_lines

START = datetime(2026, 1, 1)


def rows_of_a_shop(n_events: int) -> dict[str, list[object]]:
    """Return events in which calls are answered in the morning, and mails in the afternoon."""
    rng = np.random.default_rng(1)
    whens = [START + timedelta(hours=int(hours)) for hours in np.cumsum(rng.integers(1, 9, n_events))]
    actions = [str(action) for action in rng.choice(["call", "mail"], n_events)]
    rewards = [
        int(rng.random() < (0.9 if (action == "call") == (when.hour < 12) else 0.1))
        for when, action in zip(whens, actions, strict=True)
    ]
    return {"action": actions, "reward": rewards, "propensity": [0.5] * n_events, "when": whens}


def frames(rows: dict[str, list[object]]) -> list[object]:
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    polars = pytest.importorskip("polars", reason="needs Polars")
    pyarrow = pytest.importorskip("pyarrow", reason="needs PyArrow")
    in_zone = pandas.DataFrame(rows)
    in_zone["when"] = in_zone["when"].dt.tz_localize("UTC")
    return [rows, pandas.DataFrame(rows), in_zone, polars.DataFrame(rows), pyarrow.table(rows)]


def test_frames_have_times_as_features_and_as_times_of_events():
    rows = rows_of_a_shop(50)
    expected = [when.replace(tzinfo=UTC).timestamp() for when in rows["when"]]
    for frame in frames(rows):
        log = read_frame(frame)
        bandit = Bandit(actions=["call", "mail"], warm_up_events=20)
        learn_along(log, bandit)
        assert bandit.features == {"when": TimeFeature(missing=True)}
        timed = read_frame(frame, columns=Columns(time="when"))
        assert timed.times.tolist() == expected
        assert timed.features is None


def test_a_missing_time_is_a_missing_value():
    rows = rows_of_a_shop(30)
    rows["when"][3] = None
    for frame in frames(rows):
        log = read_frame(frame)
        learn_along(log, Bandit(actions=["call", "mail"], warm_up_events=20))
        assert evaluate(log, [uniform()]).n_events == 30
        assert "when" not in vw_lines(log)[3]
        assert "when=2026" in vw_lines(log)[4]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_have_times_that_a_bandit_learns(tmp_path, kind):
    rows = rows_of_a_shop(2000)
    path = tmp_path / f"log.{kind}"
    if kind == "csv":
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(rows)
            writer.writerows(zip(*rows.values(), strict=True))
        log = read_csv(path)
        assert next(log.batches()).features["when"].tolist() == rows["when"]
    else:
        pytest.importorskip("pandas", reason="needs pandas").DataFrame(rows).to_parquet(path)
        log = read_parquet(path)
    bandit = Bandit(actions=["call", "mail"], seed=1, forest={"n_trees": 8})
    learn_along(log, bandit)
    assert bandit.decide({"when": datetime(2026, 5, 1, 9)}).action == "call"
    assert bandit.decide({"when": datetime(2026, 5, 1, 15)}).action == "mail"
    evaluation = evaluate(log, [as_it_stands(bandit, name="new")])
    assert evaluation.is_better("new")
    assert evaluation.estimate("new", "dm").value > 0.7  # the models that learn along know the hours


def test_a_column_of_a_csv_file_holds_times_only_if_all_are_and_none_is_a_date_alone(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "action,reward,propensity,when,day,mixed,zone\n"
        "a,1,0.5,2026-01-01 09:30,2026-01-01,2026-01-01T09:30,2026-01-01T09:30+02:00\n"
        "a,1,0.5,,2026-01-02,soon,\n"
    )
    (log,) = read_csv(path).batches()
    assert log.features["when"].tolist() == [datetime(2026, 1, 1, 9, 30), None]
    assert log.features["day"].tolist() == ["2026-01-01", "2026-01-02"]
    assert log.features["mixed"].tolist() == ["2026-01-01T09:30", "soon"]
    assert log.features["zone"][0].utcoffset() == timedelta(hours=2)
    (log,) = read_csv(path, columns=Columns(texts=["when"])).batches()
    assert log.features["when"].tolist() == ["2026-01-01 09:30", None]


def test_a_later_text_among_times_is_refused_by_its_line(tmp_path):
    path = tmp_path / "log.csv"
    rows = "a,1,0.5,2026-01-01T09:30\n" * 10_000
    path.write_text(f"action,reward,propensity,when\n{rows}a,1,0.5,soon\n")
    told = "'when' of log.csv, line 10002 must be a time in ISO 8601, .* or a column that 'texts' names. Got 'soon'"
    with pytest.raises(InvalidArgumentError, match=told):
        list(read_csv(path).batches())
    assert sum(map(len, read_csv(path, columns=Columns(texts=["when"])).batches())) == 10_001


def test_an_encoder_does_not_take_times_and_says_what_to_do():
    rows = rows_of_a_shop(5)
    for frame in [*frames({"when": rows["when"]}), {"when": np.array(rows["when"], dtype="datetime64[s]")}]:
        with pytest.raises(InvalidArgumentError, match=r"a time is given by its parts, .* to a Bandit") as refused:
            ContextEncoder().fit(frame)
        assert "Datetime(" not in str(refused.value)


def test_times_in_an_array_are_features():
    whens = np.array(rows_of_a_shop(50)["when"], dtype="datetime64[ns]")
    log = Log(actions=[0, 1] * 25, rewards=[1, 0] * 25, propensities=[0.5] * 50, features={"t": whens}, action_names=2)
    assert vw_lines(log)[0].endswith(
        f"|text t={str(whens[0].astype('datetime64[s]')).replace('T', '%20').replace(':', '%3A')}"
    )
    assert evaluate(log, [uniform()]).n_events == 50


def test_lists_of_texts_are_features_of_a_bandit():
    rows = rows_of_a_shop(50) | {"tags": [["new"], ["sale", "new"]] * 25}
    del rows["when"]
    for frame in frames(rows | {"when": [START] * 50})[:4]:
        log = read_frame(frame, columns=Columns(features=["tags"]))
        bandit = Bandit(actions=["call", "mail"], warm_up_events=20)
        learn_along(log, bandit)
        assert bandit.features["tags"].kind == "labels"
        assert evaluate(log, [as_it_stands(bandit)]).n_events == 50
