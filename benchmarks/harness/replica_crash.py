"""Replicas under load, of which some are killed all the time, and PostgreSQL too; then everything is compared."""

from __future__ import annotations

import hashlib
import random
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import httpx

from bandit_forest.service.config.project_file import load_project
from bandit_forest.service.replica.verify import ReplicaVerification, verify_database
from harness.postgres import PostgresProcess
from harness.proxy import Proxy
from harness.service_process import ServiceProcess

__all__ = ["Outcome", "crash_replicas"]

_PATIENCE = 120.0
_POSTGRES_EVERY = 8  # kills, one is of PostgreSQL
_PROJECT = """
[actions]
names = ["basic", "plus", "gold"]
[context.age]
kind = "numeric"
edges = [30, 50]
[context.member]
kind = "boolean"
[forest]
n_trees = 8
[storage]
journal = "{url}"
snapshot_seconds = 5
"""


@dataclass(kw_only=True)
class Outcome:
    """What happened, all of which was found to be right."""

    n_kills: dict[str, int]
    n_decisions: int
    n_rewards: int
    n_repeated: int
    """Decisions that were asked for again, and had the same answer."""
    verification: ReplicaVerification


@dataclass(kw_only=True)
class _Told:
    """What clients were told."""

    decisions: dict[str, tuple[str, float]] = field(default_factory=dict)
    rewards: dict[str, float] = field(default_factory=dict)
    n_repeated: int = 0
    errors: list[str] = field(default_factory=list)


def crash_replicas(*, n_kills: int, n_replicas: int = 3, n_clients: int = 3, seed: int = 0) -> Outcome:
    """Kill replicas, the learner among them, and PostgreSQL at random moments while clients go on; then compare.

    Parameters
    ----------
    n_kills
        Number of processes that are killed with SIGKILL, one after the other.
    n_replicas
        Number of replicas behind a proxy.
    n_clients
        Number of clients, each of which repeats a request until it is answered.
    seed
        Seed of what is killed when.
    """
    draws, told, stop = random.Random(seed), _Told(), threading.Event()
    with (
        tempfile.TemporaryDirectory() as folder,
        (Path(folder) / "log").open("w") as log,
        PostgresProcess() as postgres,
        Proxy() as proxy,
    ):
        project = Path(folder) / "project.toml"
        project.write_text(_PROJECT.format(url=postgres.new_database("crash")))
        replicas = [ServiceProcess(project, log=log) for _ in range(n_replicas)]
        proxy.ports = [replica.port for replica in replicas]
        clients = [
            threading.Thread(target=_play, args=(proxy.address, f"c{number}", told, stop, random.Random(number)))
            for number in range(n_clients)
        ]
        for client in clients:
            client.start()
        counts = {"replica": 0, "learner": 0, "postgres": 0}
        try:
            for number in range(1, n_kills + 1):
                time.sleep(draws.uniform(0.0, 1.0))
                if number % _POSTGRES_EVERY == 0:
                    counts[_kill_postgres(draws, postgres)] += 1
                else:
                    counts[_kill_replica(draws, replicas, proxy, project, log)] += 1
        finally:
            stop.set()
            for client in clients:
                client.join()
        try:
            assert not told.errors, told.errors[0]
            _until(lambda: _versions(replicas) == {len(told.rewards)}, "not all rewards were learned")
            digests = {_digest(replica) for replica in replicas}
            assert len(digests) == 1, "replicas differ"
        finally:
            for replica in replicas:
                replica.kill()
        _compare(project, told)
        return Outcome(
            n_kills=counts,
            n_decisions=len(told.decisions),
            n_rewards=len(told.rewards),
            n_repeated=told.n_repeated,
            verification=verify_database(load_project(project)),
        )


def _kill_postgres(draws: random.Random, postgres: PostgresProcess) -> str:
    """Kill the database, and start it again after a while."""
    postgres.kill()
    time.sleep(draws.uniform(0.0, 1.0))
    postgres.start()
    return "postgres"


def _kill_replica(
    draws: random.Random, replicas: list[ServiceProcess], proxy: Proxy, project: Path, log: IO[str]
) -> str:
    """Kill a replica, start another one, and return what it was."""
    number = draws.randrange(len(replicas))
    is_learner = _is_learner(replicas[number])
    replicas[number].kill()
    replicas[number] = ServiceProcess(project, log=log)
    proxy.ports[number] = replicas[number].port
    return "learner" if is_learner else "replica"


def _is_learner(replica: ServiceProcess) -> bool:
    try:
        return bool(httpx.get(f"{replica.address}/v1/status", timeout=10).json()["is_learner"])
    except httpx.HTTPError:
        return False


def _play(address: str, name: str, told: _Told, stop: threading.Event, draws: random.Random) -> None:
    """Decide and reward until told to stop; whatever fails is asked again."""
    try:
        with httpx.Client(base_url=address, timeout=10) as http:
            number = 0
            while not stop.is_set():
                event_id, number = f"{name}-{number}", number + 1
                asked = {"context": {"age": draws.randrange(80), "member": draws.random() < 0.5}, "event_id": event_id}
                answer = _insist(http, "/v1/decide", asked)
                told.decisions[event_id] = answer["action"], answer["propensity"]
                if draws.random() < 0.2:
                    assert _insist(http, "/v1/decide", asked) == answer, f"{event_id} was decided twice"
                    told.n_repeated += 1
                if draws.random() < 0.8:
                    value = float(draws.random() < 0.5)
                    _insist(http, "/v1/reward", {"event_id": event_id, "reward": value})
                    told.rewards[event_id] = value
    except Exception as error:
        told.errors.append(repr(error))


def _insist(http: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Ask until it is answered; a reward that is there already was stored by an attempt that seemed to fail."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        try:
            response = http.post(path, json=body)
        except httpx.TransportError:
            time.sleep(0.05)
            continue
        answer: dict[str, Any] = response.json()
        if response.status_code == 200 or answer["error"]["code"] == "duplicate_reward":
            return answer
        assert response.status_code == 503, response.text
        time.sleep(0.05)
    raise TimeoutError(f"{path} was not answered.")


def _until(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def _versions(replicas: list[ServiceProcess]) -> set[int]:
    return {httpx.get(f"{replica.address}/v1/status").json()["model_version"] for replica in replicas}


def _digest(replica: ServiceProcess) -> str:
    return hashlib.sha256(httpx.get(f"{replica.address}/v1/model", timeout=60).content).hexdigest()


def _compare(project: Path, told: _Told) -> None:
    """Compare what clients were told with what is stored."""
    import psycopg

    with psycopg.connect(load_project(project).storage.database_url()) as connection:
        stored = {
            row[0]: (row[1], row[2]) for row in connection.execute("SELECT event_id, action, propensity FROM decisions")
        }
        rows = connection.execute("SELECT event_id, reward FROM outcomes WHERE kind = 'reward'")
        rewards: dict[str, float] = {row[0]: row[1] for row in rows}
        lessons = [row[0] for row in connection.execute("SELECT event_id FROM lessons WHERE kind = 'reward'")]
        versions = [row[0] for row in connection.execute("SELECT version FROM lessons ORDER BY version")]
    assert all(stored[event_id] == answer for event_id, answer in told.decisions.items()), (
        "a decision was lost or changed"
    )
    assert rewards == told.rewards, "a reward was lost, changed or invented"
    assert sorted(lessons) == sorted(rewards), "a reward was not learned once"
    assert versions == list(range(1, len(versions) + 1)), "lessons are not numbered one after the other"
