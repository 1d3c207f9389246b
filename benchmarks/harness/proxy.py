"""A proxy for tests: each connection goes to the next replica that takes it."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import Self

__all__ = ["Proxy"]


class Proxy:
    """Listens on a free port and passes bytes on; the ports of the replicas may change at any time."""

    def __init__(self) -> None:
        self.ports: list[int] = []
        self._turn = 0
        self._loop = asyncio.new_event_loop()
        self._is_listening = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._is_listening.wait()

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self._port = server.sockets[0].getsockname()[1]
        self._is_listening.set()
        self._loop.run_forever()
        server.close()
        passing = asyncio.all_tasks(self._loop)
        for task in passing:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*passing, return_exceptions=True))
        self._loop.run_until_complete(asyncio.sleep(0))  # transports are closed
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(len(self.ports)):
            self._turn += 1
            port = self.ports[self._turn % len(self.ports)]
            with suppress(OSError):
                backend = await asyncio.open_connection("127.0.0.1", port)
                await asyncio.gather(_pass_on(reader, backend[1]), _pass_on(backend[0], writer))
                return
        writer.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()
