"""Load on the decision service: decide+reward pairs a second, latencies of decide, and batches.

    python benchmarks/service.py

The service runs in a process of its own, with a durable journal, 100 trees and 100 variables; this process is the
client, over loopback with connections that stay open. On an idle machine with two cores.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import msgspec
import uvloop
from rich.console import Console

from harness.service_process import ServiceProcess

N_VARIABLES = 100
ACTIONS = ("a", "b", "c", "d")
BATCH = 100
BATCH_CONNECTIONS = 8
N_PREPARED = 500  # different contexts

Prepared = list[tuple[bytes, dict[str, bool]]]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    parser.add_argument("--connections", type=int, default=48, help="clients at a time")
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--folder", type=Path, default=Path("out"), help="on the disk to measure")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        console.print(f"one fsync of this disk: {1000 * fsync_seconds(Path(folder)):.2f} ms (median)")
        with ServiceProcess(write_project(Path(folder), options.trees)) as service:
            uvloop.run(measure(service, options.seconds, options.connections, console))


async def measure(service: ServiceProcess, seconds: float, connections: int, console: Console) -> None:
    """Run the loads, one after the other."""
    await run(service, PairClient, prepare(1), connections, min(2.0, seconds))  # the trees begin to grow
    load = await run(service, PairClient, prepare(1), connections, seconds)
    p50, p99 = (1000 * load.quantile(share) for share in (0.5, 0.99))
    console.print(f"decide+reward: {load.n_events / load.seconds:,.0f} pairs/s, {connections} connections")
    console.print(f"decide: p50 {p50:.1f} ms, p99 {p99:.1f} ms")
    load = await run(service, BatchClient, prepare(BATCH), BATCH_CONNECTIONS, seconds)
    rate = load.n_events / load.seconds
    console.print(f"batches of {BATCH}: {rate:,.0f} decisions/s, {BATCH_CONNECTIONS} connections")


class Load:
    """What the connections of one measurement share."""

    def __init__(self, prepared: Prepared, seconds: float, connections: int) -> None:
        self.prepared = prepared
        self.began = time.perf_counter()
        self.until = self.began + seconds
        self.open = connections
        self.n_events = 0
        self.latencies: list[float] = []
        self.seconds = 0.0
        self.done = asyncio.get_running_loop().create_future()

    def quantile(self, share: float) -> float:
        """Return the latency that a share of the requests stays below."""
        return sorted(self.latencies)[int(share * len(self.latencies))]

    def end(self, error: Exception | None = None) -> None:
        """Count a connection that has ended."""
        self.open -= 1
        if self.done.done():
            return
        if error is not None:
            self.done.set_exception(error)
        elif self.open == 0:
            self.seconds = time.perf_counter() - self.began
            self.done.set_result(None)


class Connection(asyncio.Protocol):
    """One request after the other over one connection."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport = cast(asyncio.Transport, transport)
        self.begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail when the service hangs up."""
        if not self.transport.is_closing():
            self.load.end(exc or ConnectionError("the service closed the connection"))

    def data_received(self, data: bytes) -> None:
        """Wait for a whole answer, then go on."""
        self.received += data
        head, separator, body = self.received.partition(b"\r\n\r\n")
        if not separator or len(body) < int(head.partition(b"content-length: ")[2].partition(b"\r")[0]):
            return
        self.received = b""
        if not head.startswith(b"HTTP/1.1 200"):
            self.transport.abort()
            self.load.end(RuntimeError(body.decode()))
            return
        self.answered(body)

    def begin(self) -> None:
        """Send the first request."""
        raise NotImplementedError

    def answered(self, body: bytes) -> None:
        """Take an answer and send what comes next."""
        raise NotImplementedError

    def next(self) -> None:
        """Begin again, or end when the time is over."""
        if time.perf_counter() < self.load.until:
            self.begin()
        else:
            self.transport.close()
            self.load.end()


class PairClient(Connection):
    """Decides, then rewards, and so on."""

    def begin(self) -> None:
        """Ask for a decision."""
        request, self.context = random.choice(self.load.prepared)
        self.decided = False
        self.sent = time.perf_counter()
        self.transport.write(request)

    def answered(self, body: bytes) -> None:
        """Reward the decision."""
        if self.decided:
            self.load.n_events += 1
            self.next()
            return
        self.decided = True
        self.load.latencies.append(time.perf_counter() - self.sent)
        decision = msgspec.json.decode(body)
        reward = float(decision["action"] == best_action(self.context))
        document = {"event_id": decision["event_id"], "reward": reward}
        self.transport.write(post("/v1/reward", msgspec.json.encode(document)))


class BatchClient(Connection):
    """Decides batch after batch."""

    def begin(self) -> None:
        """Ask for a batch of decisions."""
        self.transport.write(random.choice(self.load.prepared)[0])

    def answered(self, body: bytes) -> None:
        """Count the decisions."""
        self.load.n_events += body.count(b'"propensity"')
        self.next()


async def run(
    service: ServiceProcess, client: Callable[[Load], Connection], prepared: Prepared, connections: int, seconds: float
) -> Load:
    """Put a load on the service for some seconds."""
    load = Load(prepared, seconds, connections)
    loop = asyncio.get_running_loop()
    for _ in range(connections):
        await loop.create_connection(lambda: client(load), service.host, service.port)
    await load.done
    return load


def prepare(n_events: int) -> Prepared:
    """Make requests beforehand, so that the client takes little of the machine."""
    prepared: Prepared = []
    for _ in range(N_PREPARED if n_events == 1 else 20):
        contexts = [{f"x{number}": random.random() < 0.5 for number in range(N_VARIABLES)} for _ in range(n_events)]
        if n_events == 1:
            request = post("/v1/decide", msgspec.json.encode({"context": contexts[0]}))
        else:
            request = post("/v1/decide/batch", msgspec.json.encode({"events": [{"context": one} for one in contexts]}))
        prepared.append((request, contexts[0]))
    return prepared


def post(path: str, body: bytes) -> bytes:
    """Write a request."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


def best_action(context: dict[str, bool]) -> str:
    """Return the action that earns in a context: what the forest has to find out."""
    return ACTIONS[2 * context["x3"] + context["x7"]]


def write_project(folder: Path, n_trees: int) -> Path:
    """Write the project that is measured."""
    fields = "\n".join(f'[context.x{number}]\nkind = "boolean"' for number in range(N_VARIABLES))
    project = folder / "load.toml"
    project.write_text(
        f"""
[actions]
names = {list(ACTIONS)}
[forest]
n_trees = {n_trees}
[storage]
folder = "data"
[limits]
waiting_events = 10_000_000
{fields}
"""
    )
    return project


def fsync_seconds(folder: Path) -> float:
    """Return the median time that the disk needs to write a page durably."""
    times = []
    with (folder / "probe").open("wb") as file:
        for _ in range(50):
            file.write(b"x" * 4096)
            began = time.perf_counter()
            file.flush()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - began)
    return sorted(times)[len(times) // 2]


if __name__ == "__main__":
    main()
