"""A request and its answer without a task: what applications send for every event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import perf_counter

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from bandit_forest.service.http.request_gate import Gate
from bandit_forest.service.http.responses import Answer, Reply, answer_of

__all__ = ["Exchange", "response"]

Header = tuple[bytes, bytes]
_CLOSE = (b"connection", b"close")


class Exchange:
    """Stands where uvicorn's protocol has its `RequestResponseCycle`, with the attributes that it looks at.

    Parameters
    ----------
    path
        Of one of the gate's shortcuts.
    headers
        Of the request.
    """

    __slots__ = ("_began", "_headers", "_path", "body", "keep_alive", "reply", "response_complete")

    reply: Reply

    def __init__(self, path: str, headers: Mapping[bytes, bytes]) -> None:
        self._began = perf_counter()
        self._headers = headers
        self._path = path
        self.body = b""
        self.keep_alive = True
        self.response_complete = False

    def run(self, gate: Gate) -> None:
        """Do what the request asks for: `reply` may be sent once its commits have ended."""
        self.reply = gate.reply(self._path, self._headers, self.body)

    def end(self, gate: Gate, headers: Iterable[Header]) -> bytes:
        """Give the response, headers that all responses have included."""
        answer = answer_of(self.reply)
        gate.measures.count(answer)
        gate.shortcuts[self._path].latency.observe(perf_counter() - self._began)
        self.response_complete = True
        return response(answer, headers, keep_alive=self.keep_alive)


def response(answer: Answer, headers: Iterable[Header], *, keep_alive: bool = True) -> bytes:
    r"""Write a response as it goes over the connection.

    Examples
    --------
    >>> response(Answer(b"{}"), [(b"server", b"forest")])
    b'HTTP/1.1 200 OK\r\nserver: forest\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}'
    """
    all_headers = [*headers, *answer.headers] if keep_alive else [*headers, *answer.headers, _CLOSE]
    lines = [b"%b: %b\r\n" % header for header in all_headers]
    return b"".join([STATUS_LINE[answer.status], *lines, b"\r\n", answer.body])
