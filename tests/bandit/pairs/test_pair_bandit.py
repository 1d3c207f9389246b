"""PairBandit: offered actions with features, from the first event on."""

import copy
import json
import math
import pickle
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from bandit_forest import Bandit, DamagedFileError, InvalidArgumentError, archive
from bandit_forest.bandit import FeatureError, NumericFeature
from bandit_forest.bandit.pairs import PairBandit, PairDecisions
from bandit_forest.forest.rule_codec import rule_to_json
from bandit_forest.rules import Greedy

FOREST = {"n_trees": 4}
DECLARED = {
    "context_features": {"age": NumericFeature(thresholds=(30, 50)), "member": "boolean"},
    "action_features": {"price": NumericFeature(thresholds=(5, 10, 15)), "new": "boolean"},
}


def event(rng, n_offered=5):
    context = {"age": float(rng.integers(18, 80)), "member": bool(rng.integers(2))}
    actions = [
        {"id": f"a{number}", "price": float(rng.integers(1, 20)), "kind": str(rng.choice(["phone", "case", "cable"]))}
        for number in rng.permutation(50)[:n_offered].tolist()
    ]
    return context, actions


def reward_of(context, action):
    return 8.0 if (context["age"] >= 40) == (action["price"] >= 10) else 1.0


def taught(n_events=800, **parameters):
    bandit = PairBandit(reward_range=(0, 10), warm_up_events=50, forest=FOREST, **parameters)
    rng = np.random.default_rng(1)
    for _ in range(n_events):
        context, actions = event(rng)
        decision = bandit.decide(context, actions=actions)
        chosen = next(action for action in actions if action["id"] == decision.action)
        bandit.learn(decision, reward=reward_of(context, chosen))
    return bandit


@pytest.fixture(scope="module")
def bandit():
    return taught()


def test_it_learns_which_action_suits_which_context(bandit):
    rng = np.random.default_rng(9)
    earned = []
    for number in range(100):
        context, actions = event(rng)
        fresh = [action | {"id": f"fresh {number} {action['id']}"} for action in actions]
        decision = bandit.decide(context, actions=fresh, key=number)
        chosen = next(action for action in fresh if action["id"] == decision.action)
        earned.append(reward_of(context, chosen) / max(reward_of(context, action) for action in fresh))
    assert np.mean(earned) > 0.9


def test_decisions_are_uniform_while_features_are_learned():
    bandit = PairBandit(warm_up_events=3)
    context, actions = event(np.random.default_rng(0))
    decision = bandit.decide(context, actions=actions)
    assert decision.propensity == 0.2
    assert bandit.mean_rewards(context, actions=actions)[decision.action] is None
    ranking = bandit.rank(context, actions=actions, key="e")
    assert sorted(ranking.actions) == sorted(action["id"] for action in actions)
    assert ranking.first.action == bandit.decide(context, actions=actions, key="e").action
    for _ in range(3):
        bandit.learn(decision, reward=1.0)
    assert repr(bandit) == "<PairBandit: 3 lessons learned>"
    bandit.learn(context, actions[0], 0.0, propensity=0.5)
    assert bandit.version == 4


def test_a_rule_that_is_given_in_part_has_the_rest_of_the_forest_s_own():
    whole = PairBandit().model.parameters["growth"]
    given = PairBandit(forest={"growth": {"log_capacity": 1024}}).model.parameters["growth"]
    assert given == whole | {"log_capacity": 1024} != whole
    rule = PairBandit(forest={"growth": Greedy(log_capacity=1024)}).model.parameters["growth"]
    assert rule == rule_to_json(Greedy(log_capacity=1024)) != given  # an object is taken as it is


def test_rankings_and_propensities(bandit):
    context, actions = event(np.random.default_rng(2))
    ranking = bandit.rank(context, actions=actions, n_ranked=3, key="e1")
    assert len(ranking.actions) == 3
    assert ranking.actions[0] == ranking.first.action == bandit.decide(context, actions=actions, key="e1").action
    assert ranking.propensities == bandit.propensities(context, actions=actions)
    assert ranking.first.propensity == ranking.propensities[ranking.first.action]
    assert math.isclose(sum(ranking.propensities.values()), 1.0)
    assert min(ranking.propensities.values()) > 0.0


@pytest.mark.parametrize("n_events", [10, 200])
def test_a_saved_bandit_goes_on_as_if_it_had_never_stopped(tmp_path, n_events):
    bandit = taught(n_events)
    bandit.save(tmp_path / "pairs.bf")
    loaded = PairBandit.load(tmp_path / "pairs.bf")
    rng = np.random.default_rng(5)
    for _ in range(100):
        context, actions = event(rng)
        decisions = [each.decide(context, actions=actions) for each in (bandit, loaded)]
        assert decisions[0] == decisions[1]
        for each, decision in zip((bandit, loaded), decisions, strict=True):
            each.learn(decision, reward=5.0)
    assert bandit.to_bytes() == loaded.to_bytes()


@pytest.mark.parametrize("n_events", [20, 300])
def test_parts_stay_as_they_were_taken_while_learning_goes_on(n_events):
    """A snapshot packs them in a thread: during the warm-up, and after it."""
    bandit, rng = taught(n_events), np.random.default_rng(5)
    before, parts = bandit.to_bytes(), bandit.parts()
    for _ in range(250):
        context, actions = event(rng)
        bandit.learn(bandit.decide(context, actions=actions), reward=1.0)
    assert archive.pack(*parts) == before != bandit.to_bytes()


def test_moments_of_the_warm_up_are_saved():
    features = {"context_features": {"when": "time"}, "action_features": {"price": "numeric"}}
    bandits = [PairBandit(**features, warm_up_events=40, forest=FOREST) for _ in range(2)]
    for number in range(60):
        if number == 20:
            bandits[0] = PairBandit.from_bytes(bandits[0].to_bytes())
        context = {"when": datetime(2026, 1, 1 + number % 28, number % 24, tzinfo=UTC)}
        actions = [{"id": "a", "price": float(number % 7)}, {"id": "b", "price": float(number % 5)}]
        decisions = [bandit.decide(context, actions=actions, key=number) for bandit in bandits]
        assert decisions[0][:3] == decisions[1][:3]
        for bandit, decision in zip(bandits, decisions, strict=True):
            bandit.learn(decision, reward=float(number % 24 < 12))
    assert bandits[0].to_bytes() == bandits[1].to_bytes()


def test_other_files_are_refused(tmp_path):
    Bandit(actions=["a", "b"]).save(tmp_path / "bandit.bf")
    with pytest.raises(DamagedFileError, match=r"does not hold a PairBandit, but a Bandit: Bandit\.load reads it"):
        PairBandit.load(tmp_path / "bandit.bf")
    data = taught(60).to_bytes()
    with pytest.raises(DamagedFileError):
        PairBandit.from_bytes(data[:-40])


def test_copies_go_on_alike(bandit):
    for copied in (copy.deepcopy(bandit), pickle.loads(pickle.dumps(bandit))):
        assert copied.to_bytes() == bandit.to_bytes()


def test_an_action_may_be_a_row_of_a_frame_with_an_id_of_numpy():
    bandit = PairBandit(**DECLARED, forest=FOREST)
    frame = pd.DataFrame({"id": [7, 8], "price": [3.0, 12.0], "new": [True, False]})
    decision = bandit.decide({"age": 31, "member": True}, actions=[row for _, row in frame.iterrows()])
    assert decision.action in (7, 8)
    assert type(decision.action) is int


@pytest.mark.parametrize("declared", [{}, DECLARED])
def test_events_from_elsewhere_are_learned_together_as_one_by_one(declared):
    rng = np.random.default_rng(3)
    contexts = [{"age": float(rng.integers(18, 80)), "member": bool(rng.integers(2))} for _ in range(90)]
    taken = [{"id": n % 7, "price": float(rng.integers(1, 20)), "new": bool(n % 2)} for n in range(90)]
    rewards = rng.random(90)
    alone, together = (PairBandit(warm_up_events=50, forest=FOREST, **declared) for _ in range(2))
    for context, action, reward in zip(contexts, taken, rewards.tolist(), strict=True):
        alone.learn(context, action, reward, propensity=0.5)
    together.learn_many(pd.DataFrame(contexts), taken, rewards, propensities=[0.5] * 90)
    assert together.to_bytes() == alone.to_bytes()
    with pytest.raises(FeatureError, match="row 2"):
        together.learn_many([*contexts[:2], {"age": "old", "member": True}], taken[:3], [0.5] * 3, propensities=[1] * 3)
    with pytest.raises(InvalidArgumentError, match="must be 2 actions, one for each context"):
        together.learn_many(contexts[:2], taken[:3], [0.5] * 2, propensities=[1] * 2)
    assert together.to_bytes() == alone.to_bytes()


def test_frames_have_one_row_per_offered_action():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    rows, contexts = [], []
    for number in range(20):
        context, actions = event(rng, n_offered=int(rng.integers(1, 5)))
        contexts.append((context, actions))
        rows += [{"event": f"e{number}"} | context | action for action in actions]
    bandit = PairBandit(forest=FOREST)
    bandit.fit([context for context, _ in contexts], [action for _, actions in contexts for action in actions])
    keys = [f"e{number}" for number in range(20)]
    decisions = bandit.decide_many(pandas.DataFrame(rows), event="event", keys=keys)
    assert decisions.events == keys
    for key, (context, actions), decision in zip(keys, contexts, decisions, strict=True):
        assert decision == bandit.decide(context, actions=actions, key=key)
    bandit.learn_many(decisions, np.linspace(0, 1, 20))
    assert bandit.version == 20
    with pytest.raises(InvalidArgumentError, match="must be rows with the same context"):
        bandit.decide_many([rows[0] | {"age": 1.0, "id": "other"}, rows[0]], event="event")
    with pytest.raises(InvalidArgumentError, match="stand together"):
        bandit.decide_many([rows[0], rows[-1], rows[0]], event="event")


def test_a_reward_stands_behind_its_decision_and_a_batch_may_be_learned_in_part():
    rows = [{"event": number, "age": 40, "member": True, "id": 7, "price": number, "new": True} for number in range(5)]
    named, plain, listed = (PairBandit(**DECLARED, forest=FOREST) for _ in range(3))
    for bandit in (named, plain, listed):
        decisions = bandit.decide_many(rows, event="event")
        if bandit is named:
            for number in (0, 2, 3):
                bandit.learn(decisions[number], reward=0.5)
        elif bandit is plain:
            bandit.learn(decisions[0], 0.5)
            bandit.learn_many(decisions[np.array([False, False, True, True, False])], [0.5, 0.5])
        else:
            bandit.learn_many([decisions[0], *decisions[2:4]], rewards=[0.5] * 3)
            bandit.learn_many(decisions[:1][1:], [])
    assert named.to_bytes() == plain.to_bytes() == listed.to_bytes()
    assert decisions[[3, 1]].events == [3, 1]
    with pytest.raises(InvalidArgumentError, match="The 'index' of PairDecisions must be"):
        decisions[[7]]


@pytest.mark.parametrize(
    ("change", "keys"),
    [
        ({"price": "dear"}, None),
        ({"event": 1}, None),
        ({}, [1]),
        ({}, [1, 2, 3, 4]),
        ({}, iter("abc")),
        ({}, [1, 2, 0.5]),
    ],
)
def test_a_table_of_which_anything_is_refused_draws_nothing(change, keys):
    rows = [{"event": number, "age": 40, "member": True, "id": 7, "price": 1, "new": True} for number in range(3)]
    bandit = PairBandit(**DECLARED)
    before = bandit.to_bytes()
    with pytest.raises(InvalidArgumentError):
        bandit.decide_many([*rows[:2], rows[2] | change, {**rows[0], "event": 2, "id": 8}], event="event", keys=keys)
    assert bandit.to_bytes() == before


def test_an_explanation_tells_why_and_what_would_have_changed_it(bandit):
    context = {"age": 60.0, "member": True}
    actions = [{"id": "dear", "price": 15.0, "kind": "phone"}, {"id": "cheap", "price": 2.0, "kind": "phone"}]
    told = bandit.explain(context, actions=actions)
    assert told.best == "dear"
    assert told.reasons[0].feature == "price"
    assert told.reasons[0].difference > 3.0
    assert ("context", "cheap") in {(change.side, change.action) for change in told.changes}
    third = {"id": "dear too", "price": 14.0, "kind": "phone"}
    told_of_three = bandit.explain(context, actions=[*actions, third])
    assert "action" in {change.side for change in told_of_three.changes}
    assert any(change.test.startswith("age < ") for change in told.changes)
    first, *lines = told.to_text().splitlines()
    mean, propensity = told.mean_rewards["dear"], told.propensities["dear"]
    assert first == f"dear: mean reward {mean:.3f}, drawn with probability {propensity:.3f}"
    assert any(line.startswith("dear is ahead by its price") for line in lines)
    assert not any("is drawn most" in line for line in lines)
    tried = replace(told, propensities={"dear": 0.25, "cheap": 0.75})
    assert "cheap is drawn most, because fewer rewards of actions like it are known" in tried.to_text()
    assert sum(told.propensities.values()) == pytest.approx(1.0)


def test_an_explanation_is_ready_for_json_with_ids_as_texts_where_they_are_keys(bandit):
    context = {"age": 60.0, "member": True}
    actions = [{"id": 7, "price": 15.0, "kind": "phone"}, {"id": "cheap", "price": 2.0, "kind": "phone"}]
    told = bandit.explain(context, actions=actions)
    document = told.as_dict()
    assert json.loads(json.dumps(document)) == document
    assert list(document) == ["best", "mean_rewards", "propensities", "reasons", "changes"]
    assert (document["best"], list(document["mean_rewards"])) == (7, ["7", "cheap"])
    assert document["mean_rewards"]["7"] == told.mean_rewards[7]
    assert document["reasons"][0] == {"feature": "price", "difference": told.reasons[0].difference}
    assert document["changes"][0]["action"] == told.changes[0].action


def test_importance_by_feature_and_by_side(bandit):
    importance = bandit.importance()
    assert importance["context"]["age"] + importance["action"]["price"] > 0.8
    rng = np.random.default_rng(4)
    contexts = [event(rng)[0] for _ in range(30)]
    actions = [action | {"id": number} for number, action in enumerate(event(rng, 30)[1])]
    sides = bandit.importance_by_side(contexts, actions)
    assert sides["pair"] > 0.7
    assert sum(sides.values()) == pytest.approx(1.0)


ONE = [{"id": "a", "price": 3.0, "new": True}]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda b: b.decide({"age": "old"}, actions=ONE), "The 'age' of the context must be"),
        (
            lambda b: b.decide({"age": 3}, actions=[ONE[0] | {"price": "x"}]),
            "The 'price' of the action in row 0 must be",
        ),
        (
            lambda b: b.decide({"age": 3}, actions=[ONE[0] | {"size": 1}]),
            "The 'size' of the action in row 0 must be left",
        ),
        (lambda b: b.decide({"age": 3}, actions=[]), "The 'actions' of PairBandit.decide must be 1 to"),
        (lambda b: b.decide({"age": 3}, actions={"id": 3}), "The 'actions' of PairBandit.decide must be"),
        (lambda b: b.decide({"age": 3}, actions=[{"price": 3.0}]), "The 'id' of PairBandit.decide must be a text"),
        (lambda b: b.decide({"age": 3}, actions=ONE * 2), "The 'actions' of PairBandit.decide must be actions with"),
        (lambda b: b.decide({"age": 3}, actions=ONE, key=0.5), "The 'key' of"),
        (lambda b: b.rank({"age": 3}, actions=ONE, n_ranked=2), "The 'n_ranked' of PairBandit.rank must be"),
        (lambda b: b.learn({"age": 3}, ONE[0], 2.0, propensity=0.5), "The 'reward' of PairBandit.learn must be"),
        (lambda b: b.learn({"age": 3}, ONE[0], 1.0, propensity=0.0), "The 'propensity' of PairBandit.learn must be"),
        (
            lambda b: b.learn(b.rank({"age": 3, "member": True}, actions=ONE, key=1), 1.0),
            "of a ranking, give .* 'first'",
        ),
        (lambda b: b.learn(b.decide({"age": 3, "member": True}, actions=ONE, key=1), ONE[0], 1.0), "must be left out"),
        (lambda b: b.learn(b.decide({"age": 3, "member": True}, actions=ONE, key=1), 2.0), "'reward' of .* Got 2.0"),
        (lambda b: b.learn_many([3], [1.0]), "The 'given' of PairBandit.learn_many must be decisions; or contexts"),
        (lambda b: b.fit([], []), "PairBandit.fit must come before"),
        (lambda b: b.decide_many(ONE, event="event"), "The 'event' of PairBandit.decide_many must be"),
        (lambda b: b.learn_many([], []), "The 'given' of PairBandit.learn_many must be decisions; or contexts"),
    ],
)
def test_wrong_calls_are_refused_and_change_nothing(call, sentence):
    bandit = PairBandit(**DECLARED, forest=FOREST)
    before = bandit.to_bytes()
    with pytest.raises(InvalidArgumentError, match=sentence):
        call(bandit)
    assert bandit.to_bytes() == before


def test_a_lesson_that_contradicts_those_before_it_changes_nothing():
    bandit = PairBandit()
    plain = bandit.decide({"age": 1}, actions=[{"id": 1, "price": 1.0}])
    other = bandit.decide({"age": 1, "new": True}, actions=[{"id": 1, "price": "dear"}])
    bandit.learn(plain, reward=1.0)
    before = bandit.to_bytes()
    with pytest.raises(InvalidArgumentError, match="'price' of the action in row 0 must be numeric"):
        bandit.learn(other, reward=1.0)
    assert bandit.to_bytes() == before


@pytest.mark.parametrize(("n_known", "row"), [(0, 3), (0, 7), (3, 1), (3, 6)])
@pytest.mark.parametrize(("side", "name"), [("context", "age"), ("action", "price")])
def test_a_refused_batch_changes_nothing_and_names_the_row(side, name, n_known, row):
    """The warm-up of five lessons ends inside the batch, before or behind the row."""
    bandit = PairBandit(warm_up_events=5, forest=FOREST)
    wrong = {"age": 1.0, "price": 2.0} | {name: "wrong"}
    given = [wrong if number == row else {"age": 1.0, "price": float(number)} for number in range(9)]
    drawn = [bandit.decide({"age": one["age"]}, actions=[{"id": 1, "price": one["price"]}]) for one in given]
    for _ in range(n_known):
        bandit.learn(bandit.decide({"age": 2.0}, actions=[{"id": 2, "price": 1.0}]), reward=1.0)
    before = bandit.to_bytes()
    with pytest.raises(InvalidArgumentError, match=f"The '{name}' of the {side} in row {row} must be"):
        bandit.learn_many(PairDecisions(list(range(9)), drawn), [1.0] * 9)
    assert bandit.to_bytes() == before
    del drawn[row]
    bandit.learn_many(PairDecisions(list(range(8)), drawn), [1.0] * 8)
    assert bandit.version == n_known + 8


def test_a_refused_fit_changes_nothing():
    bandit = PairBandit()
    before = bandit.to_bytes()
    with pytest.raises(InvalidArgumentError, match="The 'price' of the action in row 1 must be numeric"):
        bandit.fit([{"age": 1}], [{"price": 1}, {"price": "dear"}])
    assert bandit.to_bytes() == before


def test_a_feature_without_a_value_in_the_warm_up_is_a_category_and_the_refusal_has_the_cure():
    bandit = PairBandit(warm_up_events=5, forest=FOREST)
    for _ in range(6):
        bandit.learn({"age": 1}, {"id": 1, "price": 1, "size": None}, 1.0, propensity=0.5)
    for again in (bandit, PairBandit.from_bytes(bandit.to_bytes())):
        with pytest.raises(InvalidArgumentError, match=r'action_features=\{"size": "numeric"\}'):
            again.decide({"age": 1}, actions=[{"id": 1, "price": 1, "size": 1.5}])


@pytest.mark.parametrize("number", [math.inf, -math.inf, 10**400, 10**5000], ids=["inf", "-inf", "long", "very long"])
def test_a_number_that_is_not_finite_is_refused_before_it_can_spoil_the_first_lessons(number):
    bandit = PairBandit(warm_up_events=2)
    before = bandit.to_bytes()
    for context, price in (({"age": number}, 1.0), ({"age": 1}, number)):
        with pytest.raises(InvalidArgumentError, match="must be a finite number"):
            bandit.learn(context, {"id": 1, "price": price}, 1.0, propensity=0.5)
    assert bandit.to_bytes() == before


def test_an_id_of_too_many_digits_is_refused():
    with pytest.raises(InvalidArgumentError, match="at most 4300 digits"):
        PairBandit(**DECLARED).decide({"age": 1, "member": True}, actions=[{"id": 10**5000, "price": 1, "new": True}])


def test_parameters_are_checked():
    with pytest.raises(InvalidArgumentError, match="without 'id'"):
        PairBandit(action_features={"id": "categorical"})
    with pytest.raises(InvalidArgumentError, match="must be among"):
        PairBandit(forest={"n_actions": 3})
    with pytest.raises(InvalidArgumentError, match="must wait for"):
        PairBandit().importance()


def test_decisions_of_another_bandit_are_refused_also_in_the_warm_up(bandit):
    context, actions = event(np.random.default_rng(5))
    foreign = bandit.decide(context, actions=actions)
    young = PairBandit(warm_up_events=3, forest=FOREST)
    before = young.to_bytes()
    for learn in (lambda: young.learn(foreign, 1.0), lambda: young.learn_many([foreign], [1.0])):
        with pytest.raises(InvalidArgumentError, match="one of this bandit"):
            learn()
    assert young.to_bytes() == before
