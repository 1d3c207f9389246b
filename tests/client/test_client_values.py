"""What the client takes: the values, rows and frames that Bandit takes, as JSON has them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from offered_projects import CONTEXT, OFFER, write_offered_project
from running import Running

from bandit_forest import Bandit
from bandit_forest.bandit import (
    BooleanFeature,
    CategoricalFeature,
    Feature,
    LabelsFeature,
    NumericFeature,
    TimeFeature,
)
from bandit_forest.client import Client, calls
from bandit_forest.errors import InvalidArgumentError, MissingExtraError

FEATURES: Mapping[str, Feature] = {
    "when": TimeFeature(missing=True),
    "age": NumericFeature(missing=True),
    "member": BooleanFeature(missing=True),
    "tags": LabelsFeature(missing=True),
    "city": CategoricalFeature(missing=True),
}


def sent(call: calls.Call[Any]) -> Any:
    return json.loads(call.request["content"])


VALUES = [
    ("when", datetime(2026, 5, 17, 9, 30), "2026-05-17T09:30:00"),
    ("when", datetime(2026, 5, 17, 9, 30, tzinfo=UTC), "2026-05-17T09:30:00+00:00"),
    ("when", date(2026, 5, 17), "2026-05-17"),
    ("when", pd.Timestamp("2026-05-17 09:30"), "2026-05-17T09:30:00"),
    ("when", np.datetime64("2026-05-17T09:30", "ns"), "2026-05-17T09:30:00"),
    ("when", pd.NaT, None),
    ("when", np.datetime64("NaT"), None),
    ("age", np.int64(4), 4),
    ("age", np.float32(0.5), 0.5),
    ("age", np.float64(0.5), 0.5),
    ("age", Decimal("0.5"), 0.5),
    ("age", float("nan"), None),
    ("age", np.float32("nan"), None),
    ("age", Decimal("NaN"), None),
    ("age", pd.NA, None),
    ("member", np.True_, True),
    ("tags", {"b", "a"}, ["a", "b"]),
    ("tags", ("b", "a"), ["b", "a"]),
    ("tags", np.array(["b", "a"]), ["b", "a"]),
    ("city", np.str_("Paris"), "Paris"),
    ("city", np.int8(3), 3),
]


@pytest.mark.parametrize(("name", "given", "told"), VALUES, ids=[f"{type(one[1]).__name__}-{one[0]}" for one in VALUES])
def test_values_that_bandit_takes_are_sent_as_json_has_them(name, given, told):
    bandit = Bandit(actions=["stay", "go"], features={name: FEATURES[name]})
    bandit.decide({name: given})
    bandit.decide({name: told})
    assert sent(calls.decide({name: given}))["context"] == {name: told}
    assert sent(calls.decide_many([{}, {name: given}]))["events"][1]["context"] == {name: told}
    assert sent(calls.rank({}, actions=[{"id": 1, name: given}]))["actions"] == [{"id": 1, name: told}]
    lesson = sent(
        calls.learn({name: given}, {"id": np.int64(1), name: given}, np.float32(1), propensity=Decimal("0.5"))
    )
    assert lesson == {
        "context": {name: told},
        "action": {"id": 1, name: told},
        "reward": 1.0,
        "propensity": 0.5,
        "event_id": None,
    }


@pytest.mark.parametrize("missing", [float("nan"), np.float32("nan"), Decimal("NaN"), pd.NA, pd.NaT], ids=repr)
def test_what_is_missing_is_missing_in_features_only(missing):
    refused = [
        (calls.reward("e1", missing), "$.reward"),
        (calls.reward_many({"e1": 1.0, "e2": missing}), "$.rewards[1].reward"),
        (calls.learn({}, "plus", 1.0, propensity=missing), "$.propensity"),
        (calls.learn({}, {"id": missing}, 1.0, propensity=1.0), "$.action.id"),
        (calls.rank({}, actions=[{"id": 1}, {"id": missing}]), "$.actions[1].id"),
    ]
    for call, place in refused:
        with pytest.raises(InvalidArgumentError) as error:
            sent(call)
        assert error.value.parameter == place


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (float("inf"), ""),
        (object(), ""),
        (b"bytes", ""),
        (np.timedelta64(3, "h"), ""),
        (1j, ""),
        (10**5000, ""),
        ("\ud800", ""),
        (["fine", "\ud800"], "[1]"),
        ({"deep": [{"deeper": object()}]}, ".deep[0].deeper"),
    ],
    ids=["inf", "object", "bytes", "timedelta", "complex", "digits", "half", "list", "deep"],
)
def test_what_is_refused_names_its_place(value, place):
    with pytest.raises(InvalidArgumentError) as error:
        sent(calls.decide({"age": value}))
    assert str(error.value).startswith(f"The '$.context.age{place}' of a request must be ")
    with pytest.raises(InvalidArgumentError) as error:
        sent(calls.decide_many([{}, {"age": value}]))
    assert error.value.parameter == f"$.events[1].context.age{place}"


FRAME = pd.DataFrame({"age": [42.0, np.nan], "city": ["Paris", None], "member": [True, False]})
ROWS = [{"age": 42.0, "city": "Paris", "member": True}, {"age": None, "city": None, "member": False}]


def test_a_row_of_a_frame_is_a_context():
    assert sent(calls.decide(FRAME.iloc[1]))["context"] == ROWS[1]
    assert sent(calls.decide(MappingProxyType(ROWS[0])))["context"] == ROWS[0]
    contexts = [row for _, row in FRAME.iterrows()]
    assert [event["context"] for event in sent(calls.decide_many(contexts))["events"]] == ROWS
    with pytest.raises(InvalidArgumentError, match=r"The '\$.context' of a request must be a mapping .* one row"):
        calls.decide(FRAME)
    with pytest.raises(InvalidArgumentError, match=r"The '\$.events\[1\].context' of a request must be a mapping"):
        calls.decide_many([{}, 17])


@pytest.mark.parametrize(
    "frame",
    [FRAME, pl.DataFrame(ROWS), pa.Table.from_pylist(ROWS), FRAME.to_dict("list")],
    ids=["pandas", "polars", "pyarrow", "columns"],
)
def test_frames_are_contexts(frame):
    assert [event["context"] for event in sent(calls.decide_many(frame))["events"]] == ROWS
    learned = sent(calls.learn_many(frame, pd.Series(["a", "b"]), np.array([0, 1]), propensities=pl.Series([0.5, 1.0])))
    assert [list(event.values()) for event in learned["events"]] == [
        [ROWS[0], "a", 0, 0.5, None],
        [ROWS[1], "b", 1, 1.0, None],
    ]


def test_frames_are_offered_actions():
    frame = pd.DataFrame({"id": [17, 18], "price": [0.5, np.nan]})
    actions = [{"id": 17, "price": 0.5}, {"id": 18, "price": None}]
    assert sent(calls.rank({}, actions=frame))["actions"] == actions
    assert [one["actions"] for one in sent(calls.rank_many([{}] * 2, actions=[frame, frame]))["events"]] == [
        actions
    ] * 2
    learned = sent(calls.learn_many([{}] * 2, frame, [0, 1], propensities=[0.5, 0.5]))
    assert [one["action"] for one in learned["events"]] == actions


def test_frames_without_narwhals_are_told_their_cure(monkeypatch):
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'bandit-forest\[frames\]'"):
        calls.decide_many(FRAME)


@pytest.mark.parametrize("wrong", [0.5, "ab", {"a": 1, "b": 1}, [0.5], np.array(0.5), iter([0.5, 0.5])], ids=repr)
def test_columns_that_do_not_fit_are_refused(wrong):
    for given in ({"propensities": wrong}, {"propensities": [1, 1], "event_ids": wrong}):
        (name, _) = list(given.items())[-1]
        with pytest.raises(
            InvalidArgumentError, match=f"The '{name}' of the client must be 2 items, one for each event"
        ):
            calls.learn_many([{}] * 2, ["a", "b"], [1, 1], **given)


def test_what_is_no_batch_is_refused():
    for wrong in (17, "text", None):
        with pytest.raises(InvalidArgumentError, match="The 'contexts' of the client must be mappings"):
            calls.decide_many(wrong)
    with pytest.raises(InvalidArgumentError, match="The 'rewards' of the client must be a mapping"):
        calls.reward_many([("e1", 1.0)])


def test_a_service_takes_them(tmp_path):
    frame = pd.DataFrame(OFFER)
    with Running(write_offered_project(tmp_path)) as service, Client(service.address) as client:
        event = client.rank(pd.Series(CONTEXT), actions=frame, mean_rewards=True)
        assert set(event.actions) == {one["id"] for one in OFFER}
        client.learn_many([CONTEXT] * 2, frame, np.array([0.5, 1]), propensities=np.full(2, 0.5))


def test_the_client_imports_no_frames():
    script = "import bandit_forest.client, json, sys; print(json.dumps(sorted(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert {"narwhals", "pandas", "polars", "pyarrow"}.isdisjoint(json.loads(printed))
