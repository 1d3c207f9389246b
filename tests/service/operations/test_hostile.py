"""Values that nobody sends by mistake: they are refused or taken, and memory and journal stay the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from offered_projects import CONTEXT, OFFER, learn, make_offered_project, rank
from projects import Rewarded, context, make_project, opened

from bandit_forest.service.config.tables import Actions
from bandit_forest.service.errors import InvalidRequestError
from bandit_forest.service.recovery.verify import verify


def nested(depth: int = 1000) -> Any:
    """Return a value that JSON can hold but `repr` cannot show."""
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("place", ["context", "event_id", "available_actions"])
def test_a_deeply_nested_value_is_refused_like_any_other(tmp_path: Path, place: str) -> None:
    with opened(make_project(tmp_path)) as decider, pytest.raises(InvalidRequestError, match="expected"):
        decider.decide(**({"context": context()} | {place: nested()}))


def test_a_deeply_nested_event_from_elsewhere_is_refused(tmp_path: Path) -> None:
    with opened(make_project(tmp_path)) as decider, pytest.raises(InvalidRequestError):
        decider.learn(context() | {"age": nested()}, action="a", reward=1.0, propensity=0.5)


@pytest.mark.parametrize("change", [{"price": nested()}, {"id": nested()}, {"other": nested()}])
def test_a_deeply_nested_value_of_an_offered_action_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    with opened(make_offered_project(tmp_path)) as decider:
        for actions in ([OFFER[0], OFFER[1] | change], nested(), [nested()]):
            with pytest.raises(InvalidRequestError):
                rank(decider.context, actions=actions)
        with pytest.raises(InvalidRequestError):
            learn(decider.context, context=CONTEXT, action=OFFER[0] | change, reward=1.0, propensity=0.5)
        assert decider.state.seq == 0


def test_numbers_at_the_limits_of_an_offer_are_kept_and_replayed(tmp_path: Path) -> None:
    project = make_offered_project(tmp_path)
    ids = (-(2**63), 2**63 - 1, "\u00e9\U0001f600", "x" * 200)
    offered = [
        {"id": one, "price": price, "kind": "a"} for one, price in zip(ids, (1e300, -1e300, 5e-324, 0), strict=True)
    ]
    with opened(project) as decider:
        told = rank(decider.context, actions=offered, event_id="e")
        decider.reward("e", 1.0)
        learn(decider.context, context=CONTEXT, action=offered[2], reward=1.0, propensity=5e-324)
    for file in project.storage.folder.glob("snapshot-*"):
        file.unlink()
    with opened(project) as decider:
        assert rank(decider.context, actions=offered, event_id="e") == told
    assert verify(project).n_events == 2


def test_a_deeply_nested_item_does_not_part_memory_from_the_journal(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    with opened(project) as decider:
        decider.decide(context(), event_id="good")
        good, bad = decider.reward_many([{"event_id": "good", "reward": 1}, {"event_id": nested(), "reward": 1}])
        assert isinstance(good, Rewarded)
        assert isinstance(bad, InvalidRequestError)
    assert verify(project).n_events == 1


def test_an_action_may_be_named_like_a_free_place(tmp_path: Path) -> None:
    project = make_project(tmp_path, actions=Actions(names=("(free place 2)", "a"), capacity=5))
    with opened(project) as decider:
        for name in ("(free place 4)", "b", "c"):
            assert decider.add_action(name).commit.result()
    verify(project)


def test_the_smallest_propensity_leaves_finite_counts(tmp_path: Path) -> None:
    project = make_project(tmp_path, mode="shadow")
    for event_id in ("first", "after a restart"):
        with opened(project) as decider:
            decider.decide(context(), event_id=event_id, action="a", propensity=5e-324)
            assert decider.reward(event_id, 0.5).commit.result()
            assert decider.status().uniform_value == 0.5
    verify(project)
