"""Replicas on one PostgreSQL: pairs a second and processor time, the lag of learning, and how fast a new one is ready.

    python benchmarks/replicas.py pairs
    python benchmarks/replicas.py batches
    python benchmarks/replicas.py lag
    python benchmarks/replicas.py start

A private PostgreSQL and all replicas run on this machine; this process is the client. On an idle machine.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import httpx
import msgspec
import psycopg
import uvloop

from harness.postgres import PostgresProcess
from harness.service_load import BatchClient, Load, PairClient, prepare, run
from harness.service_process import ServiceProcess
from service import BATCH, BATCH_CONNECTIONS, fsync_seconds, write_project

CONNECTIONS = 24


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("pairs", "batches", "lag", "start"))
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    parser.add_argument("--rewards", type=int, default=1000, help="rewards a second, of lag")
    parser.add_argument("--events", type=int, default=1_000_000, help="in the journal, of start")
    parser.add_argument("--trees", type=int, default=32)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, PostgresProcess() as postgres:
        print(f"one fsync of this disk: {1000 * fsync_seconds(Path(folder)):.2f} ms (median)")
        if options.what == "pairs":
            pairs(Path(folder), postgres, options.seconds, options.trees)
        elif options.what == "batches":
            batches(Path(folder), postgres, options.seconds, options.trees)
        elif options.what == "lag":
            lag(Path(folder), postgres, options.seconds, options.rewards, options.trees)
        else:
            start(Path(folder), postgres, options.events, options.trees)


def batches(folder: Path, postgres: PostgresProcess, seconds: float, trees: int) -> None:
    """Decide in batches of 100 through one replica."""
    with ServiceProcess(_project(folder, postgres, trees)) as service:
        before = _processor_times([service], postgres)
        load = uvloop.run(run(service, BatchClient, prepare(BATCH), BATCH_CONNECTIONS, seconds))
        used = [after - now for after, now in zip(_processor_times([service], postgres), before, strict=True)]
    each = ", ".join(
        f"{who} {1000 * one / load.n_events:.3f}"
        for who, one in zip(("service", "database", "client"), used, strict=True)
    )
    print(f"batches of {BATCH}: {load.n_events / load.seconds:,.0f} decisions/s; milliseconds a decision: {each}")


def pairs(folder: Path, postgres: PostgresProcess, seconds: float, trees: int) -> None:
    """Decide and reward through one service with SQLite, one replica and two replicas."""
    print("| | pairs/s | p50 ms | p99 ms | service ms/pair | database ms/pair | client ms/pair |")
    print("|---|---|---|---|---|---|---|")
    for name, n_services, is_shared in (("SQLite", 1, False), ("one replica", 1, True), ("two replicas", 2, True)):
        place = folder / name.replace(" ", "-")
        place.mkdir()
        project = _project(place, postgres if is_shared else None, trees)
        with ExitStack() as stack:
            services = [stack.enter_context(ServiceProcess(project)) for _ in range(n_services)]
            uvloop.run(_load(services, 2.0))
            before = _processor_times(services, postgres)
            load = uvloop.run(_load(services, seconds))
            used = [after - now for after, now in zip(_processor_times(services, postgres), before, strict=True)]
        each = " | ".join(f"{1000 * one / load.n_events:.2f}" for one in used)
        p50, p99 = (1000 * load.quantile(share) for share in (0.5, 0.99))
        print(f"| {name} | {load.n_events / load.seconds:,.0f} | {p50:.1f} | {p99:.1f} | {each} |", flush=True)


async def _load(services: Sequence[ServiceProcess], seconds: float) -> Load:
    load = Load(prepare(1), seconds, CONNECTIONS)
    loop = asyncio.get_running_loop()
    for number in range(CONNECTIONS):
        service = services[number % len(services)]
        await loop.create_connection(lambda: PairClient(load), service.host, service.port)
    await load.done
    return load


def _processor_times(services: Sequence[ServiceProcess], postgres: PostgresProcess) -> list[float]:
    """Return the processor time of the services, of the database and of this process."""
    ticks = 0
    for service in services:
        parts = Path(f"/proc/{service.process.pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, parts[11:13]))
    return [ticks / os.sysconf("SC_CLK_TCK"), postgres.processor_seconds(), time.process_time()]


def lag(folder: Path, postgres: PostgresProcess, seconds: float, rate: int, trees: int) -> None:
    """Send rewards at a steady rate to two replicas, and see when the last one has learned each."""
    batch = 10
    n_events = int(seconds * rate)
    project = _project(folder, postgres, trees)
    with ServiceProcess(project) as one, ServiceProcess(project) as two, httpx.Client(timeout=30) as http:
        ids = [_decide(http, one, [f"{number}-{item}" for item in range(100)]) for number in range(n_events // 100)]
        waiting = [event_id for group in ids for event_id in group]
        seen: list[tuple[float, int]] = []
        stop = threading.Event()
        watcher = threading.Thread(target=_watch, args=((one, two), seen, stop))
        watcher.start()
        acknowledged: list[tuple[float, int]] = []
        began = time.perf_counter()
        for number in range(0, len(waiting), batch):
            rewards = [{"event_id": event_id, "reward": 1.0} for event_id in waiting[number : number + batch]]
            service = (one, two)[number // batch % 2]
            http.post(f"{service.address}/v1/reward/batch", json={"rewards": rewards}).raise_for_status()
            acknowledged.append((time.perf_counter(), number + batch))
            time.sleep(max(0.0, began + (number + batch) / rate - time.perf_counter()))
        took = time.perf_counter() - began
        while not seen or seen[-1][1] < len(waiting):
            time.sleep(0.05)
        stop.set()
        watcher.join()
    lags = sorted(next(moment for moment, learned in seen if learned >= n) - told for told, n in acknowledged)
    p50, p99 = (1000 * lags[int(share * len(lags))] for share in (0.5, 0.99))
    print(f"{len(waiting) / took:,.0f} rewards/s to two replicas; lag p50 {p50:.0f} ms, p99 {p99:.0f} ms")


def _decide(http: httpx.Client, service: ServiceProcess, ids: list[str]) -> list[str]:
    context = {f"x{number}": False for number in range(100)}
    events = [{"context": context, "event_id": event_id} for event_id in ids]
    http.post(f"{service.address}/v1/decide/batch", json={"events": events}).raise_for_status()
    return ids


def _watch(services: Sequence[ServiceProcess], seen: list[tuple[float, int]], stop: threading.Event) -> None:
    """Note how many rewards the last replica has learned."""
    with httpx.Client() as http:
        while not stop.is_set():
            learned = [http.get(f"{service.address}/v1/status").json()["model_version"] for service in services]
            seen.append((time.perf_counter(), min(learned)))
            time.sleep(0.01)


def start(folder: Path, postgres: PostgresProcess, n_events: int, trees: int) -> None:
    """Fill a journal, let a replica learn it and take a snapshot, add some more, and start a new replica."""
    project = _project(folder, postgres, trees)
    url = msgspec.toml.decode(project.read_text())["storage"]["journal"]
    with ServiceProcess(project) as first:
        began = time.perf_counter()
        _fill(url, 0, n_events)
        print(f"{n_events:,} events stored in {time.perf_counter() - began:.0f} s", flush=True)
        _until(first, "model_version", n_events)
        print(f"learned by one replica after {time.perf_counter() - began:.0f} s", flush=True)
        _until(first, "snapshot_seq", n_events)
        _fill(url, n_events, n_events + 10_000)
        _until(first, "model_version", n_events + 10_000)
    began = time.perf_counter()
    with ServiceProcess(project) as second, httpx.Client(base_url=second.address) as http:
        http.get("/readyz").raise_for_status()
        seconds = time.perf_counter() - began
        status = http.get("/v1/status").json()
    print(f"a new replica is ready after {seconds:.1f} s, at version {status['model_version']:,}")


def _fill(url: str, first: int, last: int) -> None:
    """Store events that were decided elsewhere."""
    flags = " || ', ' || ".join(
        f"'\"x{number}\": ' || CASE WHEN random() < 0.5 THEN 'true' ELSE 'false' END" for number in range(100)
    )
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO decisions SELECT 'event ' || n, extract(epoch FROM now()), 'learn', 0, 0, "
            f"(ARRAY['a', 'b', 'c', 'd'])[1 + n %% 4], 0.25, 4, 0, '{{' || {flags} || '}}' "
            "FROM generate_series(%s::int, %s::int) AS n".encode(),
            (first, last - 1),
        )
        connection.execute(
            "INSERT INTO outcomes SELECT 'event ' || n, 'learn', (random() < 0.3)::int, extract(epoch FROM now()) "
            "FROM generate_series(%s::int, %s::int) AS n",
            (first, last - 1),
        )


def _until(service: ServiceProcess, what: str, number: int) -> None:
    with httpx.Client(base_url=service.address, timeout=60) as http:
        while http.get("/v1/status").json()[what] < number:
            time.sleep(0.5)


def _project(folder: Path, postgres: PostgresProcess | None, trees: int) -> Path:
    project = write_project(folder, trees)
    if postgres is not None:
        url = postgres.new_database(f"bench_{folder.name.replace('-', '_').lower()}")
        text = project.read_text().replace('folder = "data"', f'journal = "{url}"\nsnapshot_seconds = 10')
        project.write_text(text)
    return project


if __name__ == "__main__":
    main()
