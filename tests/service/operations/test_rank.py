"""Rankings of offered actions: draws, refusals, limits, repeated events, and what happens to their rewards."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from offered_projects import (
    CONTEXT,
    FOREST,
    LEARNED_FEATURES,
    OFFER,
    context,
    learn,
    make_offered_project,
    offer,
    play,
    rank,
)
from projects import Clock, opened, refuses

from bandit_forest.bandit.pairs import PairBandit
from bandit_forest.service.config.tables import Limits, RewardRule
from bandit_forest.service.errors import InvalidRequestError, ServiceError
from bandit_forest.service.operations.explain import explain_offer
from bandit_forest.service.recovery.verify import verify


def test_a_ranking_is_what_the_bandit_itself_would_draw(tmp_path: Path) -> None:
    project = make_offered_project(tmp_path)
    bandit = PairBandit.from_settings(project.settings)
    rng = random.Random(2)
    with opened(project) as decider:
        for number in range(200):
            given, offered = context(rng), offer(rng)
            told = rank(decider.context, given, offered, event_id=f"e{number}", mean_rewards=True)
            ranking = bandit.rank(given, actions=offered, key=f"e{number}")
            assert [one.id for one in told.ranking] == ranking.actions
            assert {one.id: one.propensity for one in told.ranking} == ranking.propensities
            assert (told.action, told.propensity) == ranking.first[:2]
            assert told.model_version == number
            means = bandit.mean_rewards(given, actions=offered)
            assert told.mean_rewards == {str(name): mean for name, mean in means.items()}
            reward = rng.random()
            decider.reward(told.event_id, reward)
            bandit.learn(ranking.first, reward=reward)
        assert decider.state.learner.to_bytes() == bandit.to_bytes()
        assert sum(one.propensity for one in told.ranking) == pytest.approx(1)
    assert verify(project).n_events == 200


def test_ranks_are_as_many_as_are_asked_for(tmp_path: Path) -> None:
    with opened(make_offered_project(tmp_path)) as decider:
        whole = rank(decider.context, event_id="e")
        assert len(whole.ranking) == 2
        alone = rank(decider.context, event_id="one", n_ranked=1)
        assert [one.id for one in alone.ranking] == [alone.action]
        for n_ranked in (2, 2.0, 3, 1e300):
            assert len(rank(decider.context, event_id="more", n_ranked=n_ranked).ranking) == 2


def test_the_same_event_gets_the_same_answer_for_ever_and_another_body_is_a_conflict(tmp_path: Path) -> None:
    project = make_offered_project(tmp_path)
    others: list[dict[str, Any]] = [
        {"context": CONTEXT | {"age": 43}},  # of the same interval
        {"actions": [OFFER[0] | {"price": 9.8}, OFFER[1]]},
        {"actions": OFFER[::-1]},
        {"n_ranked": 1},
    ]
    first = None
    for stop in (True, False):  # from the snapshot, and from the journal
        with opened(project) as decider:
            told = rank(decider.context, event_id="e")
            first = first or told
            assert told == first
            play(decider, 20, start=0 if stop else 100)
            assert rank(decider.context, event_id="e") == first
            for other in others:
                with refuses("event_conflict"):
                    rank(decider.context, event_id="e", **other)
            finished = rank(decider.context, event_id="finished")
            if stop:
                decider.reward("finished", 1.0)
            assert rank(decider.context, event_id="finished") == finished
    learn_again = {"context": CONTEXT, "action": OFFER[1], "reward": 1.0, "propensity": 0.5, "event_id": "l"}
    with opened(project) as decider:
        assert not learn(decider.context, **learn_again).ignored
        for change in ({"action": OFFER[0]}, {"reward": 0.5}, {"propensity": 0.25}):
            with refuses("event_conflict"):
                learn(decider.context, **learn_again | change)
        with refuses("event_conflict"):
            rank(decider.context, event_id="l")
    with opened(project) as decider, refuses("duplicate_reward"):
        learn(decider.context, **learn_again)


@pytest.mark.parametrize(
    ("change", "path", "rule"),
    [
        ({"context": {"age": 42}}, "$.context.member", "true or false"),
        ({"context": CONTEXT | {"agee": 1}}, "$.context.agee", "did you mean 'age'"),
        ({"actions": []}, "$.actions", "length >= 1"),
        ({"actions": [OFFER[0], {"price": 1, "kind": "case"}]}, "$.actions[1].id", "a printable text"),
        ({"actions": [OFFER[0] | {"id": True}]}, "$.actions[0].id", "a printable text"),
        ({"actions": [OFFER[0] | {"id": ""}]}, "$.actions[0].id", "a printable text"),
        ({"actions": [OFFER[0] | {"id": "a\n"}]}, "$.actions[0].id", "a printable text"),
        ({"actions": [OFFER[0] | {"id": 2**63}]}, "$.actions[0].id", "an int of 64 bits"),
        ({"actions": [OFFER[0] | {"id": 1.5}]}, "$.actions[0].id", "a printable text"),
        ({"actions": [OFFER[0], OFFER[1] | {"price": "dear"}]}, "$.actions[1].price", "a finite number"),
        ({"actions": [OFFER[0], {"id": 3, "price": 1}]}, "$.actions[1].kind", "a missing value is not allowed"),
        ({"actions": [OFFER[0] | {"colour": "red"}]}, "$.actions[0].colour", "left out, it is unknown"),
        ({"event_id": "a\n"}, "$.event_id", "printable"),
        ({"n_ranked": 0}, "$.n_ranked", ">= 1"),
        ({"n_ranked": 1.5}, "$.n_ranked", "a whole number"),
        ({"mean_rewards": 1}, "$.mean_rewards", "expected `bool`"),
    ],
)
def test_what_does_not_fit_is_refused_at_its_place_and_changes_nothing(
    tmp_path: Path, change: dict[str, Any], path: str, rule: str
) -> None:
    with opened(make_offered_project(tmp_path)) as decider:
        with pytest.raises(InvalidRequestError) as refused:
            rank(decider.context, **change)
        assert refused.value.path == path
        assert rule in refused.value.message
        assert (decider.state.seq, decider.status().decisions) == (0, 0)


@pytest.mark.parametrize("twice", [OFFER[1] | {"price": 4}, OFFER[1] | {"id": "18"}])
def test_an_id_is_offered_once_also_as_a_text(tmp_path: Path, twice: dict[str, Any]) -> None:
    with opened(make_offered_project(tmp_path)) as decider:
        with refuses("action_conflict", match="must have different ids, also as texts"):
            rank(decider.context, actions=[OFFER[1], twice])
        assert decider.state.seq == 0


def test_offers_have_their_limits(tmp_path: Path) -> None:
    rng = random.Random(1)
    for limits, rule in (
        (Limits(offered_actions=3), "'$.actions' must have at most 3 items. It has 4."),
        (Limits(offered_bytes=100), "'$.actions' must have at most 100 bytes as JSON."),
        (Limits(context_bytes=5), "'$.context' must have at most 5 bytes as JSON."),
    ):
        with opened(make_offered_project(tmp_path / str(hash(limits)), limits=limits)) as decider:
            with pytest.raises(InvalidRequestError) as refused:
                rank(decider.context, context(rng), offer(rng))
            assert rule in refused.value.message
    taken = {"context": CONTEXT, "action": OFFER[0], "reward": 1, "propensity": 1}
    project = make_offered_project(tmp_path / "learn", limits=Limits(offered_bytes=10))
    rule = r"'\$.action' must have at most 10 bytes"
    with opened(project) as decider, pytest.raises(InvalidRequestError, match=rule):
        learn(decider.context, **taken)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"action": {"price": 1, "kind": "case"}}, "$.action.id"),
        ({"action": OFFER[0] | {"price": "dear"}}, "$.action.price"),
        ({"action": "a17"}, "$.action"),
        ({"context": {"age": 42}}, "$.context.member"),
        ({"reward": 2}, "$.reward"),
        ({"propensity": 0}, "$.propensity"),
    ],
)
def test_an_event_from_elsewhere_is_checked(tmp_path: Path, change: dict[str, Any], path: str) -> None:
    event = {"context": CONTEXT, "action": OFFER[0], "reward": 1, "propensity": 0.5} | change
    with opened(make_offered_project(tmp_path)) as decider:
        with pytest.raises(InvalidRequestError) as refused:
            learn(decider.context, **event)
        assert (refused.value.path, decider.state.seq) == (path, 0)


def test_late_second_and_expired_rewards_are_as_with_fixed_actions(tmp_path: Path) -> None:
    clock = Clock()
    project = make_offered_project(tmp_path, reward=RewardRule(window_seconds=10, default=0.25))
    with opened(project, clock) as decider:
        for name in ("late", "first", "expires"):
            rank(decider.context, event_id=name)
        decider.reward("first", 1.0)
        with refuses("duplicate_reward"):
            decider.reward("first", 0.0)
        clock.now += 11
        with refuses("late_reward"):
            decider.reward("late", 1.0)
        assert decider.expire() == 2
        with refuses("late_reward"):
            decider.reward("expires", 1.0)
        status = decider.status()
        assert (status.expired, status.rewards, status.model_version) == (2, 3, 3)
        assert status.average_reward == pytest.approx(0.5)
    assert verify(project).n_events == 3


@pytest.mark.parametrize("full", ["expire", "refuse"])
def test_as_many_events_wait_as_may(tmp_path: Path, full: str) -> None:
    project = make_offered_project(tmp_path, limits=Limits(waiting_events=3, waiting_full=full))
    with opened(project) as decider:
        for number in range(3):
            rank(decider.context, event_id=f"e{number}")
        if full == "refuse":
            with refuses("too_many_waiting"):
                rank(decider.context, event_id="e3")
            assert rank(decider.context, event_id="e1").event_id == "e1"
        else:
            rank(decider.context, event_id="e3")
            assert list(decider.state.waiting) == ["e1", "e2", "e3"]
    verify(project)


def test_an_event_that_expires_early_may_end_the_warm_up_between_check_and_draw(tmp_path: Path) -> None:
    project = make_offered_project(
        tmp_path,
        offered=LEARNED_FEATURES,
        warm_up_events=5,
        limits=Limits(waiting_events=4),
        reward=RewardRule(default=0.5),
    )
    rng = random.Random(5)
    with opened(project) as decider:
        for number in range(9):
            rank(decider.context, context(rng), offer(rng), event_id=f"e{number}")
            bandit = decider.state.pairs
            if bandit.forest is not None:
                break
        assert number == 8
        event = decider.state.waiting["e8"]
        assert isinstance(event.context, bytes)
        assert all(isinstance(action, bytes) for action in event.offer.actions)
        assert isinstance(decider.state.waiting["e7"].context, dict)
        decider.snapshot()()
        assert verify(project).n_events == 5
        for number in range(5, 9):
            decider.reward(f"e{number}", 1.0)
    assert verify(project).n_events == 9


def test_features_that_are_left_open_are_learned_from_the_first_lessons(tmp_path: Path) -> None:
    project = make_offered_project(tmp_path, offered=LEARNED_FEATURES, warm_up_events=30)
    with opened(project) as decider:
        told = rank(decider.context, event_id="first", mean_rewards=True)
        assert (told.propensity, told.mean_rewards, told.model_version) == (0.5, None, 0)
        play(decider, 25)
        left = decider.status().warm_up_left
        assert 0 < left < 30
    with opened(project) as decider:
        assert decider.status().warm_up_left == left
        play(decider, 25, start=25)
        assert decider.status().warm_up_left == 0
        assert set(rank(decider.context, mean_rewards=True).mean_rewards) == {"a17", "18"}
        assert decider.reward("first", 1.0).reward == 1.0  # an offer from before the features were known
    verify(project)


def test_status_evaluation_and_recent_events_tell_of_offered_actions(tmp_path: Path) -> None:
    with opened(make_offered_project(tmp_path)) as decider:
        play(decider, 400)
        status = decider.status()
        assert (status.offers, status.actions, status.capacity) == (True, (), 0)
        assert (status.decisions, status.learned, status.n_nodes > 5) == (400, 40, True)
        assert sum(bucket.decisions["offered"] for bucket in status.history) == 400
        (uniform,) = decider.evaluation().policies
        assert uniform.events == 320
        assert uniform.value < status.average_reward
        assert [event["event_id"] for event in decider.recent()[:2]] == ["e399", "e398"]


def test_an_event_that_waits_is_explained_by_the_features_of_its_offer(tmp_path: Path) -> None:
    with opened(make_offered_project(tmp_path)) as decider:
        play(decider, 600)
        offered = [{"id": "dear", "price": 20, "kind": "case"}, {"id": 7, "price": 2.5, "kind": "case"}]
        told = rank(decider.context, {"age": 60, "member": True}, offered, event_id="e", n_ranked=1)
        document = explain_offer(decider.context, "e")()
        assert (document["action"], document["propensity"]) == (told.action, told.propensity)
        assert document["ranking"] == [{"id": told.action, "propensity": told.propensity}]
        assert document["explanation"]["best"] == "dear"
        assert list(document["explanation"]["mean_rewards"]) == ["dear", "7"]
        assert document["explanation"]["reasons"][0]["feature"] == "price"
        decider.reward("e", 1.0)
        over = explain_offer(decider.context, "e")()
        assert (over["reward"], over["explanation"], over["ranking"]) == (1.0, None, document["ranking"])
        assert explain_offer(decider.context, "l0")()["state"] == "learned"
        with refuses("unknown_event"):
            explain_offer(decider.context, "nobody")


def test_rules_of_the_forest_of_which_parts_are_given_keep_the_rest(tmp_path: Path) -> None:
    given = make_offered_project(tmp_path).settings.forest
    own = PairBandit().model.parameters
    changed = {"n_trees", "seed", "n_names"}
    assert {name for name in own if given[name] != own[name] and name != "growth"} == changed
    assert given["growth"] == own["growth"] | FOREST["growth"]


def test_a_failing_disk_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    with opened(make_offered_project(tmp_path)) as decider:
        decider.context.journal.failure = "no space"
        with pytest.raises(ServiceError, match="cannot be written now"):
            rank(decider.context)
        decider.context.journal.failure = None


def test_a_whole_number_is_an_int_however_it_is_written(tmp_path: Path) -> None:
    project, whole = make_offered_project(tmp_path), OFFER[1] | {"id": 18.0}
    event = {"context": CONTEXT, "reward": 1.0, "propensity": 0.5, "event_id": "l"}
    for _ in range(2):
        with opened(project) as decider:
            told = rank(decider.context, actions=[OFFER[0], dict(whole)], event_id="e")
            assert told == rank(decider.context, actions=OFFER, event_id="e")
            assert {one.id.__class__ for one in told.ranking} == {str, int}
            if not decider.status().learned:
                learn(decider.context, action=dict(whole), **event)
            for action in (dict(whole), OFFER[1]):
                with refuses("duplicate_reward"):
                    learn(decider.context, action=action, **event)
