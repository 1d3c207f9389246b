"""What is sent back: JSON, once all that it tells of is durable, and one shape for every refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import orjson
from starlette.types import Send

from bandit_forest.service.errors import ServiceError, StorageError
from bandit_forest.service.journal.commits import Commit

__all__ = [
    "STATUSES",
    "Answer",
    "Reply",
    "answer_of",
    "refusal",
    "refusal_document",
    "send_answer",
    "settled",
    "when_ended",
]

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
    "too_many_connections": 503,
}
"""The HTTP status of each code of a refusal."""

_HEADERS: Mapping[str, list[tuple[bytes, bytes]]] = {
    "unauthorized": [(b"www-authenticate", b"Bearer")],
    "rate_limited": [(b"retry-after", b"1")],
    "too_large": [(b"connection", b"close")],  # what is left of the body is not waited for
    "storage_unavailable": [(b"retry-after", b"1")],
    "too_many_connections": [(b"retry-after", b"1")],
}


class Answer(NamedTuple):
    """A response whose body is JSON."""

    body: bytes
    code: str | None = None
    """Of a refusal; None when what was asked for is done."""

    @property
    def status(self) -> int:
        """Of HTTP."""
        return 200 if self.code is None else STATUSES[self.code]

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """All headers that describe it."""
        described = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(self.body))]
        return described if self.code is None else described + _HEADERS.get(self.code, [])


class Reply(NamedTuple):
    """A document, and what must be durable before it is sent."""

    document: dict[str, Any]
    commits: Iterable[Commit]
    code: str | None = None
    """Of a refusal."""


def refusal_document(error: ServiceError) -> dict[str, Any]:
    """Tell a refusal as JSON.

    Examples
    --------
    >>> refusal_document(ServiceError("There is no such field.", path="$.context.colour"))
    {'error': {'code': 'refused', 'message': 'There is no such field.', 'path': '$.context.colour'}}
    """
    told = {"code": error.code, "message": error.message}
    return {"error": told if error.path is None else told | {"path": error.path}}


def refusal(error: ServiceError) -> Reply:
    """Make the reply of a refusal."""
    return Reply(refusal_document(error), () if error.commit is None else (error.commit,), error.code)


def answer_of(reply: Reply) -> Answer:
    """Make the answer of a reply whose commits have ended; when one was refused, that is the answer."""
    document, commits, code = reply
    for commit in commits:
        try:
            if not commit.outcome() and code is None:
                document["durable"] = False
        except StorageError as error:
            return answer_of(refusal(error))
    return Answer(orjson.dumps(document), code)


async def settled(reply: Reply) -> Answer:
    """Wait until all that a reply tells of is durable, or cannot be made so."""
    for commit in reply.commits:
        with suppress(StorageError):
            await commit
    return answer_of(reply)


def when_ended(commits: Iterator[Commit], call: Callable[[], None]) -> None:
    """Call as soon as all commits have ended: at once if they have, else from the event loop."""
    for commit in commits:
        if commit.then(partial(when_ended, commits, call)):
            return
    call()


async def send_answer(send: Send, answer: Answer) -> None:
    """Send a response, without the framework's objects."""
    await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
    await send({"type": "http.response.body", "body": answer.body})
