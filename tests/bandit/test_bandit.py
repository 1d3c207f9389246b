"""Bandit: features as they are, actions by name, rewards in their range."""

from __future__ import annotations

import threading
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest

from bandit_forest import Bandit, InvalidArgumentError
from bandit_forest.bandit import (
    ActionError,
    BooleanFeature,
    CapacityError,
    CategoricalFeature,
    FeatureError,
    LabelsFeature,
    NumericFeature,
    TimeFeature,
)
from bandit_forest.errors import DamagedFileError
from visits import ACTIONS, FOREST, frame, learned, rows

pytestmark = pytest.mark.core


def test_decides_and_learns_from_the_first_event_on() -> None:
    bandit = Bandit(actions=ACTIONS, reward_range=(0, 250), warm_up_events=50, forest=FOREST)
    first = bandit.decide(rows(1)[0])
    assert (first.action in ACTIONS, first.propensity, first.version) == (True, 1 / 3, 0)
    for context in rows(400):
        decision = bandit.decide(context)
        wanted = "go" if context["member"] else "stay"
        bandit.learn(decision, reward=200.0 if decision.action == wanted else 20.0)
    assert bandit.version == 400
    contexts = rows(50, seed=9)
    shares = [bandit.propensities(context)["go" if context["member"] else "stay"] for context in contexts]
    assert np.mean(shares) > 0.8
    bandit.learn(first, reward=20.0)  # a decision of the warm-up is learned late
    assert bandit.version == 401


def test_the_best_action_is_found_in_the_units_of_the_user() -> None:
    means = learned().mean_rewards(rows(1)[0] | {"member": True})
    assert means["go"] > 120 > means["stay"]


def test_a_batch_is_learned_as_one_by_one() -> None:
    together, apart, events = learned(300), Bandit(actions=ACTIONS, reward_range=(0, 250), forest=FOREST), frame(300)
    for _, row in events.iterrows():
        context = row.drop(["action", "revenue", "propensity"])
        apart.learn(context, row["action"], row["revenue"], propensity=row["propensity"])
    assert apart.to_bytes() == together.to_bytes()


@pytest.mark.parametrize(
    "convert",
    [
        lambda events: events,
        polars.from_pandas,
        lambda events: pyarrow.Table.from_pandas(events, preserve_index=False),
        lambda events: events.convert_dtypes(),
        lambda events: {name: events[name] for name in events},
        lambda events: events.astype(object).where(events.notna(), None).to_dict("records"),
    ],
    ids=["pandas", "polars", "pyarrow", "nullable", "series", "dicts"],
)
def test_frames_of_all_kinds_make_the_same_bandit(convert: Any) -> None:
    bandit = Bandit(actions=ACTIONS, reward_range=(0, 250), forest=FOREST)
    bandit.learn_many(convert(frame(400)), "action", "revenue", propensities="propensity")
    assert bandit.to_bytes() == learned(400).to_bytes()


def test_decisions_of_a_batch_are_learned_by_rewards_alone() -> None:
    bandit, other = learned(), learned()
    decisions = bandit.decide_many(pd.DataFrame(rows(40, seed=3)))
    single = [other.decide(context) for context in rows(40, seed=3)]
    assert decisions.actions == [decision.action for decision in single]
    assert decisions.propensities.tolist() == pytest.approx([decision.propensity for decision in single])
    bandit.learn_many(decisions, rewards=[5.0] * 40)
    for decision in single:
        other.learn(decision, reward=5.0)
    assert bandit.to_bytes() == other.to_bytes()


def test_a_reward_stands_behind_its_decision_with_or_without_its_name() -> None:
    named, plain = learned(), learned()
    for bandit in (named, plain):
        decision, decisions = bandit.decide(rows(1)[0]), bandit.decide_many(rows(5))
        if bandit is named:
            bandit.learn(decision, reward=9.0)
            bandit.learn_many(decisions, rewards=[9.0] * 5)
        else:
            bandit.learn(decision, 9.0)
            bandit.learn_many(decisions, [9.0] * 5)
    assert named.to_bytes() == plain.to_bytes()
    before, wrong = plain.to_bytes(), "must be left out with"
    wrongly: list[tuple[Any, str]] = [
        (lambda: plain.learn(decision, 300.0), "'reward' of Bandit.learn must be a number in .* Got 300.0"),
        (lambda: plain.learn(decision), "'reward' of Bandit.learn must be .* Got None"),  # type: ignore[call-overload]
        (lambda: plain.learn(decision, "go", 9.0), f"'action' of Bandit.learn {wrong} .* Got 'go'"),
        (lambda: plain.learn(decision, 9.0, 9.0), f"'action' of Bandit.learn {wrong}"),  # type: ignore[call-overload]
        (lambda: plain.learn(decision, 9.0, propensity=0.5), f"'propensity' of Bandit.learn {wrong}"),  # type: ignore[call-overload]
        (lambda: plain.learn_many(decisions, "go"), "'rewards' of Bandit.learn_many must be .* Got 'go'"),
        (lambda: plain.learn_many(decisions, ["go"] * 5, [9.0] * 5), f"'actions' of Bandit.learn_many {wrong}"),
        (lambda: plain.learn_many(decisions, [9.0] * 5, propensities=[1.0] * 5), f"'propensities' of .* {wrong}"),
    ]
    for call, sentence in wrongly:
        with pytest.raises(InvalidArgumentError, match=sentence):
            call()
    assert plain.to_bytes() == before


@pytest.mark.parametrize("n_rows", [20, 600], ids=["in the warm-up", "after the warm-up"])
def test_a_batch_whose_rewards_are_partly_known_is_learned_in_one_call(n_rows: int) -> None:
    is_known = np.array([True, False, True, True, False])
    wanted = [0, 2, 3]
    selections: list[Any] = [
        is_known,
        is_known.tolist(),
        pd.Series(is_known),
        np.flatnonzero(is_known),
        wanted,
        [0, -3, 3],
        np.array(wanted, dtype=np.uint8),
    ]
    apart = learned(n_rows)
    decisions = apart.decide_many(rows(5))
    for number in wanted:
        apart.learn(decisions[number], float(number))
    for selection in selections:
        bandit = learned(n_rows)
        chosen = bandit.decide_many(rows(5))[selection]
        assert [one.action for one in chosen] == chosen.actions == [decisions.actions[number] for number in wanted]
        bandit.learn_many(chosen, wanted)
        assert bandit.to_bytes() == apart.to_bytes()
    bandit = learned(n_rows)
    drawn = bandit.decide_many(rows(5))
    bandit.learn_many([drawn[0], *drawn[np.int64(2) : 4]], wanted)
    assert bandit.to_bytes() == apart.to_bytes()


def test_a_selection_of_decisions_is_that_of_a_list() -> None:
    decisions = learned().decide_many(rows(5))
    for part in (slice(2), slice(1, None, 2), slice(None, None, -1), slice(9, 20)):
        assert list(decisions[part]) == list(decisions)[part]
    assert len(decisions[[]]) == len(decisions[np.zeros(5, dtype=bool)]) == 0
    assert decisions[-1] == decisions[np.int64(4)] == list(decisions)[-1]
    with pytest.raises(IndexError):
        decisions[5]
    wrong: list[Any] = ["go", [True, False], [0, 5], [0.5], [True] * 4 + [None], np.eye(5), [[0, 1], [2]], None]
    for selection in wrong:
        with pytest.raises(InvalidArgumentError, match="The 'index' of BanditDecisions must be a number, a slice, a"):
            decisions[selection]


def test_available_actions_differ_row_by_row() -> None:
    bandit, contexts = learned(), rows(4)
    lists = [["stay"], ["go", "wait"], ["stay"], ["wait"]]
    mask = np.array([[name in names for name in ACTIONS] for names in lists])
    column = [context | {"may": names} for context, names in zip(contexts, lists, strict=True)]
    given: list[tuple[Any, Any]] = [(contexts, lists), (contexts, mask), (column, "may")]
    for batch, available in given:
        drawn = bandit.decide_many(batch, available_actions=available).actions
        assert all(action in names for action, names in zip(drawn, lists, strict=True))
    shares = bandit.propensities_many(contexts, available_actions=lists)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert (shares[~mask] == 0).all()
    with pytest.raises(InvalidArgumentError, match="available_actions"):
        bandit.decide(contexts[0], available_actions=["fly"])


def test_reads_of_many_are_those_of_each() -> None:
    bandit, contexts = learned(), rows(7, seed=5)
    many = bandit.mean_rewards_many(contexts).tolist()
    assert many == [list(bandit.mean_rewards(context).values()) for context in contexts]
    assert bandit.propensities_many([]).shape == bandit.mean_rewards_many([]).shape == (0, 3)
    shares = bandit.propensities_many(contexts).tolist()
    assert shares == [list(bandit.propensities(context).values()) for context in contexts]


def test_actions_come_and_go() -> None:
    bandit, context = learned(capacity=5), rows(1)[0]
    bandit.add_action("fly")
    bandit.disable_action("go")
    bandit.remove_action("wait")
    assert bandit.actions == {"stay": "enabled", "go": "disabled", "wait": "removed", "fly": "enabled"}
    assert {bandit.decide(context).action for _ in range(200)} <= {"stay", "fly"}
    bandit.learn(context, "go", 3.0, propensity=0.5)  # what was decided before may still come
    bandit.enable_action("go")
    with pytest.raises(ActionError):
        bandit.add_action("wait")
    bandit.add_action("swim")
    with pytest.raises(CapacityError):
        bandit.add_action("dive")
    with pytest.raises(InvalidArgumentError, match="one of stay"):
        bandit.learn(context, "wait", 3.0, propensity=0.5)


def test_a_decision_is_learned_after_its_action_was_removed() -> None:
    bandit, context = learned(), rows(1)[0]
    decision = bandit.decide(context, available_actions=["wait"])
    decisions = bandit.decide_many(rows(3), available_actions=["wait"])
    bandit.remove_action("wait")
    version = bandit.version
    bandit.learn(decision, reward=3.0)
    bandit.learn_many(decisions, [1.0, 2.0, 3.0])
    assert bandit.version == version + 4


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"age": "old"}, "The 'age' of the context must be a finite number. Got 'old' instead."),
        ({"age": float("inf")}, "The 'age' of the context must be a finite number. Got inf instead."),
        (
            {"membr": True},
            "The 'membr' of the context must be left out, it is unknown: did you mean 'member'? Got True instead.",
        ),
        ({"member": "yes"}, "The 'member' of the context must be true or false. Got 'yes' instead."),
        ({"tags": "new"}, "The 'tags' of the context must be a list of texts. Got 'new' instead."),
        ({"time": "soon"}, "The 'time' of the context must be a datetime, a date, or a text such as"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(change: dict[str, Any], sentence: str) -> None:
    bandit, context = learned(), rows(1)[0]
    before = bandit.to_bytes()
    with pytest.raises(FeatureError) as refusal:
        bandit.decide(context | change)
    assert str(refusal.value).startswith(sentence)
    assert bandit.to_bytes() == before


def test_what_is_wrong_in_a_column_is_told_with_its_row_and_value() -> None:
    bandit, events = learned(), frame(30)
    before = bandit.to_bytes()
    events["member"] = events["member"].astype(object)
    events.loc[17, "member"] = "perhaps"
    with pytest.raises(FeatureError, match="'member' of the context in row 17 must be true or false"):
        bandit.learn_many(events, "action", "revenue", propensities="propensity")
    with pytest.raises(InvalidArgumentError, match=r"reward"):
        bandit.learn_many(frame(30).assign(revenue=251.0), "action", "revenue", propensities="propensity")
    with pytest.raises(FeatureError, match="did you mean 'basket'"):
        bandit.decide_many(pd.DataFrame(rows(3)).rename(columns={"basket": "baskets"}))
    assert bandit.to_bytes() == before


def test_a_missing_or_unseen_value_is_no_known_one() -> None:
    bandit = learned()
    encode = bandit.model.schema.encode
    context = rows(1)[0] | {"age": 40}
    for name, values in {
        "age": [40, None, float("nan"), pd.NA],
        "city": ["Lannion", "Paris", "Nice", None, "Brest"],
        "tags": [[], ["new"], ["sale"], ["other"], None],
    }.items():
        codes = [encode(context | {name: value}) for value in values]
        missing = {code for code, value in zip(codes, values, strict=True) if value is None or value is pd.NA}
        assert len(missing) == 1
        n_missing = sum(not isinstance(value, list) and bool(pd.isna(value)) for value in values)
        assert len(set(codes)) == len(values) - n_missing + 1


def test_moments_become_hour_weekday_and_month() -> None:
    bandit = Bandit(actions=ACTIONS, features={"when": TimeFeature()}, forest=FOREST)
    assert bandit.policy is not None
    encode = bandit.model.schema.encode
    moment = datetime(2024, 5, 17, 9, 30)
    assert encode({"when": moment}) == bytes([9, 4, 4])
    for same in ("2024-05-17T09:30:00", pd.Timestamp(moment), np.datetime64(moment)):
        assert encode({"when": same}) == encode({"when": moment})
    column = pd.DataFrame({"when": pd.to_datetime([moment])})
    assert bandit.decide_many(column).contexts[0] == encode({"when": moment})


def test_a_moment_has_the_hour_of_its_own_zone() -> None:
    bandit = Bandit(actions=ACTIONS, features={"when": TimeFeature()}, forest=FOREST)
    moment = datetime(2024, 5, 17, 23, 30, tzinfo=ZoneInfo("Europe/Paris"))
    written = ["2024-05-17T23:30:00+02:00", "2024-05-17T23:30:00Z", moment, pd.Timestamp(moment)]
    assert {bandit.model.schema.encode({"when": value}) for value in written} == {bytes([23, 4, 4])}
    series, utc = pd.Series([moment]), polars.Series([moment]).dt.convert_time_zone("UTC")
    columns = [series, series.dt.tz_convert("UTC"), utc, utc.dt.convert_time_zone("Europe/Paris")]
    hours = [bandit.decide_many({"when": column}).contexts[0][0] for column in columns]
    assert hours == [23, 21, 21, 23]


def test_decimals_are_numbers() -> None:
    bandit, other = (Bandit(actions=ACTIONS, warm_up_events=20, forest=FOREST) for _ in range(2))
    numbers = [number / 8 for number in range(60)]
    decimals: list[Any] = [Decimal(number) for number in numbers]
    numbers[3], decimals[3] = float("nan"), Decimal("NaN")
    others = {"a": ["stay"] * 60, "r": [0.5] * 60, "p": [0.25] * 60}
    bandit.learn_many({"x": numbers} | others, "a", "r", propensities="p")
    exact = {"a": ["stay"] * 60, "r": [Decimal("0.5")] * 60, "p": [Decimal("0.25")] * 60}
    other.learn_many(pyarrow.table({"x": [*decimals[:3], None, *decimals[4:]]} | exact), "a", "r", propensities="p")
    assert other.to_bytes() == bandit.to_bytes()
    given: list[Any] = [{"x": decimals}, [{"x": value} for value in decimals], pd.DataFrame({"x": decimals})]
    for rows_of_decimals in given:
        drawn = other.decide_many(rows_of_decimals)
        assert list(drawn.contexts) == list(bandit.decide_many({"x": numbers}).contexts)
    bandit.learn({"x": 1.5}, "go", 0.5, propensity=0.25)
    other.learn({"x": Decimal("1.5")}, "go", Decimal("0.5"), propensity=Decimal("0.25"))  # type: ignore[call-overload]
    assert other.mean_rewards({"x": Decimal(2)}) == bandit.mean_rewards({"x": 2})
    with pytest.raises(FeatureError, match=r"must be a finite number\. Got Decimal\('Infinity'\)"):
        other.decide({"x": Decimal("Infinity")})


def test_features_are_declared_fitted_or_learned() -> None:
    declared = Bandit(
        actions=ACTIONS,
        features={
            "age": NumericFeature(thresholds=(30, 50), missing=True),
            "city": CategoricalFeature(values=("Paris", "Nice")),
            "member": BooleanFeature(),
            "tags": LabelsFeature(labels=("new",), open=True),
            "basket": "numeric",
            "time": "time",
        },
        warm_up_events=5,
        forest=FOREST,
    )
    assert declared.policy is None  # the thresholds of the basket are open
    with pytest.raises(FeatureError, match="one of 'Paris', 'Nice'"):
        declared.decide(rows(1)[0] | {"city": "Brest"})
    fitted = Bandit(actions=ACTIONS, forest=FOREST).fit(pd.DataFrame(rows(100)))
    assert fitted.policy is not None
    assert list(fitted.features) == ["age", "basket", "city", "member", "tags", "time"]
    with pytest.raises(InvalidArgumentError, match=r"Bandit\.fit must come before"):
        fitted.fit(rows(3))


def test_a_number_that_is_not_finite_does_not_spoil_the_first_events() -> None:
    bandit = Bandit(actions=["a", "b"], warm_up_events=1)
    for number in (float("inf"), 10**400):
        with pytest.raises(InvalidArgumentError, match="must be a finite number"):
            bandit.learn({"age": number}, "a", 1.0, propensity=0.5)
    bandit.learn({"age": 1}, "a", 1.0, propensity=0.5)
    assert bandit.version == 1


def test_a_contradiction_of_the_first_events_is_refused() -> None:
    bandit = Bandit(actions=ACTIONS)
    bandit.learn({"age": 3}, "stay", 1.0, propensity=0.5)
    with pytest.raises(FeatureError, match="numeric, as in the events before"):
        bandit.learn({"age": "three"}, "stay", 1.0, propensity=0.5)


def test_a_saved_bandit_goes_on_as_if_it_had_never_stopped(tmp_path: Path) -> None:
    for n_rows in (20, 600):  # within the warm-up, and after it
        bandit = learned(n_rows)
        bandit.disable_action("wait")
        bandit.save(tmp_path / "some.bandit")
        again = Bandit.load(tmp_path / "some.bandit")
        for context in rows(60, seed=2):
            decision, other = bandit.decide(context), again.decide(context)
            assert (decision.action, decision.propensity) == (other.action, other.propensity)
            bandit.learn(decision, reward=3.0)
            again.learn(other, reward=3.0)
        assert again.to_bytes() == bandit.to_bytes()


def test_a_bandit_that_is_saved_while_features_are_learned_keeps_their_order() -> None:
    bandit = Bandit(actions=ACTIONS, warm_up_events=20, forest={"n_trees": 4})
    contexts = [{"z": float(number % 7), "a": float(number % 3), "m": number % 2 == 0} for number in range(80)]
    for context in contexts[:10]:
        bandit.learn(bandit.decide(context), reward=1.0)
    again = Bandit.from_bytes(bandit.to_bytes())
    for context in contexts[10:]:
        for each in (bandit, again):
            each.learn(each.decide(context), reward=context["z"] / 7)
    assert list(again.features) == ["z", "a", "m"]
    assert again.to_bytes() == bandit.to_bytes()


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    data = learned(300).to_bytes()
    for damaged in (data[:-5], data[:100] + b"x" + data[101:], b"GIF89a"):
        (tmp_path / "some.bandit").write_bytes(damaged)
        with pytest.raises(DamagedFileError, match=r"some\.bandit"):
            Bandit.load(tmp_path / "some.bandit")


def test_it_explains_in_the_names_of_the_user() -> None:
    bandit, context = learned(), rows(1)[0] | {"member": True}
    told = bandit.explain(context)
    assert told.action_names[told.best_action] == "go"
    text = told.to_text()
    assert "member" in text
    assert "action 3" not in text
    importance = bandit.importance()
    assert next(iter(importance)) == "member"
    assert set(importance) == set(context)
    assert sum(importance.values()) == pytest.approx(1.0)
    assert "go (mean reward" in bandit.tree(0).to_text()
    assert bandit.tree(0).to_svg().startswith("<svg")


def test_threads_share_a_bandit() -> None:
    bandit = learned()

    def play(seed: int) -> None:
        for context in rows(50, seed):
            bandit.learn(bandit.decide(context), reward=1.0)

    threads = [threading.Thread(target=play, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bandit.version == 800
