"""Formats of logs whose events offer actions with features: what is written is read, and Vowpal Wabbit reads it too."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import changed, offer_log

from bandit_forest import InvalidArgumentError, PairBandit
from bandit_forest.evaluation import Log, Offered, as_it_stands, evaluate, learn_along, uniform
from bandit_forest.evaluation.features import escape
from bandit_forest.evaluation.readers import read_dsjson, read_vw
from bandit_forest.evaluation.writers import vw_lines, write_dsjson, write_obp, write_parquet, write_vw

WRITERS = {"vw": write_vw, "dsjson": write_dsjson}
READERS = {"vw": read_vw, "dsjson": read_dsjson}

texts = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(
    ["a b", "a:b", "a|b", "a=b", "50 %", "_tag", "été", "%41", "\u2028", "'tag", "17", "-3", "007", "shared", "true"]
)
names = texts.filter(lambda name: name not in ("", "id"))
values = {
    "vw": st.floats(allow_nan=False, allow_infinity=False) | texts | st.booleans() | st.lists(texts, max_size=3),
    "dsjson": st.floats(allow_nan=False, allow_infinity=False) | texts | st.booleans() | st.integers(),
}
ids = st.integers() | texts


@st.composite
def logs(draw, name: str) -> Log:
    features = st.dictionaries(names, values[name], max_size=3)
    offers, actions = [], []
    for _ in range(draw(st.integers(1, 4))):
        numbers = draw(st.lists(ids, min_size=1, max_size=4, unique_by=lambda one: (type(one), one)))
        offers.append(Offered(draw(features), [{"id": number, **draw(features)} for number in numbers]))
        actions.append(draw(st.integers(0, len(numbers) - 1)))
    each = {"min_size": len(actions), "max_size": len(actions)}
    return Log(
        actions=actions,
        rewards=draw(st.lists(st.floats(0, 1), **each)),
        propensities=draw(st.lists(st.floats(1e-300, 1), **each)),
        offers=offers,
        action_names=4,
    )


def exactly(offers) -> list[list[str]]:
    """Return offers so that 1, 1.0 and True, or 0.0 and -0.0, are not equal; the order of features tells nothing."""
    return [[repr(sorted(part.items())) for part in (offer.context, *offer.actions)] for offer in offers]


@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=80)
@given(data=st.data())
def test_what_is_written_is_read(tmp_path_factory, name, data):
    log = data.draw(logs(name))
    path = tmp_path_factory.mktemp("formats") / "log"
    assert WRITERS[name](log, path) == len(log)
    source = READERS[name](path, actions=log.action_names)
    assert source.n_events == len(log)
    (read,) = source.batches()
    assert read.actions.tolist() == log.actions.tolist()
    assert read.rewards.tolist() == log.rewards.tolist()
    assert read.propensities.tolist() == log.propensities.tolist()
    assert exactly(read.offers) == exactly(log.offers)


def test_dsjson_holds_all_of_a_log(tmp_path):
    log = offer_log(50)
    write_dsjson(log, tmp_path / "log")
    (read,) = read_dsjson(tmp_path / "log").batches()
    assert np.array_equal(read.probabilities, log.probabilities)
    assert np.array_equal(read.available, log.available)
    assert read.times == pytest.approx(log.times)
    assert read.versions.tolist() == log.versions.tolist()
    assert read.columns["event_id"].tolist() == log.columns["event_id"].tolist()
    assert read.action_names == log.action_names


@pytest.mark.parametrize("name", WRITERS)
def test_a_log_is_read_in_batches_and_events_without_a_reward_are_left_out(tmp_path, name):
    log = offer_log(100)
    rewards = np.where(np.arange(100) % 10 == 0, np.nan, log.rewards)
    log = changed(log, rewards=rewards, offers=log.offers)
    assert WRITERS[name](log, tmp_path / "log") == 90
    source = READERS[name](tmp_path / "log")
    assert source.n_events == 90
    batches = list(source.batches(40))
    assert [len(batch) for batch in batches] == [40, 40, 10]
    known = ~np.isnan(rewards)
    assert np.array_equal(np.concatenate([batch.actions for batch in batches]), log.actions[known])
    assert exactly(batches[2].offers) == exactly(log.offers[known][80:])


@pytest.mark.parametrize("name", WRITERS)
def test_a_bandit_learns_from_a_file_and_is_evaluated_on_another(tmp_path, name):
    for seed in (1, 2):
        WRITERS[name](offer_log(2000, seed), tmp_path / f"{seed}")
    first, second = (READERS[name](tmp_path / f"{seed}") for seed in (1, 2))
    bandit = PairBandit(forest={"n_trees": 8})
    learn_along(first, bandit)
    evaluation = evaluate(second, [as_it_stands(bandit, name="new"), uniform()])
    assert not evaluation.faults
    assert evaluation.is_better("new")


def test_a_byte_order_mark_is_no_part_of_text(tmp_path):
    (tmp_path / "log").write_bytes(b"\xef\xbb\xbfshared | a\n0:-1:0.5 | x\n| y\n")
    (log,) = read_vw(tmp_path / "log").batches()
    assert (log.rewards.tolist(), log.propensities.tolist(), len(log.offers[0].actions)) == ([1.0], [0.5], 2)


FOREIGN = """shared |User age:30 city_paris
|Offer x:1
0:-1:0.5 |Offer x:2
|Offer x:2

0:0:0.25 'b| id:3 |Offer y
'-7 |

shared 'event |User
|
1:-0.5:1 | id:4
| id:5 y=z:2
"""


def test_foreign_text(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(FOREIGN)
    (log,) = read_vw(path).batches()
    assert log.actions.tolist() == [1, 0, 1]
    assert log.rewards.tolist() == [1.0, 0.0, 0.5]
    assert log.offers[0].context == {"User.age": 30.0, "User.city_paris": 1.0}
    assert [action["id"] for action in log.offers[0].actions] == ["Offer.x=1.0", "Offer.x=2.0", "Offer.x=2.0 (2)"]
    assert log.offers[1] == Offered({}, [{"id": "b", "Offer.y": 1.0}, {"id": -7}])
    assert log.offers[2].actions == [{"id": ""}, {"id": 4}, {"id": 5, "y=z": 2.0}]
    assert log.features["User.age"].tolist()[:1] == [30.0]


def test_foreign_dsjson(tmp_path):
    event = {
        **{"_label_cost": -1, "_label_probability": 0.8, "_labelIndex": 2, "a": [3, 1, 2], "p": [0.8, 0.1, 0.1]},
        "c": {
            **{"User": {"age": 30, "tags": [1, 0]}, "hour": 12},
            "_multi": [{"_tag": "x", "i": {"constant": 1, "j": [{"kind": "news"}]}}, {"id": 7, "x": 2}, {"x": 3}],
        },
    }
    (tmp_path / "log").write_text(json.dumps(event) + '\n{"RewardValue": 1, "EventId": "e"}\n')
    (log,) = read_dsjson(tmp_path / "log").batches()
    assert (log.actions.tolist(), log.probabilities.tolist()) == ([2], [[0.1, 0.1, 0.8]])
    assert log.offers[0].context == {"User.age": 30, "User.tags.0": 1, "User.tags.1": 0, "hour": 12}
    assert [action["id"] for action in log.offers[0].actions] == ["x", 7, "x=3"]
    assert log.offers[0].actions[0]["i.j.0.kind"] == "news"


def test_tags_that_no_id_was_written_as_are_texts(tmp_path):
    path, digits = tmp_path / "log.txt", "9" * 5000
    path.write_text(f"shared | a%F0\n0:0:1 '{digits} | x\n'50%F0 | y\n")
    (log,) = read_vw(path).batches()
    assert log.offers[0].context == {"a%F0": 1.0}
    assert [action["id"] for action in log.offers[0].actions] == [digits, "50%F0"]


def test_numbers_beyond_all_floats_are_read_as_they_are(tmp_path):
    event = {"_label_Action": 1, "_label_cost": 0, "_label_probability": 1, "c": {"x": 10**400, "_multi": [{"id": 1}]}}
    (tmp_path / "log").write_text(json.dumps(event))
    (log,) = read_dsjson(tmp_path / "log").batches()
    assert log.offers[0].context == {"x": 10**400}


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("shared | a\n| x\n| y\n", "'label' of log, line 1 must be action:cost:probability"),
        ("shared | a\n0:0:1 | x\n1:0:1 | y\n", "'label' of log, line 1"),
        ("shared | a\n0:0:1 | x\n\nshared | a\n", "'label' of log, line 4"),
        ("shared | a\n0:x:1 | x\n", "'cost' of log, line 2, column 3"),
        ("shared | a\n0:0:1 | x\n\nshared | a\n| x\n0:-1:1.5 | y\n", "'probability' of log, line 6"),
        ("shared | a\n0:0:1 | x\n\nshared | a\n| x\n0:-2:1 | y\n", "'cost' of log, line 6"),
        ("shared | a\n0:0:1 'x |\n'x |\n", "'tag' of log, line 3"),
        ("shared | a\n0:0:1 | x\nshared | y\n", "'action' of log, line 3"),
        ("shared | a\n0:0:1 | x\nnonsense\n", "'action' of log, line 3"),
        ("shared | a\n0:0:1 | x:y\n", "'feature' of log, line 2, column 9"),
    ],
)
def test_faults_in_text_are_refused_by_line(tmp_path, content, place):
    (tmp_path / "log").write_text(content)
    with pytest.raises(InvalidArgumentError, match=place):
        list(read_vw(tmp_path / "log", actions=2).batches())


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"_label_Action": 5}, "'actions' of Log|'_label_Action' of log, line 2|'available' of log, line 2"),
        ({"c": {"x": 1}}, "'_multi' of log, line 2"),
        ({"c": {"_multi": [3, 4]}}, "'c' of log, line 2"),
        ({"c": {"_multi": [{"_tag": "a"}, {"_tag": "a"}]}}, "'_tag' of log, line 2"),
    ],
)
def test_faults_in_dsjson_are_refused_by_line(tmp_path, change, place):
    path = tmp_path / "log"
    write_dsjson(offer_log(3), path)
    lines = path.read_text().splitlines()
    lines[1] = json.dumps(json.loads(lines[1]) | {"_label_Action": 1, "a": [1, 2], "p": [0.5, 0.5]} | change)
    path.write_text("\n".join(lines))
    with pytest.raises(InvalidArgumentError, match=place):
        list(read_dsjson(path).batches())


def test_what_a_format_cannot_hold_is_refused(tmp_path):
    def log(**features: object) -> Log:
        offer = Offered({"x": 1.0}, [{"id": 1, **features}])
        return Log(actions=[0], rewards=[1], propensities=[1], offers=[offer], action_names=1)

    with pytest.raises(InvalidArgumentError, match="'tags' of write_dsjson must be no lists"):
        write_dsjson(log(tags=["a"]), tmp_path / "log")
    with pytest.raises(InvalidArgumentError, match="'size' of write_dsjson must be finite"):
        write_dsjson(log(size=float("inf")), tmp_path / "log")
    for write in (write_obp, write_parquet):
        with pytest.raises(InvalidArgumentError, match=f"'log' of {write.__name__} must be one of fixed actions"):
            write(log(), tmp_path / "log")
    write_vw(log(), tmp_path / "log")
    with pytest.raises(InvalidArgumentError, match="'variable_names' of read_vw must be None"):
        read_vw(tmp_path / "log", variable_names=["x"])
    with pytest.raises(InvalidArgumentError, match="'actions' of read_vw must be at least 1"):
        read_vw(tmp_path / "log", actions=[])


@pytest.mark.parametrize(("name", "options"), [("vw", ""), ("dsjson", "--dsjson")])
def test_vowpal_wabbit_reads_what_we_write(tmp_path, name, options):
    vowpalwabbit = pytest.importorskip("vowpalwabbit", reason="needs Vowpal Wabbit")
    log = offer_log(300)
    WRITERS[name](log, tmp_path / "log")
    arguments = f"--cb_explore_adf -q ca -d {tmp_path / 'log'} {options}"
    workspace = vowpalwabbit.Workspace(arguments, enable_logging=True)
    workspace.finish()
    told = "".join(workspace.get_log())
    assert "number of examples = 300" in told
    assert not any(word in told.lower() for word in ("warning", "error", "malformed", "unknown"))
    assert np.isfinite(float(told.split("average loss = ")[1].split("total")[0]))


def test_vowpal_wabbit_sees_the_same_features_in_text():
    vowpalwabbit = pytest.importorskip("vowpalwabbit", reason="needs Vowpal Wabbit")
    log = offer_log(50)
    workspace = vowpalwabbit.Workspace("--cb_explore_adf --quiet --noconstant -b 24")
    for text, offer, place in zip(vw_lines(log), log.offers, log.actions, strict=True):
        shared, *actions = workspace.parse(text.rstrip("\n").split("\n"))
        assert seen(shared, "c") == expected(workspace, offer.context, "context")
        assert len(actions) == len(offer.actions)
        for number, (example, action) in enumerate(zip(actions, offer.actions, strict=True)):
            assert seen(example, "a") == expected(workspace, action, "action")
            assert example.get_tag() == action["id"]
            costs = example.get_label(vowpalwabbit.LabelType.CONTEXTUAL_BANDIT).costs
            assert len(costs) == (number == place)
        workspace.finish_example([shared, *actions])


def test_vowpal_wabbit_sees_the_same_features_in_dsjson(tmp_path):
    vowpalwabbit = pytest.importorskip("vowpalwabbit", reason="needs Vowpal Wabbit")
    log = offer_log(50)
    write_dsjson(log, tmp_path / "log")
    workspace = vowpalwabbit.Workspace("--cb_explore_adf --quiet --noconstant -b 24 --dsjson")
    for line, offer in zip((tmp_path / "log").read_text().splitlines(), log.offers, strict=True):
        shared, *actions = workspace.parse(line)
        for example, features, side in zip(
            [shared, *actions], [offer.context, *offer.actions], ["context", *["action"] * len(actions)], strict=True
        ):
            told = {
                name.replace("_", "%5F", 1) if name.startswith("_") else name: value
                for name, value in features.items()
                if name != "id"
            }
            space = workspace.hash_space(side)
            numbers = {
                (workspace.hash_feature(name, space), float(value))
                for name, value in told.items()
                if isinstance(value, (bool, float)) and value
            }
            found = seen(example, side[0])
            assert numbers <= found
            assert len(found) == len(numbers) + sum(isinstance(value, str) for value in told.values())
        workspace.finish_example([shared, *actions])


def seen(example, space: str) -> set[tuple[int, float]]:
    """Return the hash and the value of each feature that Vowpal Wabbit has read in the namespaces of a letter."""
    return {
        (example.feature(space, number), example.feature_weight(space, number))
        for number in range(example.num_features_in(space))
    }


def expected(workspace, features, side: str) -> set[tuple[int, float]]:
    """Return the hash and the value of each feature that should be read; Vowpal Wabbit leaves out zeros."""
    found = set()
    for name, value in features.items():
        kind, word, number = {
            bool: ("flag", f"{escape(name)}={str(value).lower()}", 1.0),
            float: ("number", escape(name), value),
            str: ("text", f"{escape(name)}={escape(str(value))}", 1.0),
        }[type(value)]
        if name != "id" and number:
            found.add((workspace.hash_feature(word, workspace.hash_space(f"{side}_{kind}")), number))
    return found
