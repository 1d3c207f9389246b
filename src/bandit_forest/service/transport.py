"""Connections that bound the head of a request, and send head and body of an answer together: one system call."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["JoiningProtocol"]

_MOST_HEAD_BYTES = 65_536


class JoiningProtocol(HttpToolsProtocol):
    """uvicorn's protocol, on a transport that joins what is written within one turn of the event loop.

    A head that does not end is refused: the parser keeps all of it in memory, and the gate never sees it.
    """

    _head_bytes = 0

    def connection_made(self, transport: Any) -> None:
        """Begin to serve a connection."""
        super().connection_made(_JoiningTransport(transport, self.loop))  # type: ignore[arg-type]

    def data_received(self, data: bytes) -> None:
        """Take what has come."""
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > _MOST_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response(f"The head of a request must have at most {_MOST_HEAD_BYTES} bytes.")

    def on_headers_complete(self) -> None:
        """Go on to the body."""
        self._head_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body; only what follows it, trailers or the next head, counts again."""
        self._head_bytes = 0
        super().on_body(body)


class _JoiningTransport:
    """Hands on what is written as soon as the event loop comes round; all else at once."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._parts:
            self._transport.write(b"".join(self._parts))
            self._parts.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
