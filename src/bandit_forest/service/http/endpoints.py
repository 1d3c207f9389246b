"""The endpoints that take JSON by POST, as OpenAPI describes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from bandit_forest.service.http.responses import STATUSES
from bandit_forest.service.http.schemas import ref

__all__ = ["OPERATIONS", "Operation", "described", "json_content", "refusals"]

_ALWAYS = ("unauthorized", "forbidden", "rate_limited", "too_many_connections")
_JSON = ("invalid_json", "too_large", "unsupported_media_type", "invalid_request", "storage_unavailable")


class Operation(NamedTuple):
    """An endpoint: its schemas by name, and the codes of its refusals beside those that all have."""

    path: str
    summary: str
    request: str
    response: str
    codes: tuple[str, ...] = ()


OPERATIONS = (
    Operation("/v1/decide", "Choose an action for one event", "DecideRequest", "Decision", ("too_many_waiting",)),
    Operation("/v1/decide/batch", "Choose an action for each event", "DecideBatchRequest", "DecisionBatch"),
    Operation(
        "/v1/reward",
        "Tell the reward of an event",
        "RewardRequest",
        "Reward",
        ("unknown_event", "late_reward", "duplicate_reward"),
    ),
    Operation("/v1/reward/batch", "Tell the rewards of events", "RewardBatchRequest", "RewardBatch"),
    Operation(
        "/v1/learn",
        "Learn an event that was decided elsewhere",
        "LearnRequest",
        "Learned",
        ("duplicate_reward", "event_conflict"),
    ),
    Operation("/v1/learn/batch", "Learn events that were decided elsewhere", "LearnBatchRequest", "LearnedBatch"),
    Operation("/v1/actions/add", "Add an action", "ActionRequest", "ActionChange", ("action_conflict", "no_capacity")),
    Operation(
        "/v1/actions/disable",
        "Take an action out of play for now",
        "ActionRequest",
        "ActionChange",
        ("unknown_action", "action_conflict"),
    ),
    Operation(
        "/v1/actions/enable",
        "Bring a disabled action back",
        "ActionRequest",
        "ActionChange",
        ("unknown_action", "action_conflict"),
    ),
    Operation(
        "/v1/actions/remove",
        "Take an action out of play for ever",
        "ActionRequest",
        "ActionChange",
        ("unknown_action", "action_conflict"),
    ),
)


def described(operation: Operation) -> dict[str, Any]:
    """Give the arguments with which FastAPI describes an operation."""
    return {
        "summary": operation.summary,
        "openapi_extra": {"requestBody": {"required": True, **json_content(operation.request)}},
        "responses": {
            200: {"description": "Done, and durable", **json_content(operation.response)},
            **refusals(*_JSON, *operation.codes),
        },
    }


def json_content(schema: str) -> dict[str, Any]:
    """Describe a body of JSON."""
    return {"content": {"application/json": {"schema": ref(schema)}}}


def refusals(*codes: str, always: Iterable[str] = _ALWAYS) -> dict[int | str, dict[str, Any]]:
    """Describe refusals, by status."""
    by_status: dict[int | str, list[str]] = {}
    for code in (*always, *codes):
        by_status.setdefault(STATUSES[code], []).append(code)
    return {
        status: {"description": ", ".join(names), **json_content("Refusal")}
        for status, names in sorted(by_status.items(), key=str)
    }
