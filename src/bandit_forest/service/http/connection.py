"""A connection of HTTP/1.1: requests are parsed by httptools, within limits, and answered in their order."""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque
from functools import partial
from typing import cast

import httptools

from bandit_forest.service.config.tables import Limits
from bandit_forest.service.errors import ServiceError
from bandit_forest.service.http.application import DecisionApplication
from bandit_forest.service.http.messages import Reply, Request, Response, head_without_upgrade, refuse, response_head

__all__ = ["Connection"]

_logger = logging.getLogger(__name__)

_MOST_HEAD_BYTES = 65_536
_SLICE_BYTES = 8192  # read at once, so that a head is seen to be too large before it has ended
_CHECKS = 4  # of a connection, within the time that it has for a request
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Connection(asyncio.Protocol):
    """One connection: endless headers, too large bodies and too slow clients are refused."""

    def __init__(self, application: DecisionApplication, limits: Limits, connections: set[Connection]) -> None:
        self._application = application
        self._limits = limits
        self._connections = connections
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport
        self._target = b""
        self._headers: dict[bytes, bytes] = {}
        self._coming: Request | None = None  # its head has come, its body has not
        self._parts: list[bytes] = []
        self._n_body_bytes = 0
        self._n_head_bytes = 0
        self._whole: deque[Request] = deque()  # requests that wait for their turn
        self._is_answering = False
        self._is_closing = False
        self._can_write = True
        self._deadline = math.inf
        self._unsent = 0  # bytes of answers, when it was last looked
        self._taken = 0.0  # when they were last seen to become fewer
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to serve a connection, unless there are too many."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is one in all but name
        most = self._limits.connections
        if len(self._connections) >= most:
            message = f"{most} connections are open, as many as [limits] connections allows."
            self._write(None, refuse(ServiceError("too_many_connections", message)).response(), keep_alive=False)
            return
        self._connections.add(self)
        self._expect()
        self._check_deadlines()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Forget a connection."""
        self._is_closing = True
        self._connections.discard(self)
        self._whole.clear()
        if self._timer is not None:
            self._timer.cancel()

    def close(self) -> None:
        """Close the connection as soon as no request is in progress."""
        self._is_closing = True
        if not self._is_answering:
            self._transport.close()

    def pause_writing(self) -> None:
        """Wait until the client reads the sent data."""
        self._can_write = False

    def resume_writing(self) -> None:
        """Go on to the next request."""
        self._can_write = True
        self._answer_next()

    def eof_received(self) -> bool:
        """Stay open while a request is answered: a client may end its side once it has sent the request."""
        self._is_closing = True
        return self._is_answering

    def data_received(self, data: bytes) -> None:
        """Parse received bytes, 8 KiB at a time."""
        for start in range(0, len(data), _SLICE_BYTES):
            self._read(data[start : start + _SLICE_BYTES])
        if self._whole and not self._is_closing:
            self._transport.pause_reading()

    def _read(self, data: bytes) -> None:
        self._n_head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._ignore_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            self._refuse("invalid_http", f"What came is not a request of HTTP/1.1: {error}.")
        if self._n_head_bytes >= _MOST_HEAD_BYTES:  # and goes on
            self._refuse("invalid_http", f"The head of a request must have at most {_MOST_HEAD_BYTES} bytes.")

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._expect()
        self._target, self._headers, self._parts, self._n_body_bytes = b"", {}, [], 0

    def on_url(self, url: bytes) -> None:
        """Take a part of the target."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        """Admit a request before its body is read, or refuse it and read nothing of its body into memory."""
        self._n_head_bytes = 0
        if self._parser.should_upgrade():
            return
        method, keep_alive = self._parser.get_method().decode("ascii"), self._parser.should_keep_alive()
        request = Request(method, self._target, self._headers, keep_alive=keep_alive)
        self._coming = request
        try:
            self._application.admit(request)
        except ServiceError as error:
            request.refusal = error
            return
        if int(self._headers.get(b"content-length", b"0")) > self._limits.body_bytes:
            self._refuse_body()  # at once: what is left of it is not waited for
        elif self._headers.get(b"expect", b"").lower() == b"100-continue":
            self._transport.write(_CONTINUE)

    def on_body(self, body: bytes) -> None:
        """Take a part of the body; only what follows it, trailers or the next head, counts as a head again."""
        self._n_head_bytes = 0
        if self._coming is None or self._coming.refusal is not None:
            return
        self._n_body_bytes += len(body)
        self._parts.append(body)
        if self._n_body_bytes > self._limits.body_bytes:
            self._refuse_body()

    def on_message_complete(self) -> None:
        """Answer a request that has come whole, when it is its turn."""
        self._n_head_bytes = 0
        request, self._coming = self._coming, None
        if request is None or self._is_closing:
            return
        self._deadline = math.inf
        request.body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._whole.append(request)
        self._answer_next()

    def _answer_next(self) -> None:
        """Begin with the next complete request, unless one is in progress or the client does not read its answers."""
        while self._whole and self._can_write and not self._is_answering:
            request = self._whole.popleft()
            self._is_answering = True
            try:
                reply = refuse(request.refusal) if request.refusal is not None else self._application.reply(request)
            except Exception:
                _logger.exception("A request failed")
                request.keep_alive = False
                reply = refuse(ServiceError("internal_error", "The service failed; its log says how."))
            reply.when_ready(partial(self._send, request, reply))

    def _send(self, request: Request, reply: Reply) -> None:
        keep_alive = request.keep_alive and not self._is_closing
        self._is_answering = False
        if self._transport.is_closing():
            return
        self._write(request, reply.response(), keep_alive=keep_alive)
        if not keep_alive:
            return
        if not self._whole:
            self._transport.resume_reading()
            self._expect()
        self._answer_next()

    def _write(self, request: Request | None, response: Response, *, keep_alive: bool) -> None:
        self._application.count(request, response)
        body = b"" if request is not None and request.method == "HEAD" else response.body
        self._transport.write(response_head(response, keep_alive=keep_alive) + body)
        if not keep_alive:
            self._is_closing = True
            self._transport.close()

    def _refuse(self, code: str, message: str) -> None:
        """Refuse data that cannot be read: the connection ends after the answers to all earlier requests."""
        if self._is_closing:
            return
        request = Request("GET", b"", {}, keep_alive=False)
        request.refusal = ServiceError(code, message)
        self._coming = None
        self._whole.append(request)
        self._answer_next()
        self._parser = httptools.HttpRequestParser(object())  # which hears nothing of what follows

    def _ignore_upgrade(self, rest: bytes) -> None:
        """Answer a request as if it asked for no other protocol, as HTTP allows.

        The parser leaves all that follows such a head to the other protocol. So another parser reads the same head
        without the header that asks for it, and then the rest.
        """
        method = self._parser.get_method()
        if method == b"CONNECT":
            self._refuse("method_not_allowed", "CONNECT is not allowed here.")
            return
        head = head_without_upgrade(method, self._target, self._parser.get_http_version(), self._headers)
        self._parser = httptools.HttpRequestParser(self)
        self._read(head + rest)

    def _refuse_body(self) -> None:
        self._refuse("too_large", f"The body must have at most {self._limits.body_bytes} bytes.")

    def _expect(self) -> None:
        """Start the time limit of the client anew."""
        self._deadline = self._loop.time() + self._limits.request_seconds

    def _check_deadlines(self) -> None:
        """Abort the connection when a request, or the reading of an answer, takes longer than `request_seconds`."""
        now, unsent = self._loop.time(), self._transport.get_write_buffer_size()
        if unsent == 0 or unsent < self._unsent:
            self._taken = now
        self._unsent = unsent
        late = now > self._deadline if unsent == 0 else now > self._taken + self._limits.request_seconds
        if late:
            self._transport.abort()
        else:
            self._timer = self._loop.call_later(self._limits.request_seconds / _CHECKS, self._check_deadlines)
