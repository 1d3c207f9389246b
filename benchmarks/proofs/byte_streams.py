"""Raw bytes over real connections: mutated requests, split anywhere; the service answers, refuses or hangs up.

Where none of a stream's requests was accepted, the state of the service is what it was before.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from harness.crash_runs import write_project
from harness.service_process import ServiceProcess
from proofs.grammar import PATHS, broken_bytes, make_body

__all__ = ["run_part"]

_STREAMS = 5_000
_SERVICES = 8  # a stream has its service alone, so that a change is known to be its own
_QUIET_SECONDS = 0.05
_LATE_SECONDS = 5.0
_MOST_SECONDS = 1.0
_LAST = b"GET /nothing HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
_STATUS = b"GET /v1/status HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
_HEADERS = (
    *("host: 127.0.0.1", "connection: keep-alive", "connection: upgrade", "upgrade: h2c", "expect: 100-continue"),
    *("transfer-encoding: chunked", "content-length: 0", "content-length: 99999999", "accept: */*", "x: " + "y" * 5000),
)


def run_part(part: int, *, n_streams: int = _STREAMS) -> dict[str, Any]:
    """Send streams with a seed of its own to services in processes."""
    rng = random.Random(part)
    streams = [_stream(rng) for _ in range(n_streams)]
    with ExitStack() as stack:
        services = []
        for _ in range(_SERVICES):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            services.append(stack.enter_context(ServiceProcess(write_project(folder))))
        answers, hung_up, refused, slowest = asyncio.run(_send_all(services, streams, part))
    if slowest > _MOST_SECONDS or any(status >= 500 for status in answers):
        raise AssertionError(f"the status took {slowest:.2f} s; {sorted(set(answers))}")
    return {
        "streams": n_streams,
        "answers": len(answers),
        "ended_by_service": hung_up,
        "streams_refused": refused,
        "changes_by_refused": 0,
        "slowest_status_ms": round(1000 * slowest),
        "answers_5xx": 0,
    }


async def _send_all(
    services: list[ServiceProcess], streams: list[bytes], part: int
) -> tuple[list[int], int, int, float]:
    """Return all answers, how many streams the service ended, how many it refused whole, and the slowest status."""
    answers, hung_up, refused, slowest = list[int](), 0, 0, 0.0

    async def send(number: int, service: ServiceProcess) -> None:
        nonlocal hung_up, refused, slowest
        rng = random.Random(f"{part}-{number}")
        before, _ = await _image(service)
        for stream in streams[number::_SERVICES]:
            cut = rng.randrange(len(stream) + 1)
            connection = await _Connection.open(service)
            ended = await connection.send([stream[:cut], stream[cut:] + _LAST])
            after, seconds = await _image(service)
            if after != before and not connection.accepted:  # its answer may be late
                await connection.read(_LATE_SECONDS)
            if after != before and not connection.accepted:
                raise AssertionError(f"refused, and yet the state went from {before} to {after}: {stream!r}")
            connection.close()
            answers.extend(connection.answers)
            hung_up, refused, slowest = hung_up + ended, refused + (not connection.accepted), max(slowest, seconds)
            before = after

    await asyncio.gather(*(send(number, service) for number, service in enumerate(services)))
    return answers, hung_up, refused, slowest


async def _image(service: ServiceProcess) -> tuple[object, float]:
    """Return what a refused request must leave as it is, and the seconds in which the service told it."""
    began = time.perf_counter()
    connection = await _Connection.open(service)
    await connection.send([_STATUS], quiet_seconds=10)
    connection.close()
    status = json.loads(connection.told.partition(b"\r\n\r\n")[2])
    actions = [(action["name"], action["state"]) for action in status["actions"]]
    return (status["decisions"], status["rewards"], status["learned"], actions), time.perf_counter() - began


class _Connection:
    """A connection, and what the service has told over it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.told = b""

    @classmethod
    async def open(cls, service: ServiceProcess) -> _Connection:
        """Return a new connection."""
        return cls(*await asyncio.open_connection(service.host, service.port))

    async def send(self, parts: list[bytes], quiet_seconds: float = _QUIET_SECONDS) -> bool:
        """Send a stream in parts, and read; return whether the service ended the connection."""
        try:
            for part in parts:
                self._writer.write(part)
                await self._writer.drain()
        except ConnectionError:
            return True
        return await self.read(quiet_seconds)

    async def read(self, quiet_seconds: float) -> bool:
        """Read until nothing has come for `quiet_seconds`; return whether the service ended the connection."""
        try:
            while more := await asyncio.wait_for(self._reader.read(65_536), quiet_seconds):
                self.told += more
        except TimeoutError:
            return False  # it waits for the rest of a request
        except ConnectionError:
            pass
        return True

    @property
    def answers(self) -> list[int]:
        """The status of each answer."""
        return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", self.told)]

    @property
    def accepted(self) -> bool:
        """Whether any request was accepted."""
        return any(200 <= status < 300 for status in self.answers)

    def close(self) -> None:
        """Hang up."""
        self._writer.transport.abort()


def _stream(rng: random.Random) -> bytes:
    """Return one or more requests, mostly with something wrong."""
    requests = b"".join(_request(rng) for _ in range(rng.choice((1, 1, 2, 4))))
    return broken_bytes(requests, rng) if rng.random() < 0.8 else requests


def _request(rng: random.Random) -> bytes:
    path = rng.choice((*PATHS, "/", "/v1/status", "/v1/explain/e1", "/v1/tree/0.svg", "*", "//", "/%00", "http://x/"))
    body = make_body(path, rng) if path in PATHS else b""
    method = rng.choice(("POST", "POST", "POST", "GET", "HEAD", "PUT", "CONNECT", "OPTIONS", "PRI", "get"))
    lines = [
        f"{method} {path} HTTP/1.1",
        "content-type: application/json",
        *rng.sample(_HEADERS, rng.choice((0, 1, 3))),
    ]
    if rng.random() < 0.8:
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
