"""Connections: uvicorn's, within limits, with a short way for the requests that applications send for every event."""

from __future__ import annotations

import asyncio
import logging
import math
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bandit_forest.service.config.project import Limits
from bandit_forest.service.errors import ServiceError
from bandit_forest.service.http.exchanges import Exchange, response
from bandit_forest.service.http.request_gate import Gate
from bandit_forest.service.http.responses import answer_of, refusal, when_ended

__all__ = ["Connection", "ConnectionLimitError"]

_logger = logging.getLogger(__name__)

_MOST_HEAD_BYTES = 65_536
_LOOKS = 4  # at a connection, within the time that it has for a request
_FAILED = b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class ConnectionLimitError(ServiceError):
    """As many connections are open as the project allows."""

    code = "too_many_connections"


class Connection(HttpToolsProtocol):
    """uvicorn's protocol, which parses requests and runs the application, with three additions.

    - A plain POST to one of the gate's shortcuts is answered by an `Exchange`, without task, scope and messages, which
      take as long as a decision. Whatever is not plain (sent before the last answer, in chunks, by HTTP/1.0, ...) goes
      through the application, with the same result.
    - A head that does not end is refused: the parser keeps all of it in memory, and the gate never sees it.
    - There are so many connections at most, and one is closed that takes too long to send a request or take an answer.

    Parameters
    ----------
    gate
        The application.
    limits
        Of the project.
    uvicorn
        What uvicorn gives its protocols.
    """

    def __init__(self, gate: Gate, limits: Limits, **uvicorn: Any) -> None:
        super().__init__(**uvicorn)
        self._gate = gate
        self._limits = limits
        self._head_bytes = 0
        self._deadline = math.inf
        self._unsent = 0  # bytes of answers, when it was last looked
        self._taken = 0.0  # when they were last seen to become fewer
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to serve a connection, unless there are too many."""
        if len(self.connections) >= self._limits.connections:
            self.transport = transport
            self._refuse_connection()
            return
        super().connection_made(transport)
        self._expect()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        if self._timer is not None:
            self._timer.cancel()
        if isinstance(self.cycle, Exchange):  # it needs not be told
            self.cycle = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what has come."""
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > _MOST_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response(f"The head of a request must have at most {_MOST_HEAD_BYTES} bytes.")

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._expect()
        self.url, self.headers = b"", []

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """Go on to the body."""
        self._head_bytes = 0
        path, headers = self.url.decode("latin-1"), dict(self.headers)
        if path in self._gate.shortcuts and self._is_plain(headers):
            self.cycle = Exchange(path, headers)  # type: ignore[assignment]
        else:
            self._begin_for_application()
            super().on_headers_complete()

    def _begin_for_application(self) -> None:
        """Begin again as uvicorn does, which makes what an application is told."""
        url, headers = self.url, self.headers
        super().on_message_begin()
        self.url = url
        for header in headers:
            super().on_header(*header)

    def on_body(self, body: bytes) -> None:
        """Take a part of the body; only what follows it, trailers or the next head, counts again."""
        self._head_bytes = 0
        if isinstance(self.cycle, Exchange):
            self.cycle.body += body
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Answer a request that has come whole."""
        self._deadline = math.inf
        if isinstance(self.cycle, Exchange):
            self._run(self.cycle)
        else:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on to the next request."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        else:
            self._expect()

    def _is_plain(self, headers: dict[bytes, bytes]) -> bool:
        """Say whether a request can be answered by an exchange."""
        parser = self.parser
        return (
            parser.get_method() == b"POST"
            and (self.cycle is None or self.cycle.response_complete)
            and not self.flow.write_paused
            and parser.get_http_version() == "1.1"
            and parser.should_keep_alive()
            and not parser.should_upgrade()
            and b"expect" not in headers
            and b"transfer-encoding" not in headers
            and int(headers.get(b"content-length", b"0")) <= self._gate.body_bytes
        )

    def _run(self, exchange: Exchange) -> None:
        try:
            exchange.run(self._gate)
        except Exception:
            _logger.exception("A request failed")
            self.transport.write(_FAILED)
            self.transport.close()
        else:
            when_ended(iter(exchange.reply.commits), partial(self._send, exchange))

    def _send(self, exchange: Exchange) -> None:
        content = exchange.end(self._gate, self.server_state.default_headers)
        if not self.transport.is_closing():
            self.transport.write(content)
            if not exchange.keep_alive:
                self.transport.close()
        self.on_response_complete()

    def _expect(self) -> None:
        """Give the client time from now on."""
        self._deadline = self.loop.time() + self._limits.request_seconds

    def _look(self) -> None:
        """Close a connection that is late: with a request, or with taking any more of an answer."""
        now, unsent = self.loop.time(), self.transport.get_write_buffer_size()
        if unsent == 0 or unsent < self._unsent:
            self._taken = now
        self._unsent = unsent
        late = now > self._deadline if unsent == 0 else now > self._taken + self._limits.request_seconds
        if late:
            self.transport.abort()
        else:
            self._timer = self.loop.call_later(self._limits.request_seconds / _LOOKS, self._look)

    def _refuse_connection(self) -> None:
        most = self._limits.connections
        error = ConnectionLimitError(f"{most} connections are open, as many as [limits] connections allows.")
        answer = answer_of(refusal(error))
        self._gate.measures.count(answer)
        self.transport.write(response(answer, self.server_state.default_headers, keep_alive=False))
        self.transport.close()
