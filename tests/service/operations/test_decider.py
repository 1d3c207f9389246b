"""The decider: what it promises to those who decide and reward, and that a refusal changes nothing."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from disks import full_disk, wait_until
from projects import (
    GIVEN,
    LEARNED,
    Clock,
    Decided,
    Decider,
    Rewarded,
    context,
    make_project,
    opened,
    play,
    refuses,
    wait_for,
)

from bandit_forest.bandit import BooleanFeature, CategoricalFeature
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.tables import Actions, Limits, RewardRule
from bandit_forest.service.errors import (
    InvalidRequestError,
    ServiceError,
    StorageError,
)
from bandit_forest.service.journal.files import read_entries
from bandit_forest.service.operations.requests import RewardRequest
from bandit_forest.service.operations.reward import reward_many
from bandit_forest.service.recovery.snapshots import take_snapshot
from bandit_forest.service.recovery.verify import verify

HALF = RewardRule(window_seconds=100, default=0.5)


def image(decider: Decider) -> Any:
    return take_snapshot(decider.state)


def test_decide_then_reward(tmp_path: Path) -> None:
    with opened(make_project(tmp_path)) as decider:
        decided = decider.decide(context())
        assert decided.commit.result()
        assert decided.action in "abc"
        assert decided.propensity == pytest.approx(1 / 3)
        assert (decided.model_version, decided.forest_action) == (0, None)
        rewarded = decider.reward(decided.event_id, 1)
        assert rewarded.commit.result()
        assert (rewarded.reward, rewarded.ignored) == (1.0, False)
        assert decider.decide(context()).model_version == 1


def test_an_event_loop_can_wait_for_a_commit(tmp_path: Path) -> None:
    async def main(decider: Decider) -> bool:
        return await wait_for(decider.decide(context()).commit)

    with opened(make_project(tmp_path)) as decider:
        assert asyncio.run(main(decider))


def test_the_same_event_gets_the_same_decision_also_after_a_restart(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    with opened(project) as decider:
        first = decider.decide(context(), event_id="e")
        for number in range(20):
            decider.decide(context(number))
        again = decider.decide(context(), event_id="e")
        assert again[:-1] == first[:-1]
        assert again.commit.result()
    with opened(project) as decider:
        assert decider.decide(context(), event_id="e")[:-1] == first[:-1]
        decider.reward("e", 1)
        assert decider.decide(context(), event_id="e")[:-1] == first[:-1]  # when it is over, too
        assert decider.status().decisions == 21


@pytest.mark.parametrize("second", ["refuse", "ignore"])
def test_a_second_reward_is_never_learned(tmp_path: Path, second: Any) -> None:
    project = make_project(tmp_path, reward=RewardRule(on_duplicate=second))
    with opened(project) as decider:
        decider.decide(context(), event_id="e")
        decider.reward("e", 1)
    with opened(project) as decider:
        before = image(decider)
        if second == "ignore":
            repeated = decider.reward("e", 0)
            assert (repeated.reward, repeated.ignored, repeated.commit.result()) == (1.0, True, True)
        else:
            with refuses("duplicate_reward") as refusal:
                decider.reward("e", 0)
            assert refusal.value.path == "$.event_id"
            assert refusal.value.commit is not None  # the answer waits for what it tells of
        assert image(decider) == before
        assert decider.status().duplicates == 1


def test_a_late_reward_is_refused_before_and_after_the_event_has_expired(tmp_path: Path) -> None:
    clock = Clock()
    with opened(make_project(tmp_path, reward=HALF), clock) as decider:
        decider.decide(context(), event_id="e")
        clock.now += 100
        assert decider.expire() == 0
        clock.now += 1
        for n_expired in (1, 0):
            with refuses("late_reward"):
                decider.reward("e", 1)
            assert decider.expire() == n_expired
        status = decider.status()
        assert (status.late, status.expired, status.waiting, status.average_reward) == (2, 1, 0, 0.5)
        assert decider.explain("e")["state"] == "expired"


def test_without_default_reward_an_expired_event_is_not_learned(tmp_path: Path) -> None:
    clock = Clock()
    with opened(make_project(tmp_path, reward=RewardRule(window_seconds=1)), clock) as decider:
        for number in range(250):
            decider.decide(context(number))
        clock.now += 2
        assert [decider.expire(), decider.expire(limit=200)] == [100, 150]
        assert (decider.status().model_version, decider.status().rewards) == (0, 0)


def test_events_from_elsewhere_are_learned_once(tmp_path: Path) -> None:
    with opened(make_project(tmp_path)) as decider:
        event = {"action": "b", "reward": 1, "propensity": 0.5, "event_id": "there"}
        assert not decider.learn(context(), **event).ignored
        with refuses("duplicate_reward"):
            decider.learn(context(), **event)
        decider.decide(context(), event_id="here")
        with refuses("event_conflict", match="send its reward instead"):
            decider.learn(context(), **event | {"event_id": "here"})
        assert decider.learn(context(), action="b", reward=1, propensity=0.5).event_id
        status = decider.status()
        assert (status.learned, status.model_version, status.decisions) == (2, 2, 1)


def test_only_available_actions_are_taken(tmp_path: Path) -> None:
    with opened(make_project(tmp_path)) as decider:
        taken = Counter(decider.decide(context(n), available_actions=["c", "a"]).action for n in range(60))
        assert set(taken) == {"a", "c"}
        assert decider.decide(context(), available_actions=["b"])[1:3] == ("b", 1.0)


def test_actions_come_and_go(tmp_path: Path) -> None:
    with opened(make_project(tmp_path)) as decider:
        waiting = decider.decide(context(), available_actions=["a"], event_id="e")
        assert decider.disable_action("a").state == "disabled"
        assert {decider.decide(context(n)).action for n in range(40)} == {"b", "c"}
        with pytest.raises(InvalidRequestError, match="enabled actions"):
            decider.decide(context(), available_actions=["a"])
        assert decider.reward(waiting.event_id, 1).commit.result()
        assert decider.enable_action("a").state == decider.enable_action("a").state == "enabled"
        assert decider.add_action("d").state == "enabled"
        assert "d" in {decider.decide(context(n)).action for n in range(40)}
        assert decider.remove_action("b").commit.result()
        for wrong in (decider.enable_action, decider.disable_action, decider.add_action):
            with refuses("action_conflict"):
                wrong("b")
        with pytest.raises(InvalidRequestError):
            decider.learn(context(), action="b", reward=0, propensity=1)
        decider.add_action("e")
        with refuses("no_capacity", match="larger 'capacity'"):
            decider.add_action("f")
        with refuses("unknown_action"):
            decider.remove_action("f")
        for name in ("a", "c", "d"):
            decider.remove_action(name)
        with refuses("action_conflict", match="last enabled"):
            decider.disable_action("e")


def test_the_forest_learns(tmp_path: Path) -> None:
    with opened(make_project(tmp_path)) as decider:
        for number in range(600):
            decided = decider.decide(context(number))
            decider.reward(decided.event_id, float(decided.action == ("a" if number % 3 == 0 else "c")))
        means = decider.mean_rewards(context(3))
        assert means is not None
        assert max(means, key=lambda name: means[name] or 0.0) == "a"
        status = decider.status()
        assert status.average_reward is not None
        assert status.uniform_value is not None
        assert status.average_reward > status.uniform_value + 0.2


def test_warm_up_is_uniform_then_the_forest_is_made_and_has_learned(tmp_path: Path) -> None:
    with opened(make_project(tmp_path, context=LEARNED, warm_up_events=30)) as decider:
        for number in range(50):
            assert decider.status().warm_up_left == max(30 - number, 0)
            decided = decider.decide(context(number), event_id=f"e{number}")
            if number < 30:
                assert decided.propensity == 1 / 3
                assert decider.mean_rewards(context()) is None
                waiting = decider.decide(context(number), event_id=f"waits{number}")
                decider.reward(decided.event_id, 1)
        assert waiting.propensity == 1 / 3
        assert decider.forest is not None
        assert decider.forest.n_events == 30
        decider.reward("waits7", 1)  # decided before the forest was there
        assert decider.forest.n_events == 31
        assert decider.explain("waits8")["variables"]


def test_shadow_mode_takes_the_applications_choice_and_tells_its_own(tmp_path: Path) -> None:
    with opened(make_project(tmp_path, mode="shadow")) as decider:
        with pytest.raises(InvalidRequestError, match="application has chosen"):
            decider.decide(context())
        for number in range(200):
            decided = decider.decide(context(number), action="b", propensity=0.5)
            assert decided[1:3] == ("b", 0.5)
            assert decided.forest_action in "abc"
            assert 0 < (decided.forest_propensity or 0) <= 1
            decider.reward(decided.event_id, 1)
        assert decided.forest_value == pytest.approx(1.0, abs=0.05)
        assert decider.decide(context(), action="a").propensity == 1.0
    with opened(make_project(tmp_path)) as decider:  # and then it decides itself
        with pytest.raises(InvalidRequestError, match="told by 'learn'"):
            decider.decide(context(), action="b")
        assert decider.decide(context()).propensity > 0.4


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("decide", {"context": None}, "$.context"),
    ("decide", {"context": context() | {"age": "x"}}, "$.context.age"),
    ("decide", {"context": context() | {"city": "\ud800"}}, "$.context"),
    ("decide", {"context": context() | {"age": 10**400}}, "$.context.age"),
    ("decide", {"context": context() | {"city": "x" * 10_000}}, "$.context"),
    ("decide", {"context": context(), "event_id": ""}, "$.event_id"),
    ("decide", {"context": context(), "event_id": "x" * 201}, "$.event_id"),
    ("decide", {"context": context(), "event_id": "\ud800"}, "$.event_id"),
    ("decide", {"context": context(), "event_id": 7}, "$.event_id"),
    ("decide", {"context": context(), "available_actions": []}, "$.available_actions"),
    ("decide", {"context": context(), "available_actions": "abc"}, "$.available_actions"),
    ("decide", {"context": context(), "available_actions": ["a", "x"]}, "$.available_actions"),
    ("decide", {"context": context(), "available_actions": [["a"]]}, "$.available_actions[0]"),
    ("decide", {"context": context(), "propensity": 0.5}, "$.propensity"),
    ("reward", {"event_id": "nobody", "reward": 1}, "$.event_id"),
    ("reward", {"event_id": None, "reward": 1}, "$.event_id"),
    ("reward", {"event_id": "e0", "reward": 1.01}, "$.reward"),
    ("reward", {"event_id": "e0", "reward": True}, "$.reward"),
    ("reward", {"event_id": "e0", "reward": None}, "$.reward"),
    ("reward", {"event_id": "e0", "reward": float("nan")}, "$.reward"),
    ("reward", {"event_id": "e0", "reward": 10**400}, "$.reward"),
    ("learn", {"context": context(), "action": "x", "reward": 1, "propensity": 1}, "$.action"),
    ("learn", {"context": context(), "action": ["a"], "reward": 1, "propensity": 1}, "$.action"),
    ("learn", {"context": context(), "action": "a", "reward": 1, "propensity": 0}, "$.propensity"),
    ("learn", {"context": context(), "action": "a", "reward": 1, "propensity": "1"}, "$.propensity"),
    ("learn", {"context": {}, "action": "a", "reward": 1, "propensity": 1}, "$.context.city"),
]


@pytest.mark.parametrize(("method", "request_", "path"), WRONG)
def test_a_wrong_request_is_refused_with_its_place_and_changes_nothing(
    tmp_path: Path, method: str, request_: dict[str, Any], path: str
) -> None:
    project = make_project(tmp_path, limits=Limits(context_bytes=1000))
    with opened(project) as decider:
        play(decider, 8)
        before = image(decider)
        with pytest.raises(ServiceError) as refusal:
            getattr(decider, method)(**request_)
        assert refusal.value.path == path
        together = getattr(decider, f"{method}_many")([request_])
        assert isinstance(together[0], type(refusal.value))
        assert together[0].path == path.replace("$", "$.rewards[0]" if method == "reward" else "$.events[0]")
        assert image(decider) == before


def test_a_refused_action_is_told_with_those_that_there_are(tmp_path: Path) -> None:
    elsewhere = {"action": "x", "reward": 1, "propensity": 1}
    with opened(make_project(tmp_path / "few")) as decider:
        decider.disable_action("c")
        with refuses("invalid_request", match="must be names of enabled actions, which are a, b. Got 'x' instead"):
            decider.decide(context(), available_actions=["a", "x"])
        with refuses("invalid_request", match="must be the name of an action, of which a, b are enabled. Got 'x'"):
            decider.learn(context(), **elsewhere)
    chosen = refuses("invalid_request", match=r"has chosen \(shadow mode\), one of a, c. Got 'b' instead")
    with opened(make_project(tmp_path / "shadow", mode="shadow")) as decider, chosen:
        decider.decide(context(), action="b", available_actions=["a", "c"])
    many = Actions(names=tuple(f"a{number}" for number in range(21)))
    first = refuses("invalid_request", match=r"of which a0, .*, a19, \.\.\. are enabled")
    with opened(make_project(tmp_path / "many", actions=many)) as decider, first:
        decider.learn(context(), **elsewhere)


@pytest.mark.parametrize("batch", [None, {}, "abc", [[]], ["x"], [None], [{"contxt": {}}], [{}] * 1001])
def test_malformed_batches_are_refused(tmp_path: Path, batch: Any) -> None:
    with opened(make_project(tmp_path)) as decider:
        before = image(decider)
        for many in (decider.decide_many, decider.reward_many, decider.learn_many):
            try:
                assert all(isinstance(result, InvalidRequestError) for result in many(batch))
            except InvalidRequestError as error:
                assert error.path in ("$.events", "$.rewards")  # noqa: PT017, either way is right
        assert image(decider) == before


@pytest.mark.parametrize("fields", [GIVEN, LEARNED])
def test_a_batch_is_the_same_as_one_after_the_other(tmp_path: Path, fields: Any) -> None:
    projects = [make_project(tmp_path / name, context=fields, warm_up_events=30) for name in ("one", "many")]
    with opened(projects[0]) as one, opened(projects[1]) as many:
        for start in range(0, 120, 20):
            events = [_event(number) for number in range(start, start + 20)]
            singly = [_attempt(one.decide, event) for event in events]
            assert _told(many.decide_many(events)) == _told(singly)
            rewards = [{"event_id": f"e{n % 17}", "reward": n % 2 / (1 + n % 5)} for n in range(start, start + 20)]
            singly = [_attempt(one.reward, reward) for reward in rewards]
            assert _told(many.reward_many(rewards)) == _told(singly)
            lessons = [_lesson(number) for number in range(start, start + 5)]
            singly = [_attempt(one.learn, lesson) for lesson in lessons]
            assert _told(many.learn_many(lessons)) == _told(singly)
        assert image(one) == image(many)


def _event(number: int) -> dict[str, Any]:
    event: dict[str, Any] = {"context": context(number), "event_id": f"e{number % 17}"}
    if number % 7 == 0:
        event["available_actions"] = ["a", "b"]
    return event | ({"context": 3} if number % 11 == 0 else {})


def _lesson(number: int) -> dict[str, Any]:
    return {"context": context(number), "action": "c", "reward": 1, "propensity": 0.25, "event_id": f"l{number % 9}"}


def _attempt(method: Any, request: dict[str, Any]) -> Any:
    try:
        return method(**request)
    except ServiceError as error:
        return error


def _told(results: list[Any]) -> list[Any]:
    """Return the answers that a client gets, without places and commits."""
    return [type(result) if isinstance(result, ServiceError) else result[:-1] for result in results]


def test_the_results_of_a_batch_wait_for_the_whole_batch(tmp_path: Path) -> None:
    with opened(make_project(tmp_path)) as decider:
        decided = decider.decide_many([{"context": context(), "event_id": "e"}] * 2)
        assert isinstance(decided[0], Decided)
        assert decided[0] == decided[1]
        rewarded, refused = decider.reward_many([{"event_id": "e", "reward": 1}] * 2)
        assert isinstance(rewarded, Rewarded)
        assert isinstance(refused, ServiceError)
        assert refused.code == "duplicate_reward"
        assert refused.commit is rewarded.commit


def test_what_a_batch_has_done_is_recorded_even_when_the_rest_fails(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    with opened(project) as decider:
        for name in ("one", "two"):
            decider.decide(context(), event_id=name)
        with pytest.raises(AttributeError):
            reward_many(decider.context, [RewardRequest("one", 1.0), 3])
        assert decider.reward("two", 1.0).commit.result()
        rewards = [entry.event_id for entry in read_entries(project.storage.folder) if entry.kind == "reward"]
        assert rewards == ["one", "two"]


def test_waiting_and_remembered_events_are_bounded(tmp_path: Path) -> None:
    project = make_project(tmp_path, limits=Limits(waiting_events=10, remembered_events=5, waiting_full="refuse"))
    with opened(project) as decider:
        for number in range(10):
            decider.decide(context(), event_id=f"e{number}")
        with refuses("too_many_waiting"):
            decider.decide(context())
        assert decider.decide(context(), event_id="e3")  # known ones are still answered
        for number in range(8):
            decider.reward(f"e{number}", 1)
        results = decider.decide_many([{"context": context()}] * 10)
        assert [getattr(result, "code", None) == "too_many_waiting" for result in results] == [False] * 8 + [True] * 2
        assert decider.status().remembered == 5
        with refuses("unknown_event"):
            decider.reward("e0", 1)
        with refuses("duplicate_reward"):
            decider.reward("e7", 1)


def test_time_never_goes_back(tmp_path: Path) -> None:
    clock = Clock()
    with opened(make_project(tmp_path, reward=HALF), clock) as decider:
        decider.decide(context(), event_id="early")
        clock.now -= 1000
        decider.decide(context(), event_id="later")
        assert decider.explain("later")["time"] == decider.explain("early")["time"]


def test_the_window_is_kept_after_a_clock_jumped_ahead_and_back(tmp_path: Path) -> None:
    clock, project = Clock(), make_project(tmp_path, reward=HALF)
    with opened(project, clock) as decider:
        clock.now += 86_400
        decider.decide(context())
        clock.now -= 86_400
        decider.decide(context(), event_id="early")
        clock.now += 90
        decider.reward("early", 1.0)
        decider.decide(context(), event_id="late")
        clock.now += 120
        with refuses("late_reward"):
            decider.reward("late", 1.0)
        decider.decide(context(), event_id="over")
    with opened(project, clock) as decider:  # time is still ahead of the clock
        clock.now += 60
        decider.decide(context(), event_id="new")
        clock.now += 60
        assert decider.expire() == 3  # all but "new"
        decider.reward("new", 1.0)
        clock.now += 10 * 86_400  # which is enough for the clock to catch up
        decider.decide(context(), event_id="after")
        assert decider.explain("after")["time"] == clock.now


def test_a_learned_value_may_make_the_name_of_another_variable(tmp_path: Path) -> None:
    fields = {"a": CategoricalFeature(), "a = x": BooleanFeature(), "b": CategoricalFeature(values=("x", "y", "z"))}
    project = make_project(tmp_path, context=fields, warm_up_events=6)
    seen = [{"a": "xyz"[number % 3], "a = x": number % 2 == 0, "b": "x"} for number in range(12)]
    with opened(project) as decider:
        for number, given in enumerate(seen):
            decided = decider.decide(given, event_id=f"e{number}")
            decider.reward(decided.event_id, 1.0)
        assert decider.forest is not None
        own = ("a = x", "a = y", "a = z", "a is another value")
        assert decider.forest.variable_names == (*own, "a = x (2)", "b = x", "b = y", "b = z")
        assert decider.explain("e6")["variables"] == ["a = x", "a = x (2)", "b = x"]
        before = image(decider)
    with opened(project) as decider:
        assert image(decider) == before
    assert verify(project).n_events == 12


def test_an_event_is_explained(tmp_path: Path) -> None:
    with opened(make_project(tmp_path)) as decider:
        play(decider, 60)
        told = decider.explain("e3")
        assert (told["state"], told["reward"]) == ("rewarded", decider.state.remembered["e3"].reward)
        assert told["variables"] == ["age in [30, 50)", "city is another value", "member"]
        assert told["mean_rewards"].keys() == told["votes"].keys() == {"a", "b", "c"}
        assert sum(told["votes"].values()) == 5
        json.dumps(told, allow_nan=False)
        with refuses("unknown_event"):
            decider.explain("nobody")


def test_the_status_adds_up(tmp_path: Path) -> None:
    clock = Clock()
    with opened(make_project(tmp_path, reward=RewardRule(low=-1, high=1)), clock) as decider:
        for number in range(300):
            clock.now += 20
            decided = decider.decide(context(number))
            if number % 2:
                decider.reward(decided.event_id, -1.0 if number % 4 == 1 else 1.0)
        status = decider.status()
        assert (status.decisions, status.rewards, status.waiting) == (300, 150, 150)
        assert status.average_reward == 0.0
        assert sum(status.propensity_counts) == sum(action.decisions for action in status.actions) == 300
        assert len(status.history) <= 240
        assert sum(sum(moment.decisions.values()) for moment in status.history) == 300
        assert sum(moment.rewards for moment in status.history) == 150
        assert [moment.time for moment in status.history] == sorted(moment.time for moment in status.history)
        assert len(decider.recent()) == 20
        assert decider.recent()[0]["event_id"] == decided.event_id


def test_snapshots_are_due_by_count_and_by_time(tmp_path: Path) -> None:
    project = make_project(tmp_path, storage={"snapshot_events": 20, "snapshot_seconds": 1e9})
    with opened(project) as decider:
        decider.snapshot()()
        assert not decider.snapshot_due
        play(decider, 12)
        assert decider.snapshot_due
        decider.snapshot()()
        assert not decider.snapshot_due
        assert decider.status().snapshot_seq == decider.status().seq
        assert decider.status().snapshot_seconds is not None


def failing(project: Project) -> Decider:
    """Open a decider, let one event wait, and wait until the disk has refused."""
    decider = Decider.open(project, clock=Clock())
    decider.decide(context(), event_id="before").commit.result()
    return decider


def test_a_full_disk_refuses_new_work_and_loses_nothing(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    decider = failing(project)
    with full_disk(1):
        commit = decider.decide(context(), event_id="during").commit
        with pytest.raises(StorageError):
            commit.result(20)
        assert decider.failing
        assert decider.status().storage_failing
        before = image(decider)
        for refused in (
            lambda: decider.decide(context()),
            lambda: decider.decide(context(), event_id="during"),  # not durable: it must not be told
            lambda: decider.reward("before", 1),
            lambda: decider.decide_many([{"context": context()}]),
            lambda: decider.add_action("d"),
        ):
            with pytest.raises(StorageError):
                refused()
        assert decider.expire() == 0
        assert not decider.snapshot_due
        assert image(decider) == before
    wait_until(lambda: not decider.failing)
    assert decider.decide(context(), event_id="during").commit.result()
    assert decider.reward("before", 1).commit.result()
    decider.close()
    with opened(project) as again:
        assert again.status().decisions == 2


def test_a_full_disk_lets_decisions_go_on_where_the_project_says_so(tmp_path: Path) -> None:
    project = make_project(tmp_path, storage={"full_disk": "continue", "queued_operations": 10})
    decider = failing(project)
    with full_disk(1):
        for number in range(10):
            decided = decider.decide(context(number), event_id=f"e{number}")
            assert decided.commit.result(20) is False  # and the answer says so
        assert decider.failing
        with pytest.raises(StorageError, match="wait for the disk"):
            decider.decide(context())
        assert decider.status().queued == 10
    wait_until(lambda: not decider.failing and decider.status().queued == 0)
    assert decided.commit.durable
    after = image(decider)
    decider.close()
    with opened(project) as again:
        assert image(again) == after


def test_one_tiny_propensity_leaves_the_estimate_of_uniform_play_as_it_is(tmp_path: Path) -> None:
    with opened(make_project(tmp_path, mode="shadow")) as decider:
        for number in range(600):
            decider.decide(context(number), event_id=f"e{number}", action="abc"[number % 3], propensity=1 / 3)
            decider.reward(f"e{number}", float(number % 3 == 0))
        assert decider.status().uniform_value == pytest.approx(1 / 3)
        for number, propensity in enumerate((1e-12, 5e-324)):
            decider.decide(context(), event_id=f"t{number}", action="a", propensity=propensity)
            decider.reward(f"t{number}", 1.0)
        assert decider.status().uniform_value == pytest.approx(1 / 3, abs=0.15)


def test_a_service_starts_on_a_full_disk_where_the_project_says_so(tmp_path: Path) -> None:
    with opened(make_project(tmp_path, storage={"full_disk": "continue"})) as decider:
        decider.decide(context(), event_id="before")
    with full_disk(10):
        decider = Decider.open(make_project(tmp_path, storage={"full_disk": "continue"}))
        assert decider.status().waiting == 1
        assert decider.decide(context(), event_id="on a full disk").commit.result(20) is False
        assert decider.status().storage_failing
    wait_until(lambda: not decider.failing)
    decider.close()
    with opened(make_project(tmp_path)) as decider:
        assert list(decider.state.waiting) == ["before", "on a full disk"]
