"""Load on a decision service: connections that decide and reward, or decide batches, as fast as they are answered."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from typing import cast

import msgspec

from harness.service_process import ServiceProcess

__all__ = ["ACTIONS", "N_VARIABLES", "BatchClient", "Load", "PairClient", "prepare", "run"]

N_VARIABLES = 100
ACTIONS = ("a", "b", "c", "d")
N_PREPARED = 500  # different contexts

Prepared = list[tuple[bytes, dict[str, bool]]]


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
