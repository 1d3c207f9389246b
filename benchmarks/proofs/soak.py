"""A soak: a service under full load for long, with memory, open files, latency and journal size over time.

Memory is what the process has allocated (RssAnon): pages of files come and go with what else the machine does. It
must be flat after the first quarter: its slope within what chance would make of its own noise, or below one part in a
thousand an hour. The p99 latency of the last quarter must be at most 1.2 times that of the first.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from harness.service_process import ServiceProcess

__all__ = ["run_part"]

_CLIENTS = 8
_SAMPLE_SECONDS = 10.0
_PROJECT = """
[actions]
names = ["a", "b", "c"]
[context.age]
kind = "numeric"
edges = [30, 50]
[context.member]
kind = "boolean"
[forest]
n_trees = 10
max_nodes = 64
growth = { log_capacity = 4096 }
[limits]
waiting_events = 2000
remembered_events = 2000
[storage]
folder = "data"
"""


def run_part(part: int) -> dict[str, Any]:  # noqa: ARG001 - a soak has no seed
    """Soak for SOAK_MINUTES, two hours unless the environment says otherwise."""
    seconds = 60.0 * float(os.environ.get("SOAK_MINUTES", "120"))
    with tempfile.TemporaryDirectory() as name:
        project = Path(name) / "soak.toml"
        project.write_text(_PROJECT)
        with ServiceProcess(project) as service:
            samples = asyncio.run(_soak(service, Path(name) / "data", seconds))
    return _summary(samples, seconds) | {"samples": samples}


async def _soak(service: ServiceProcess, folder: Path, seconds: float) -> list[dict[str, float]]:
    latencies: list[float] = []
    clients = [asyncio.create_task(_client(service, number, latencies)) for number in range(_CLIENTS)]
    samples: list[dict[str, float]] = []
    began = time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        await asyncio.sleep(_SAMPLE_SECONDS)
        for client in clients:
            if client.done():
                client.result()
        taken = np.array(latencies)
        latencies.clear()
        samples.append(_sample(service.process.pid, folder, taken) | {"minute": round((passed + 10) / 60, 2)})
    for client in clients:
        client.cancel()
    await asyncio.gather(*clients, return_exceptions=True)
    return samples


def _sample(pid: int, folder: Path, latencies: np.ndarray) -> dict[str, float]:
    status = Path(f"/proc/{pid}/status").read_text()
    return {
        "memory_mb": round(int(status.partition("RssAnon:")[2].split()[0]) / 1024, 2),
        "open_files": len(list(Path(f"/proc/{pid}/fd").iterdir())),
        "requests_per_second": round(len(latencies) / _SAMPLE_SECONDS, 1),
        "p50_ms": round(1000 * float(np.quantile(latencies, 0.5)), 2),
        "p99_ms": round(1000 * float(np.quantile(latencies, 0.99)), 2),
        "journal_mb": round(sum(file.stat().st_size for file in folder.glob("journal-*")) / 2**20, 1),
    }


async def _client(service: ServiceProcess, number: int, latencies: list[float]) -> None:
    """Decide without end over one connection, and reward four of five events."""
    reader, writer = await asyncio.open_connection(service.host, service.port)
    for turn in range(10**9):
        event_id, context = f"{number}-{turn}", {"age": turn % 70, "member": turn % 3 == 0}
        await _post(reader, writer, "/v1/decide", {"event_id": event_id, "context": context}, latencies)
        if turn % 5:
            await _post(reader, writer, "/v1/reward", {"event_id": event_id, "reward": float(turn % 3 == 0)}, latencies)


async def _post(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, body: object, latencies: list[float]
) -> None:
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    began = time.perf_counter()
    writer.write(head.encode() + b"content-length: %d\r\n\r\n" % len(content) + content)
    answer = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(int(answer.lower().partition(b"content-length: ")[2].partition(b"\r")[0]))
    latencies.append(time.perf_counter() - began)
    if not answer.startswith(b"HTTP/1.1 200"):
        raise AssertionError(answer)


def _summary(samples: list[dict[str, float]], seconds: float) -> dict[str, Any]:
    quarter = max(1, len(samples) // 4)
    memory = np.array([sample["memory_mb"] for sample in samples[quarter:]])
    hours = np.arange(len(memory)) * _SAMPLE_SECONDS / 3600
    slope, error = _slope(hours, memory)
    first = float(np.median([sample["p99_ms"] for sample in samples[:quarter]]))
    last = float(np.median([sample["p99_ms"] for sample in samples[-quarter:]]))
    return {
        "minutes": round(seconds / 60, 1),
        "requests": round(sum(sample["requests_per_second"] for sample in samples) * _SAMPLE_SECONDS),
        "memory_slope_mb_per_hour": round(slope, 3),
        "memory_slope_error": round(error, 3),
        "p99_last_over_first_quarter": round(last / first, 3),
        "open_files_most": max(sample["open_files"] for sample in samples),
    }


def _slope(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the slope of a line through points, and its standard error."""
    if len(x) < 3:
        return float("nan"), float("nan")
    coefficients, covariance = np.polyfit(x, y, 1, cov=True)
    return float(coefficients[0]), float(np.sqrt(covariance[0, 0]))
