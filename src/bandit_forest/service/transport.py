"""Connections that send the head and the body of an answer together: one system call instead of two."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["JoiningProtocol"]


class JoiningProtocol(HttpToolsProtocol):
    """uvicorn's protocol, on a transport that joins what is written within one turn of the event loop."""

    def connection_made(self, transport: Any) -> None:
        """Begin to serve a connection."""
        super().connection_made(_JoiningTransport(transport, self.loop))  # type: ignore[arg-type]


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
