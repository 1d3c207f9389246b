"""What each JSON request means: a parsed body goes to the decider, its result becomes a document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from bandit_forest.service.decider import DECIDE_FIELDS, LEARN_FIELDS, REWARD_FIELDS, Decider
from bandit_forest.service.errors import InvalidRequestError, ServiceError
from bandit_forest.service.http.request_body import object_of
from bandit_forest.service.http.responses import Reply, refusal_document
from bandit_forest.service.operations.results import ActionChange, Decided, Learned, Rewarded

__all__ = ["Handler", "make_handlers"]

_DECIDE_FIELDS = DECIDE_FIELDS | {"mean_rewards"}
_NAME_FIELDS = frozenset({"name"})


Handler = Callable[[Any], Reply]
_Result = TypeVar("_Result", Decided, Rewarded, Learned)


def make_handlers(decider: Decider) -> dict[str, Handler]:
    """Give the handler of each path that takes JSON by POST."""
    return {
        "/v1/decide": lambda body: _decide(decider, body),
        "/v1/decide/batch": lambda body: _batch(body, "events", decider.decide_many, "decisions", _decision),
        "/v1/reward": lambda body: _reward(decider, body),
        "/v1/reward/batch": lambda body: _batch(body, "rewards", decider.reward_many, "rewards", _rewarded),
        "/v1/learn": lambda body: _learn(decider, body),
        "/v1/learn/batch": lambda body: _batch(body, "events", decider.learn_many, "events", _learned),
        "/v1/actions/add": lambda body: _change(decider.add_action, body),
        "/v1/actions/disable": lambda body: _change(decider.disable_action, body),
        "/v1/actions/enable": lambda body: _change(decider.enable_action, body),
        "/v1/actions/remove": lambda body: _change(decider.remove_action, body),
    }


def _decide(decider: Decider, body: Any) -> Reply:
    get = object_of(body, _DECIDE_FIELDS).get
    wants_means = get("mean_rewards", False)
    if not isinstance(wants_means, bool):
        raise InvalidRequestError("'$.mean_rewards' must be true or false.", path="$.mean_rewards")
    context = get("context")
    decided = decider.decide(
        context,
        available_actions=get("available_actions"),
        event_id=get("event_id"),
        action=get("action"),
        propensity=get("propensity"),
    )
    document = _decision(decided)
    if wants_means:
        document["mean_rewards"] = decider.mean_rewards(context)
    return Reply(document, (decided.commit,))


def _reward(decider: Decider, body: Any) -> Reply:
    get = object_of(body, REWARD_FIELDS).get
    rewarded = decider.reward(get("event_id"), get("reward"))
    return Reply(_rewarded(rewarded), (rewarded.commit,))


def _learn(decider: Decider, body: Any) -> Reply:
    get = object_of(body, LEARN_FIELDS).get
    learned = decider.learn(
        get("context"),
        action=get("action"),
        reward=get("reward"),
        propensity=get("propensity"),
        event_id=get("event_id"),
    )
    return Reply(_learned(learned), (learned.commit,))


def _change(change: Callable[[Any], ActionChange], body: Any) -> Reply:
    changed = change(object_of(body, _NAME_FIELDS).get("name"))
    return Reply({"name": changed.name, "state": changed.state}, (changed.commit,))


def _batch(
    body: Any,
    field: str,
    many: Callable[[Any], list[_Result | ServiceError]],
    answer_field: str,
    document: Callable[[_Result], dict[str, Any]],
) -> Reply:
    results = many(object_of(body, frozenset({field})).get(field))
    told = [refusal_document(item) if isinstance(item, ServiceError) else document(item) for item in results]
    commits = {item.commit for item in results if item.commit is not None}
    return Reply({answer_field: told}, commits)


def _decision(decided: Decided) -> dict[str, Any]:
    document: dict[str, Any] = {
        "event_id": decided.event_id,
        "action": decided.action,
        "propensity": decided.propensity,
        "model_version": decided.model_version,
    }
    if decided.forest_action is not None:
        document["forest_action"] = decided.forest_action
        document["forest_propensity"] = decided.forest_propensity
        document["forest_value"] = decided.forest_value
    return document


def _rewarded(rewarded: Rewarded) -> dict[str, Any]:
    return {"event_id": rewarded.event_id, "reward": rewarded.reward, "ignored": rewarded.ignored}


def _learned(learned: Learned) -> dict[str, Any]:
    return {"event_id": learned.event_id, "ignored": learned.ignored}
