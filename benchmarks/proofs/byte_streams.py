"""Raw bytes over real connections: mutated requests, split anywhere; the service answers, refuses or hangs up."""

from __future__ import annotations

import asyncio
import random
import re
import tempfile
import time
from pathlib import Path
from typing import Any

from harness.crash_runs import write_project
from harness.service_process import ServiceProcess
from proofs.grammar import PATHS, broken_bytes, make_body

__all__ = ["run_part"]

_STREAMS = 5_000
_AT_ONCE = 16
_QUIET_SECONDS = 0.05
_MOST_SECONDS = 1.0
_LAST = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
_HEADERS = (
    *("host: 127.0.0.1", "connection: keep-alive", "connection: upgrade", "upgrade: h2c", "expect: 100-continue"),
    *("transfer-encoding: chunked", "content-length: 0", "content-length: 99999999", "accept: */*", "x: " + "y" * 5000),
)


def run_part(part: int, *, n_streams: int = _STREAMS) -> dict[str, Any]:
    """Send streams with a seed of its own to a service in a process."""
    with tempfile.TemporaryDirectory() as name, ServiceProcess(write_project(Path(name))) as service:
        rng = random.Random(part)
        answers, hung_up = asyncio.run(_send_all(service, [_stream(rng) for _ in range(n_streams)], rng))
        began = time.perf_counter()
        alive, _ = asyncio.run(_send(service, [_LAST], quiet_seconds=10))
        seconds = time.perf_counter() - began
    if alive != [200] or seconds > _MOST_SECONDS or any(status >= 500 for status in answers):
        raise AssertionError(f"healthz answered {alive} after {seconds:.2f} s; {sorted(set(answers))}")
    return {"streams": n_streams, "answers": len(answers), "ended_by_service": hung_up, "answers_5xx": 0}


async def _send_all(service: ServiceProcess, streams: list[bytes], rng: random.Random) -> tuple[list[int], int]:
    limit, answers, hung_up = asyncio.Semaphore(_AT_ONCE), list[int](), 0

    async def send(stream: bytes, cut: int) -> None:
        nonlocal hung_up
        async with limit:
            found, ended = await _send(service, [stream[:cut], stream[cut:] + _LAST])
            answers.extend(found)
            hung_up += ended

    await asyncio.gather(*(send(stream, rng.randrange(len(stream) + 1)) for stream in streams))
    return answers, hung_up


async def _send(
    service: ServiceProcess, parts: list[bytes], quiet_seconds: float = _QUIET_SECONDS
) -> tuple[list[int], bool]:
    """Send a stream in parts; return the status of each answer, and whether the service ended the connection."""
    reader, writer = await asyncio.open_connection(service.host, service.port)
    told, ended = b"", False
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        while True:
            more = await asyncio.wait_for(reader.read(65_536), quiet_seconds)
            if not more:
                ended = True
                break
            told += more
    except ConnectionError:
        ended = True
    except TimeoutError:
        pass  # it waits for the rest of a request
    finally:
        writer.transport.abort()
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", told)], ended


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
