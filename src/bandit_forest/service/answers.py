"""What is sent back: JSON, and one shape for every refusal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson
from starlette.types import Send

from bandit_forest.service.refusals import ServiceError

__all__ = ["STATUSES", "Answer", "refusal", "refusal_document", "send_answer", "settled"]

STATUSES: Mapping[str, int] = {
    "invalid_json": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "unknown_action": 404,
    "unknown_event": 404,
    "warming_up": 404,
    "method_not_allowed": 405,
    "action_conflict": 409,
    "duplicate_reward": 409,
    "event_conflict": 409,
    "no_capacity": 409,
    "late_reward": 410,
    "too_large": 413,
    "unsupported_media_type": 415,
    "invalid_request": 422,
    "rate_limited": 429,
    "too_many_waiting": 429,
    "storage_unavailable": 503,
}
"""The HTTP status of each code of a refusal."""

_HEADERS: Mapping[str, list[tuple[bytes, bytes]]] = {
    "unauthorized": [(b"www-authenticate", b"Bearer")],
    "rate_limited": [(b"retry-after", b"1")],
    "too_large": [(b"connection", b"close")],  # what is left of the body is not waited for
    "storage_unavailable": [(b"retry-after", b"1")],
}


class Answer(NamedTuple):
    """A response whose body is JSON."""

    status: int
    body: bytes
    headers: list[tuple[bytes, bytes]] = []  # noqa: RUF012, never changed


def refusal_document(error: ServiceError) -> dict[str, Any]:
    """Tell a refusal as JSON.

    Examples
    --------
    >>> refusal_document(ServiceError("There is no such field.", path="$.context.colour"))
    {'error': {'code': 'refused', 'message': 'There is no such field.', 'path': '$.context.colour'}}
    """
    told = {"code": error.code, "message": error.message}
    return {"error": told if error.path is None else told | {"path": error.path}}


def refusal(error: ServiceError) -> Answer:
    """Make the response of a refusal."""
    return Answer(STATUSES[error.code], orjson.dumps(refusal_document(error)), _HEADERS.get(error.code, []))


async def settled(error: ServiceError) -> ServiceError:
    """Wait until what a refusal tells of is durable; when it cannot be made durable, that is the refusal."""
    try:
        if error.commit is not None:
            await error.commit
    except ServiceError as failure:
        return failure
    return error


async def send_answer(send: Send, answer: Answer) -> None:
    """Send a response, without the framework's objects."""
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(answer.body)),
        *answer.headers,
    ]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
