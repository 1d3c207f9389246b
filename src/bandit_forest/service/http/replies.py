"""What is answered, and when: as soon as all that the answer tells of is durable, in one shape for every refusal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from bandit_forest.service.errors import ServiceError, StorageError
from bandit_forest.service.http.messages import Response
from bandit_forest.service.journal.commits import Commit
from bandit_forest.service.operations.results import refusal

__all__ = ["LaterReply", "Reply", "refuse"]

_JSON = b"content-type: application/json\r\n"
_RETRY = _JSON + b"retry-after: 1\r\n"
_HEADERS = {
    "unauthorized": _JSON + b"www-authenticate: Bearer\r\n",
    "rate_limited": _RETRY,
    "storage_unavailable": _RETRY,
    "too_many_connections": _RETRY,
}

_encode = msgspec.json.Encoder().encode


class Reply:
    """An answer, and the commit that it waits for.

    Parameters
    ----------
    answer
        A typed answer, a document, or a response as it is.
    commit
        To be waited for; None: nothing.
    error
        The refusal that it tells of.
    headers
        Other headers of a refusal, such as the methods that are allowed.
    """

    __slots__ = ("_answer", "_commit", "_error", "_headers")

    def __init__(
        self, answer: Any, commit: Commit | None = None, error: ServiceError | None = None, headers: bytes = b""
    ) -> None:
        self._answer = answer
        self._commit = commit
        self._error = error
        self._headers = headers

    def when_ready(self, call: Callable[[], None]) -> None:
        """Call as soon as the response may be sent: at once, or from the event loop."""
        if self._commit is None or not self._commit.then(call):
            call()

    def response(self) -> Response:
        """Return the response, once it may be sent; when its commit was refused, that is the answer."""
        error = self._error
        if self._commit is not None:
            try:
                if not self._commit.outcome() and error is None:
                    self._answer.durable = False
            except StorageError as refused:
                error, self._answer = refused, refusal(refused)
        if isinstance(self._answer, Response):
            return self._answer
        body = _encode(self._answer)
        if error is None:
            return Response(body)
        headers = _HEADERS.get(error.code, _JSON) + self._headers
        return Response(body, error.status, headers, error.code)


class LaterReply(Reply):
    """A response that a thread makes.

    Parameters
    ----------
    make
        Makes it; called in the thread.
    """

    __slots__ = ("_future",)

    def __init__(self, make: Callable[[], Response]) -> None:
        super().__init__(None)
        self._future = asyncio.get_running_loop().run_in_executor(None, make)

    def when_ready(self, call: Callable[[], None]) -> None:
        """Call when the thread is done."""
        self._future.add_done_callback(lambda _: call())

    def response(self) -> Response:
        """Return what the thread has made."""
        return self._future.result()


def refuse(error: Exception, headers: bytes = b"") -> Reply:
    """Return the reply of a refusal."""
    assert isinstance(error, ServiceError)
    return Reply(refusal(error), error.commit, error, headers)
