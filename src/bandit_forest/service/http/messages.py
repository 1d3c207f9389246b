"""Requests, replies and responses of HTTP. A reply waits until all of its content is durable."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from time import monotonic, time
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes
from wsgiref.handlers import format_date_time

import msgspec

from bandit_forest.service.errors import ServiceError
from bandit_forest.service.journal.commits import Commit
from bandit_forest.service.operations.results import refusal

__all__ = ["LaterReply", "Reply", "Request", "Response", "head_without_upgrade", "refuse", "response_head"]

_JSON = b"content-type: application/json\r\n"
_RETRY = _JSON + b"retry-after: 1\r\n"
_HEADERS = {
    "unauthorized": _JSON + b"www-authenticate: Bearer\r\n",
    "rate_limited": _RETRY,
    "storage_unavailable": _RETRY,
    "too_many_connections": _RETRY,
}
_STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}
_encode = msgspec.json.Encoder().encode


class Request:
    """A request whose head has come; its body follows.

    Parameters
    ----------
    method
        Such as "POST".
    target
        Path and query, as they were sent.
    headers
        Values by name in lower case.
    keep_alive
        Whether the connection may go on after the answer.
    """

    __slots__ = ("began", "body", "headers", "keep_alive", "method", "path", "refusal")

    def __init__(self, method: str, target: bytes, headers: dict[bytes, bytes], *, keep_alive: bool) -> None:
        self.began = monotonic()
        self.method = method
        self.path = _path(target)
        self.headers = headers
        self.keep_alive = keep_alive
        self.body = b""
        self.refusal: ServiceError | None = None
        """Why it is refused before its body is looked at."""


class Response(NamedTuple):
    """The response to a request."""

    body: bytes
    status: int = 200
    headers: bytes = _JSON
    """All headers but content-length and date, ready to be sent."""
    code: str | None = None
    """Code of a refusal."""


class Reply:
    """An answer, and the commit that it waits for.

    Parameters
    ----------
    answer
        A typed answer, a document, a refusal, or a response as it is.
    commit
        Commit that the response waits for; None: nothing.
    headers
        Other headers of a refusal, such as the methods that are allowed.
    """

    __slots__ = ("_answer", "_commit", "_headers")

    def __init__(self, answer: Any, commit: Commit | None = None, headers: bytes = b"") -> None:
        self._answer = answer
        self._commit = commit
        self._headers = headers

    def when_ready(self, call: Callable[[], None]) -> None:
        """Call as soon as the response may be sent: at once, or from the event loop."""
        if self._commit is None or not self._commit.then(call):
            call()

    def response(self) -> Response:
        """Return the response, once it may be sent; if its commit was refused, return the refusal."""
        answer = self._answer
        if self._commit is not None:
            try:
                if not self._commit.outcome() and not isinstance(answer, ServiceError):
                    answer.durable = False
            except ServiceError as refused:
                answer = refused
        if isinstance(answer, Response):
            return answer
        if not isinstance(answer, ServiceError):
            return Response(_encode(answer))
        headers = _HEADERS.get(answer.code, _JSON) + self._headers
        return Response(_encode(refusal(answer)), answer.status, headers, answer.code)


class LaterReply(Reply):
    """An answer, or a response as it is, that a thread makes."""

    __slots__ = ("_future",)

    def __init__(self, make: Callable[[], object]) -> None:
        super().__init__(None)
        self._future = asyncio.get_running_loop().run_in_executor(None, lambda: Reply(make()).response())

    def when_ready(self, call: Callable[[], None]) -> None:
        """Call when the thread is done."""
        self._future.add_done_callback(lambda _: call())

    def response(self) -> Response:
        """Return the response that the thread has made."""
        return self._future.result()


def refuse(error: ServiceError, headers: bytes = b"") -> Reply:
    """Return the reply of a refusal."""
    return Reply(error, error.commit, headers)


def response_head(response: Response, *, keep_alive: bool) -> bytes:
    r"""Return the head of a response as it goes over the connection.

    Examples
    --------
    >>> response_head(Response(b"{}"), keep_alive=False).split(b"\r\n")[2:5]
    [b'content-type: application/json', b'content-length: 2', b'connection: close']
    """
    end = b"\r\n" if keep_alive else b"connection: close\r\n\r\n"
    line, length = _STATUS_LINES[response.status], len(response.body)
    return b"%b%b%bcontent-length: %d\r\n%b" % (line, _date_header(int(time())), response.headers, length, end)


def head_without_upgrade(method: bytes, target: bytes, version: str, headers: dict[bytes, bytes]) -> bytes:
    """Return the head of a request that offers another protocol, without its offer."""
    kept = [b"%b: %b" % header for header in headers.items() if header[0] not in (b"upgrade", b"connection")]
    if b"close" in headers[b"connection"].lower():
        kept.append(b"connection: close")
    line = b"%b %b HTTP/%b" % (method, target, version.encode())
    return b"\r\n".join([line, *kept, b"", b""])


@lru_cache(maxsize=1)
def _date_header(second: int) -> bytes:
    return f"date: {format_date_time(second)}\r\n".encode()


@lru_cache
def _path(target: bytes) -> str:
    """Return the path of a target without its query, decoded."""
    path = target.partition(b"?")[0]
    return (unquote_to_bytes(path) if b"%" in path else path).decode("utf-8", "replace")
