"""The server process: one event loop, one forest."""

from __future__ import annotations

import gc
import socket
from collections.abc import Callable
from functools import partial

import uvicorn

from bandit_forest.errors import InvalidArgumentError
from bandit_forest.service.config.project import Project, Server
from bandit_forest.service.decider import Decider
from bandit_forest.service.http.application import make_app
from bandit_forest.service.http.connection import Connection

__all__ = ["make_config", "serve"]

_STOP_SECONDS = 10


def serve(project: Project, *, started: Callable[[str], object]) -> None:
    """Serve a project until the process is told to stop; then finish what is under way and take a last snapshot.

    Parameters
    ----------
    project
        What is decided.
    started
        Is told the address as soon as requests are taken.
    """
    with _bind(project.server) as listener:
        config = make_config(Decider.open(project))
        _collect_garbage_rarely()
        host, port = listener.getsockname()[:2]
        address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        _TellingServer(config, lambda: started(address)).run(sockets=[listener])


def make_config(decider: Decider) -> uvicorn.Config:
    """Say how uvicorn serves a decider."""
    gate = make_app(decider)
    return uvicorn.Config(
        gate,
        access_log=False,
        http=partial(Connection, gate, decider.project.limits),  # type: ignore[arg-type]
        log_level="warning",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
        ws="none",
    )


def _collect_garbage_rarely() -> None:
    """Let the collector pass over what stays, and look for the few cycles of requests less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


class _TellingServer(uvicorn.Server):
    """Tells when it takes requests."""

    def __init__(self, config: uvicorn.Config, tell: Callable[[], object]) -> None:
        super().__init__(config)
        self._tell = tell

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then tell."""
        await super().startup(sockets)
        self._tell()


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
