"""The modules of the service that one decision or one ranking by HTTP enters, in their order, from a trace.

    python benchmarks/request_path.py

All threads are traced: that of the requests, and the one that writes the journal. Several requests are, since what the
service does once a second may fall into one of them.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

from bandit_forest.bandit import BooleanFeature, NumericFeature
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.tables import Actions, Storage
from bandit_forest.service.http.server import HttpServer
from bandit_forest.service.recovery.start import Service

ROOT = "bandit_forest.service."
N_TRACED = 3
REST_SECONDS = 0.05  # after which the journal's thread has ended with the request before
CONTEXT = {"age": 42, "member": True}
BODIES: dict[str, dict[str, Any]] = {
    "/v1/decide": {"context": CONTEXT},
    "/v1/rank": {"context": CONTEXT, "actions": [{"id": "a17", "price": 9.9}, {"id": "a18", "price": 3.5}]},
}


class Trace:
    """Notes the modules of the service that are entered, while it is on."""

    def __init__(self) -> None:
        self.is_on = False
        self.modules: list[str] = []

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Note a call."""
        name = frame.f_globals.get("__name__", "")
        if self.is_on and event == "call" and name.startswith(ROOT) and name not in self.modules:
            self.modules.append(name)


def main() -> None:
    """Print the modules of one request of each path."""
    for path in BODIES:
        modules = trace_request(path)
        for number, name in enumerate(modules, 1):
            print(f"{number:2d}  {name.removeprefix(ROOT)}")
        print(f"A request to {path} enters {len(modules)} modules of the service.")


def trace_request(path: str) -> list[str]:
    """Return the modules that a request to a path enters, in the order in which it first enters them."""
    trace, offers = Trace(), path == "/v1/rank"
    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        with tempfile.TemporaryDirectory() as folder, socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            project = Project(
                actions=None if offers else Actions(names=("red", "blue")),
                offered={"price": NumericFeature(thresholds=(5, 10))} if offers else None,
                context={"age": NumericFeature(thresholds=(30, 50)), "member": BooleanFeature()},
                storage=Storage(folder=Path(folder)),
            )
            server, port = HttpServer(Service.start(project), listener), listener.getsockname()[1]
            requests = asyncio.run(_ask_often(server, port, path, trace))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return [name for name in requests[0] if all(name in modules for modules in requests)]


async def _ask_often(server: HttpServer, port: int, path: str, trace: Trace) -> list[list[str]]:
    """Ask on one connection, and return the modules that each request but the first enters."""
    started = asyncio.Event()
    running = asyncio.create_task(server.run(started.set))
    await started.wait()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await _ask(reader, writer, path)
    requests = []
    for _ in range(N_TRACED):
        await asyncio.sleep(REST_SECONDS)
        trace.modules, trace.is_on = [], True
        await _ask(reader, writer, path)
        trace.is_on = False
        requests.append(trace.modules)
    writer.close()
    server.stop()
    await running
    return requests


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> None:
    body = json.dumps(BODIES[path]).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    status = await reader.readline()
    assert b" 200 " in status, status
    length = 0
    while line := (await reader.readline()).strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split()[1])
    await reader.readexactly(length)


if __name__ == "__main__":
    main()
