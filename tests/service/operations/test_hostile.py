"""Values that nobody sends by mistake: they are refused or taken, and memory and journal stay the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
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
