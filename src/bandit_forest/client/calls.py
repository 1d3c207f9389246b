"""The requests of a client, and the readers of their answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import httpx

from bandit_forest import archive
from bandit_forest.bandit.features.values import plain
from bandit_forest.client.answers import (
    ActionChange,
    BatchRefusedError,
    DecidedEvent,
    Json,
    LearnedEvent,
    RankedEvent,
    RefusedError,
    RewardedEvent,
    changed,
    decided,
    learned,
    ranked,
    rewarded,
)
from bandit_forest.client.rows import column, is_frame, mapping, rows
from bandit_forest.client.sending import request_json
from bandit_forest.errors import refuse

__all__ = [
    "Call",
    "actions",
    "add_action",
    "decide",
    "decide_many",
    "disable_action",
    "enable_action",
    "evaluation",
    "explain",
    "importance",
    "learn",
    "learn_many",
    "model",
    "rank",
    "rank_many",
    "remove_action",
    "reward",
    "reward_many",
    "status",
]

Context = Any
"""A mapping from names of features to values, or a row of a frame."""
Contexts = Any
"""Several of them, a frame, or a mapping of columns."""
Action = str | Mapping[str, Any]
"""The name of a fixed action, or the id and the features of an offered one."""
Result = TypeVar("Result")


@dataclass(frozen=True)
class Call(Generic[Result]):
    """A request, and how its answer is read: all that the two clients share."""

    path: str
    body: Json | None
    """JSON body of a POST; None: a GET."""
    read: Callable[[Any], Result]
    """Reader of the answer: of JSON as Python has it, or of bytes."""
    is_json: bool = True

    @property
    def request(self) -> dict[str, Any]:
        """Arguments of a request, as httpx takes them."""
        if self.body is None:
            return {"method": "GET", "url": self.path}
        headers = {"content-type": "application/json"}
        return {"method": "POST", "url": self.path, "content": request_json(self.body), "headers": headers}

    def result(self, response: httpx.Response) -> Result:
        """Read the answer, or raise the refusal."""
        try:
            if not response.is_error:
                return self.read(response.json() if self.is_json else _bytes(response))
            refusal = RefusedError(response.status_code, **response.json()["error"])
        except (ValueError, KeyError, TypeError):  # of a proxy, say
            told = f"The answer is not the service's: {response.text[:80]!r}."
            raise RefusedError(response.status_code, "foreign_answer", told) from None
        raise refusal


def decide(
    context: Context,
    *,
    available_actions: Iterable[str] | None = None,
    event_id: str | None = None,
    action: str | None = None,
    propensity: float | None = None,
    mean_rewards: bool = False,
) -> Call[DecidedEvent]:
    """Choose an action for one event; with an event_id of your own, the request can be sent again safely.

    In shadow mode, `action` and `propensity` are the choice of the application. With `mean_rewards`, the answer has the
    estimates.
    """
    event = _event(mapping(context, "$.context"), available_actions, event_id, action, propensity)
    return Call("/v1/decide", event | ({"mean_rewards": True} if mean_rewards else {}), decided)


def decide_many(
    contexts: Contexts,
    *,
    available_actions: Sequence[Iterable[str] | None] | None = None,
    event_ids: Sequence[str | None] | None = None,
    actions: Sequence[str] | None = None,
    propensities: Sequence[float] | None = None,
) -> Call[list[DecidedEvent]]:
    """Choose an action for each event, with one request; all other arguments have one item per event, too.

    As in all batches, the contexts are mappings, a frame of pandas, Polars or PyArrow, or a mapping of columns.
    When some events are refused, `BatchRefusedError` holds the decisions of the others.
    """
    given = _contexts(contexts)
    columns = [
        column(values, name, len(given))
        for name, values in (
            ("available_actions", available_actions),
            ("event_ids", event_ids),
            ("actions", actions),
            ("propensities", propensities),
        )
    ]
    body = {"events": [_event(context, *row) for context, *row in zip(given, *columns, strict=True)]}
    return Call("/v1/decide/batch", body, lambda answer: _batch(answer, "decisions", decided))


def rank(
    context: Context,
    *,
    actions: Iterable[Mapping[str, Any]],
    event_id: str | None = None,
    n_ranked: int | None = None,
    mean_rewards: bool = False,
) -> Call[RankedEvent]:
    """Rank the actions that an event offers, each with its `id` and its features; the first rank is the decision.

    With an event_id of your own, the request can be sent again safely. The answer has at most `n_ranked` ranks. With
    `mean_rewards`, it has the estimates.
    """
    event = _offer(mapping(context, "$.context"), actions, event_id, n_ranked)
    ids = [plain(action.get("id")) for action in event["actions"]]
    return Call(
        "/v1/rank", event | ({"mean_rewards": True} if mean_rewards else {}), lambda answer: ranked(answer, ids)
    )


def rank_many(
    contexts: Contexts,
    *,
    actions: Sequence[Iterable[Mapping[str, Any]]],
    event_ids: Sequence[str | None] | None = None,
    n_ranked: int | None = None,
) -> Call[list[RankedEvent]]:
    """Rank the offered actions of each event, with one request; `actions` and `event_ids` have one item per event.

    When some events are refused, `BatchRefusedError` holds the rankings of the others.
    """
    given = _contexts(contexts)
    offers, names = column(actions, "actions", len(given)), column(event_ids, "event_ids", len(given))
    events = [_offer(*row, n_ranked) for row in zip(given, offers, names, strict=True)]
    return Call("/v1/rank/batch", {"events": events}, lambda answer: _batch(answer, "rankings", ranked))


def reward(event_id: str, reward: float) -> Call[RewardedEvent]:
    """Send the reward of an event."""
    return Call("/v1/reward", {"event_id": event_id, "reward": reward}, rewarded)


def reward_many(rewards: Mapping[str, float]) -> Call[list[RewardedEvent]]:
    """Send the rewards of events by event_id, with one request; those that are not refused count.

    When some are refused, `BatchRefusedError` holds the answers to the others.
    """
    if not hasattr(rewards, "items"):  # a series of pandas has them, too
        refuse("rewards", "the client", "a mapping from event_ids to rewards", rewards)
    body = {"rewards": [{"event_id": event_id, "reward": value} for event_id, value in rewards.items()]}
    return Call("/v1/reward/batch", body, lambda answer: _batch(answer, "rewards", rewarded))


def learn(
    context: Context, action: Action, reward: float, *, propensity: float, event_id: str | None = None
) -> Call[LearnedEvent]:
    """Learn an event that was decided elsewhere; an offered action is a mapping with its `id` and its features."""
    event = {
        "context": mapping(context, "$.context"),
        "action": _plain(action),
        "reward": reward,
        "propensity": propensity,
    }
    return Call("/v1/learn", event | {"event_id": event_id}, learned)


def learn_many(
    contexts: Contexts,
    actions: Sequence[Action],
    rewards: Sequence[float],
    *,
    propensities: Sequence[float],
    event_ids: Sequence[str | None] | None = None,
) -> Call[list[LearnedEvent]]:
    """Learn events that were decided elsewhere, with one request; those that are not refused count.

    When some are refused, `BatchRefusedError` holds the answers to the others.
    """
    given = _contexts(contexts)
    lists = [
        column(values, name, len(given))
        for name, values in (
            ("actions", actions),
            ("rewards", rewards),
            ("propensities", propensities),
            ("event_ids", event_ids),
        )
    ]
    fields = ("context", "action", "reward", "propensity", "event_id")
    events = [
        dict(zip(fields, (context, _plain(action), *rest), strict=True))
        for context, action, *rest in zip(given, *lists, strict=True)
    ]
    return Call("/v1/learn/batch", {"events": events}, lambda answer: _batch(answer, "events", learned))


def explain(event_id: str) -> Call[Json]:
    """Return the stored data and an explanation of an event."""
    return Call(f"/v1/explain/{quote(event_id, safe='')}", None, lambda answer: answer)


def importance() -> Call[Json]:
    """Return which features and variables matter, largest first. Needs a key for administration."""
    return Call("/v1/importance", None, lambda answer: answer)


def evaluation() -> Call[Json]:
    """Return what uniform play, and in shadow mode the forest, would have earned. Needs a key for administration."""
    return Call("/v1/evaluation", None, lambda answer: answer)


def status() -> Call[Json]:
    """Return how the service is doing. Needs a key for administration."""
    return Call("/v1/status", None, lambda answer: answer)


def model(path: str | os.PathLike[str] | None = None) -> Call[bytes]:
    """Return everything that was learned, and write it to a file if there is a `path`. Needs a key for administration.

    `Bandit.load` or `PairBandit.load` reads the file, `from_bytes` the bytes.
    """
    file = None if path is None else os.fspath(path)

    def read(data: bytes) -> bytes:
        if file is not None:
            archive.write(file, data)
        return data

    return Call("/v1/model", None, read, is_json=False)


def actions() -> Call[dict[str, str]]:
    """Return the state of each action: 'enabled', 'disabled' or 'removed'. Needs a key for administration."""
    return Call("/v1/status", None, lambda answer: {one["name"]: one["state"] for one in answer["actions"]})


def add_action(name: str) -> Call[ActionChange]:
    """Add an action. Needs a key for administration."""
    return Call("/v1/actions/add", {"name": name}, changed)


def disable_action(name: str) -> Call[ActionChange]:
    """Make an action unavailable until it is enabled again. Needs a key for administration."""
    return Call("/v1/actions/disable", {"name": name}, changed)


def enable_action(name: str) -> Call[ActionChange]:
    """Make a disabled action available again. Needs a key for administration."""
    return Call("/v1/actions/enable", {"name": name}, changed)


def remove_action(name: str) -> Call[ActionChange]:
    """Make an action unavailable for ever. Needs a key for administration."""
    return Call("/v1/actions/remove", {"name": name}, changed)


def _bytes(response: httpx.Response) -> bytes:
    """Return the bytes of an answer of the service, which calls them so."""
    if not response.headers.get("content-type", "").startswith("application/octet-stream"):
        raise ValueError  # the answer of something else
    return response.content


def _contexts(given: Contexts) -> list[Json]:
    return [mapping(context, f"$.events[{number}].context") for number, context in enumerate(rows(given, "contexts"))]


def _event(
    context: Json,
    available_actions: Iterable[str] | None,
    event_id: str | None,
    action: str | None,
    propensity: float | None,
) -> Json:
    available = None if available_actions is None else list(available_actions)
    event = {"available_actions": available, "event_id": event_id, "action": action, "propensity": propensity}
    return {"context": context} | {name: value for name, value in event.items() if value is not None}


def _offer(context: Json, actions: Iterable[Mapping[str, Any]], event_id: str | None, n_ranked: int | None) -> Json:
    if is_frame(actions):
        actions = rows(actions, "actions")
    offered = list(actions) if isinstance(actions, Iterable) else [actions]
    if not all(hasattr(action, "items") for action in offered):  # a row of pandas has them, too
        refuse("actions", "the client", "a list of mappings, each with its 'id'", actions)
    copies = [dict(action) for action in offered]
    return {"context": context, "actions": copies, "event_id": event_id, "n_ranked": n_ranked}


def _plain(action: Action) -> str | Json:
    """Return an action as JSON has it."""
    return dict(action.items()) if hasattr(action, "items") else action


def _batch(answer: Json, field: str, read: Callable[..., Any]) -> list[Any]:
    """Return the result of each item, if none was refused."""
    durable = answer.get("durable", True)
    results = [
        RefusedError(200, **item["error"]) if "error" in item else read(item, durable=durable) for item in answer[field]
    ]
    if any(isinstance(result, RefusedError) for result in results):
        raise BatchRefusedError(results)
    return results
