"""The server process: one event loop, one forest."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from collections.abc import Callable
from contextlib import suppress

from bandit_forest.errors import InvalidArgumentError
from bandit_forest.service.config.access import Server
from bandit_forest.service.config.project import Project
from bandit_forest.service.http.application import DecisionApplication
from bandit_forest.service.http.background import run_background
from bandit_forest.service.http.connection import Connection
from bandit_forest.service.http.replica_endpoints import REPLICA_ENDPOINTS
from bandit_forest.service.recovery.start import Service
from bandit_forest.service.replica.replica import Replica

__all__ = ["HttpServer", "serve"]

_STOP_SECONDS = 10


def serve(project: Project, *, started: Callable[[str], object]) -> None:
    """Serve a project until the process gets a signal to stop; then finish the requests and take a last snapshot.

    As soon as requests are taken, `started` is called with the address.
    """
    with _bind(project.server) as listener:
        service = Replica.start(project) if project.storage.is_shared else Service.start(project)
        _collect_garbage_rarely()
        host, port = listener.getsockname()[:2]
        address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        server = HttpServer(service, listener)
        with asyncio.Runner(loop_factory=_fastest_loop()) as runner:
            runner.run(server.run(lambda: started(address)))


class HttpServer:
    """Serves a started service on a listening socket; in the end it stops the service."""

    def __init__(self, service: Service | Replica, listener: socket.socket) -> None:
        self._service = service
        self._listener = listener
        self._connections: set[Connection] = set()
        self._stopping = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def stop(self) -> None:
        """Stop, from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)

    async def run(self, started: Callable[[], object]) -> None:
        """Serve until told to stop."""
        self._loop = asyncio.get_running_loop()
        with suppress(ValueError, RuntimeError):  # not in the main thread
            for number in (signal.SIGINT, signal.SIGTERM):
                self._loop.add_signal_handler(number, self._stopping.set)
        service, limits = self._service, self._service.context.project.limits
        if isinstance(service, Service):
            application, work = DecisionApplication(service.context), run_background(service)
        else:
            application, work = DecisionApplication(service.context, REPLICA_ENDPOINTS), service.run_background()
        background = asyncio.create_task(work)
        try:
            server = await self._loop.create_server(
                lambda: Connection(application, limits, self._connections), sock=self._listener, backlog=2048
            )
            started()
            await self._stopping.wait()
            server.close()
            await self._finish()
        finally:
            background.cancel()
            with suppress(asyncio.CancelledError):
                await background
            self._service.stop()

    async def _finish(self) -> None:
        """Close all connections, those with a request under way when it is answered."""
        for connection in list(self._connections):
            connection.close()
        until = asyncio.get_running_loop().time() + _STOP_SECONDS
        while self._connections and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(0.01)


def _fastest_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return what makes uvloop's event loop, where it is installed: it answers a third more requests."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _collect_garbage_rarely() -> None:
    """Let the garbage collector ignore permanent objects, and look for the few cycles of requests less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


def _bind(server: Server) -> socket.socket:
    """Take the address; connections are refused until the forest is there."""
    listener = socket.socket(socket.AF_INET6 if ":" in server.host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((server.host, server.port))
    except OSError as error:
        listener.close()
        raise InvalidArgumentError(
            f"The service cannot listen on {server.host} port {server.port}: {error.strerror}. "
            "Take another port with --port, or 0 for any."
        ) from error
    return listener
