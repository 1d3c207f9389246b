"""Small projects to try the service with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
import pytest

from bandit_forest.bandit import BooleanFeature, CategoricalFeature, Feature, NumericFeature
from bandit_forest.forest import BanditForest
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.tables import Actions, Storage
from bandit_forest.service.errors import InvalidRequestError, ServiceError, invalid_type
from bandit_forest.service.journal.commits import Commit
from bandit_forest.service.operations import actions, evaluation, expiry, explain, reward, status
from bandit_forest.service.operations.checks import check_context
from bandit_forest.service.operations.decide import decide, decide_many
from bandit_forest.service.operations.requests import (
    ActionRequest,
    DecideRequest,
    LearnRequest,
    RewardRequest,
)
from bandit_forest.service.operations.results import Evaluation, Refusal, Result
from bandit_forest.service.operations.status import Status
from bandit_forest.service.recovery.backup import back_up
from bandit_forest.service.recovery.start import Service

GIVEN: dict[str, Feature] = {
    "age": NumericFeature(edges=(30, 50), missing=True),
    "city": CategoricalFeature(values=("Lannion", "Paris"), open=True),
    "member": BooleanFeature(),
}
LEARNED: dict[str, Feature] = {
    "age": NumericFeature(n_bins=3, missing=True),
    "city": CategoricalFeature(max_values=3),
    "member": BooleanFeature(),
}
FOREST = {"n_trees": 5, "seed": 7, "growth": {"min_events": 4, "log_capacity": 1024}}


class Clock:
    """Seconds that pass when told."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Decided(NamedTuple):
    """An answer to `decide`, and its commit."""

    event_id: str
    action: str
    propensity: float
    model_version: int
    forest_action: str | None
    forest_propensity: float | None
    forest_value: float | None
    commit: Commit


class Rewarded(NamedTuple):
    """An answer to `reward`, and its commit."""

    event_id: str
    reward: float
    ignored: bool
    commit: Commit


class Learned(NamedTuple):
    """An answer to `learn`, and its commit."""

    event_id: str
    ignored: bool
    commit: Commit


class Changed(NamedTuple):
    """An answer to a change of actions, and its commit."""

    name: str
    state: str
    commit: Commit


class Decider:
    """The operations of a service, given plain values that are read as the JSON of a request would be."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.context = service.context

    @classmethod
    def open(cls, project: Project, **clock: Any) -> Self:
        return cls(Service.start(project, **clock))

    def close(self) -> None:
        self.service.stop()

    @property
    def state(self) -> Any:
        return self.context.state

    @property
    def forest(self) -> BanditForest | None:
        policy = self.context.bandit.policy
        assert policy is None or isinstance(policy, BanditForest)
        return policy

    def decide(self, context: Any, **more: Any) -> Decided:
        return _told(Decided, decide(self.context, _read(DecideRequest, {"context": context, **more})))

    def decide_many(self, items: Any) -> list[Any]:
        return self._many(decide_many, DecideRequest, Decided, items, "events")

    def reward(self, event_id: Any, reward_: Any = None, **more: Any) -> Rewarded:
        given = {"event_id": event_id, "reward": more.get("reward", reward_)}
        return _told(Rewarded, reward.reward(self.context, _read(RewardRequest, given)))

    def reward_many(self, items: Any) -> list[Any]:
        return self._many(reward.reward_many, RewardRequest, Rewarded, items, "rewards")

    def learn(self, context: Any, **more: Any) -> Learned:
        return _told(Learned, reward.learn(self.context, _read(LearnRequest, {"context": context, **more})))

    def learn_many(self, items: Any) -> list[Any]:
        return self._many(reward.learn_many, LearnRequest, Learned, items, "events")

    def add_action(self, name: Any) -> Changed:
        return _told(Changed, actions.add_action(self.context, _read(ActionRequest, {"name": name})))

    def disable_action(self, name: Any) -> Changed:
        return _told(Changed, actions.disable_action(self.context, _read(ActionRequest, {"name": name})))

    def enable_action(self, name: Any) -> Changed:
        return _told(Changed, actions.enable_action(self.context, _read(ActionRequest, {"name": name})))

    def remove_action(self, name: Any) -> Changed:
        return _told(Changed, actions.remove_action(self.context, _read(ActionRequest, {"name": name})))

    def expire(self, **limit: int) -> int:
        return expiry.expire(self.context, **limit)

    def mean_rewards(self, context: dict[str, Any]) -> dict[str, float | None] | None:
        bandit, encoded = self.context.bandit, check_context(self.state, context)[0]
        return None if bandit.policy is None else bandit.mean_rewards_encoded(encoded)

    def explain(self, event_id: str) -> dict[str, Any]:
        return explain.explain(self.context, event_id)

    def evaluation(self) -> Evaluation:
        return evaluation.evaluation(self.service.context)()

    def status(self) -> Status:
        return status.status(self.context)

    def recent(self) -> list[dict[str, Any]]:
        return explain.recent_events(self.context)

    @property
    def failing(self) -> bool:
        return self.context.failing

    @property
    def snapshot_due(self) -> bool:
        return self.service.snapshot_due

    def snapshot(self) -> Callable[[], None]:
        return self.service.snapshot()

    def backup(self, folder: Path) -> None:
        back_up(self.context.project, folder)

    def _many(self, operation: Any, item: Any, told: Any, items: Any, field: str) -> list[Any]:
        if not isinstance(items, list):
            raise InvalidRequestError("not a list", path=f"$.{field}")
        if len(items) > self.context.project.limits.batch_events:
            raise InvalidRequestError("too many", path=f"$.{field}")
        read = (_read_or_refuse(item, one, f"$.{field}[{number}]") for number, one in enumerate(items))
        answer, commit = operation(self.context, read)
        (answers,) = (getattr(answer, name) for name in answer.__struct_fields__ if name != "durable")
        return [
            _refused(one, commit) if isinstance(one, Refusal) else _told(told, Result(one, commit)) for one in answers
        ]


async def wait_for(commit: Commit) -> bool:
    """Wait in an event loop, as a reply does; return whether the group is durable."""
    ended = asyncio.Event()
    if commit.then(ended.set):
        await ended.wait()
    return commit.outcome()


def _read(kind: Any, value: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise invalid_type(error) from None


def _read_or_refuse(kind: Any, value: Any, place: str) -> Any:
    try:
        return _read(kind, value)
    except InvalidRequestError as error:
        return error.within(place)


def _told(kind: Any, result: Result[Any]) -> Any:
    values = {name: getattr(result.answer, name) for name in kind._fields if name != "commit"}
    plain = {name: None if value is msgspec.UNSET else value for name, value in values.items()}
    return kind(**plain, commit=result.commit)


def _refused(refusal: Refusal, commit: Commit) -> ServiceError:
    """Return the refusal of an item as the exception that it would be alone."""
    told = refusal.error
    if told.code == "invalid_request":
        return InvalidRequestError(told.message, path=str(told.path))
    return ServiceError(told.code, told.message, path=told.path, commit=commit)


def refuses(code: str, *, match: str | None = None) -> AbstractContextManager[pytest.ExceptionInfo[ServiceError]]:
    """Expect a refusal with a code."""
    return pytest.raises(ServiceError, match=match, check=lambda error: error.code == code)


def make_project(folder: Path, **parts: Any) -> Project:
    """Make a project with three actions and room for five."""
    storage = parts.pop("storage", {})
    given = {"actions": Actions(names=("a", "b", "c"), capacity=5), "context": GIVEN, "forest": FOREST} | parts
    return Project(**given, storage=Storage(folder=folder, **storage))


@contextmanager
def opened(project: Project, clock: Clock | None = None) -> Iterator[Decider]:
    """Open a decider, and close it in the end."""
    decider = Decider.open(project, clock=clock or Clock())
    try:
        yield decider
    finally:
        decider.close()


def context(number: int = 0) -> dict[str, Any]:
    """Return one of many contexts."""
    cities = ("Lannion", "Paris", "Nice", "Brest")
    return {"age": 20 + 7 * number % 50, "city": cities[number % 4], "member": number % 3 == 0}


def play(decider: Decider, n_events: int, start: int = 0) -> None:
    """Decide and reward events; every fifth waits for ever."""
    for number in range(start, start + n_events):
        decided = decider.decide(context(number), event_id=f"e{number}")
        if number % 5:
            decider.reward(decided.event_id, float(decided.action == "abc"[number % 3]))
