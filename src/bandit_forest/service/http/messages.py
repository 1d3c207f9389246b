"""A request and a response of HTTP, as the application sees them."""

from __future__ import annotations

from http import HTTPStatus
from time import monotonic, time
from urllib.parse import unquote_to_bytes
from wsgiref.handlers import format_date_time

__all__ = ["Request", "Response", "response_head"]

_STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}
_date = (0.0, b"")


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
        self.refusal: Exception | None = None
        """Why it is refused before its body is looked at."""


class Response:
    """What is sent back.

    Parameters
    ----------
    body
        Its content.
    status
        Status of HTTP.
    headers
        All headers but content-length and date, ready to be sent.
    code
        Code of a refusal.
    """

    __slots__ = ("body", "code", "headers", "status")

    def __init__(
        self,
        body: bytes,
        status: int = 200,
        headers: bytes = b"content-type: application/json\r\n",
        code: str | None = None,
    ) -> None:
        self.body = body
        self.status = status
        self.headers = headers
        self.code = code


def response_head(response: Response, *, keep_alive: bool) -> bytes:
    r"""Return the head of a response as it goes over the connection.

    Examples
    --------
    >>> response_head(Response(b"{}"), keep_alive=False).split(b"\r\n")[2:5]
    [b'content-type: application/json', b'content-length: 2', b'connection: close']
    """
    end = b"\r\n" if keep_alive else b"connection: close\r\n\r\n"
    line, length = _STATUS_LINES[response.status], len(response.body)
    return b"%b%b%bcontent-length: %d\r\n%b" % (line, _date_header(), response.headers, length, end)


def _date_header() -> bytes:
    global _date
    now = monotonic()
    if now - _date[0] >= 1.0 or not _date[1]:
        _date = now, f"date: {format_date_time(time())}\r\n".encode()
    return _date[1]


def _path(target: bytes) -> str:
    """Return the path of a target without its query, decoded."""
    path = target.partition(b"?")[0]
    return (unquote_to_bytes(path) if b"%" in path else path).decode("utf-8", "replace")
