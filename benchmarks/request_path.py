"""The modules of the service that one decision or one ranking by HTTP enters, and from where, from a trace.

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


Call = tuple[str | None, str]
"""The module that calls, None for the event loop and for threads, and the one that is called."""


class Trace:
    """Notes the calls between modules of the service, while it is on."""

    def __init__(self) -> None:
        self.is_on = False
        self.calls: dict[Call, None] = {}
        """In the order in which they are first made."""

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Note a call."""
        called = _module(frame)
        if self.is_on and event == "call" and called is not None:
            calling, caller = frame.f_back, None
            while calling is not None and caller is None:  # what is not of the service is passed through
                caller, calling = _module(calling), calling.f_back
            if caller != called:
                self.calls[caller, called] = None


def _module(frame: FrameType) -> str | None:
    name: str = frame.f_globals.get("__name__", "")
    return name.removeprefix(ROOT) if name.startswith(ROOT) else None


def main() -> None:
    """Print the modules of one request of each path as they are first entered, and what calls them."""
    for path in BODIES:
        calls = trace_request(path)
        modules = list(dict.fromkeys(called for _, called in calls))
        for number, name in enumerate(modules, 1):
            callers = [caller or "the event loop or a thread" for caller, called in calls if called == name]
            print(f"{number:2d}  {name:20s}  called from {', '.join(callers)}")
        print(f"A request to {path} enters {len(modules)} modules of the service.")


def trace_request(path: str) -> list[Call]:
    """Return the calls between modules that a request to a path makes, in the order in which it first makes them."""
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
    return [call for call in requests[0] if all(call in calls for calls in requests)]


async def _ask_often(server: HttpServer, port: int, path: str, trace: Trace) -> list[list[Call]]:
    """Ask on one connection, and return the calls between modules that each request but the first makes."""
    started = asyncio.Event()
    running = asyncio.create_task(server.run(started.set))
    await started.wait()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await _ask(reader, writer, path)
    requests = []
    for _ in range(N_TRACED):
        await asyncio.sleep(REST_SECONDS)
        trace.calls, trace.is_on = {}, True
        await _ask(reader, writer, path)
        trace.is_on = False
        requests.append(list(trace.calls))
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
