"""Killing the decision service under load, again and again, and looking whether anything was lost."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from msgspec.structs import replace

from bandit_forest.service.config.project_file import load_project
from bandit_forest.service.journal.entries import DECIDE, REWARD
from bandit_forest.service.journal.files import read_entries
from bandit_forest.service.recovery.recover import open_folder, rebuild
from harness.moments import kill_in_recovery, wait_for
from harness.service_process import ServiceProcess

__all__ = ["Ledger", "LossError", "run_crashes", "write_project"]

N_CLIENTS = 6
SPECIAL = ("snapshot", "rotation", "recovery")
_FIXED = """
[actions]
names = ["a", "b", "c"]
"""
_OFFERED = """
[offered.price]
kind = "numeric"
[offered.kind]
kind = "categorical"
missing = true
"""
_PROJECT = """
[context.age]
kind = "numeric"
bins = 4
[context.city]
kind = "categorical"
values = ["Lannion", "Paris", "Rennes"]
open = true
[context.member]
kind = "boolean"
missing = true
[project]
name = "crashes"
warm_up_events = 200
[reward]
window_seconds = 3
[forest]
n_trees = 8
[storage]
folder = "data"
snapshot_events = 300
rotate_bytes = 200_000
"""


class LossError(AssertionError):
    """Something that was acknowledged is not there, or is there twice."""


@dataclass
class Ledger:
    """What the service has acknowledged."""

    decisions: dict[str, tuple[str, float]] = field(default_factory=dict)
    """Action and propensity by event."""
    rewards: dict[str, float] = field(default_factory=dict)
    repeated: int = 0
    """Requests that were sent again after a kill."""

    def copy(self) -> Ledger:
        """Return all that has been acknowledged until now."""
        return Ledger(dict(self.decisions), dict(self.rewards), self.repeated)


def write_project(folder: Path, *, is_offered: bool = False) -> Path:
    """Write a project whose snapshots and files are small, so that kills hit all of them."""
    project = folder / "crash.toml"
    project.write_text((_OFFERED if is_offered else _FIXED) + _PROJECT)
    return project


async def run_crashes(project: Path, *, kills: int, seed: int, told: Callable[[str, Ledger], object]) -> Ledger:
    """Kill the service so many times under load; after each kill, check everything that was acknowledged.

    Parameters
    ----------
    project
        The project file, as `write_project` writes it.
    kills
        How many times.
    seed
        Of the contexts and of the moments.
    told
        Is told the moment of each kill that nothing was lost in ("load" or one of `SPECIAL`), and what was
        acknowledged until then.
    """
    rng = random.Random(seed)
    ledger = Ledger()
    service = ServiceProcess(project)
    target = _Target(service.address, offers=load_project(project).offered is not None)
    clients = [asyncio.create_task(_client(target, ledger, random.Random(rng.random()), n)) for n in range(N_CLIENTS)]
    try:
        for kill in range(1, kills + 1):
            moment = SPECIAL[(kill // 10 + seed) % 3] if kill % 10 == 0 else "load"
            await _wait(rng.uniform(0.05, 1.0), clients)
            if moment in ("snapshot", "rotation"):
                seen = await asyncio.to_thread(wait_for, moment, load_project(project).storage.folder)
                moment = moment if seen else "load"
            target.serving.clear()
            service.kill()
            if moment == "recovery":
                await asyncio.to_thread(kill_in_recovery, project, rng.uniform(0.0, 0.1))
            acknowledged = ledger.copy()
            rebuilt = await asyncio.to_thread(_check_journal, project, acknowledged)
            service = await asyncio.to_thread(ServiceProcess, project)
            await _check_service(service.address, acknowledged, rebuilt, rng)
            told(moment, acknowledged)
            target.address = service.address
            target.serving.set()
    finally:
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
        service.kill()
    return ledger


class _Target:
    """Where the service is, whether events offer their actions, and whether it is there."""

    def __init__(self, address: str, *, offers: bool) -> None:
        self.address = address
        self.offers = offers
        self.serving = asyncio.Event()
        self.serving.set()


async def _wait(seconds: float, clients: list[asyncio.Task[None]]) -> None:
    """Wait, unless a client fails meanwhile."""
    done, _ = await asyncio.wait(clients, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    for client in done:
        client.result()


async def _client(target: _Target, ledger: Ledger, rng: random.Random, number: int) -> None:
    """Decide and reward without end, now and then in batches; what got no answer is asked again."""
    async with httpx.AsyncClient() as http:
        for turn in range(10**9):
            event_ids = [f"{number}-{turn}-{place}" for place in range(rng.choice((1, 1, 1, 5)))]
            events: list[dict[str, Any]] = [{"event_id": one, "context": _context(rng)} for one in event_ids]
            if target.offers:
                events = [event | {"actions": _actions(rng)} for event in events]
            for decision in await _decide(http, target, ledger, events):
                _acknowledge(ledger, decision)
            if rng.random() < 0.8:
                for event_id in event_ids:
                    await _reward(http, target, ledger, event_id, rng.choice((0.0, 0.25, 1.0)))


async def _decide(
    http: httpx.AsyncClient, target: _Target, ledger: Ledger, events: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    if target.offers:
        answers = [await _ask(http, target, ledger, "/v1/rank", event) for event in events]
        status, answer = next((one for one in answers if one[0] != 200), answers[0])
        decisions = [answer for _, answer in answers]
    elif len(events) == 1:
        status, answer = await _ask(http, target, ledger, "/v1/decide", events[0])
        decisions = [answer]
    else:
        status, answer = await _ask(http, target, ledger, "/v1/decide/batch", {"events": events})
        decisions = answer["decisions"]
    if status != 200:
        raise LossError(f"a decision was refused: {answer}")
    return decisions


async def _reward(http: httpx.AsyncClient, target: _Target, ledger: Ledger, event_id: str, reward: float) -> None:
    status, answer = await _ask(http, target, ledger, "/v1/reward", {"event_id": event_id, "reward": reward})
    if status == 200 or answer["error"]["code"] == "duplicate_reward":  # the answer to the first attempt was lost
        ledger.rewards[event_id] = reward
    elif answer["error"]["code"] != "late_reward":
        raise LossError(f"the reward of {event_id} was refused: {answer}")


def _acknowledge(ledger: Ledger, decision: dict[str, Any]) -> None:
    told = (decision["action"], decision["propensity"])
    if ledger.decisions.setdefault(decision["event_id"], told) != told:
        raise LossError(f"event {decision['event_id']} was decided twice")


async def _ask(http: httpx.AsyncClient, target: _Target, ledger: Ledger, path: str, body: Any) -> tuple[int, Any]:
    """Send a request until it is answered."""
    while True:
        await target.serving.wait()
        with suppress(httpx.TransportError):
            response = await http.post(target.address + path, json=body)
            return response.status_code, response.json()
        ledger.repeated += 1
        await asyncio.sleep(0.001)


def _context(rng: random.Random) -> dict[str, Any]:
    context = {"age": rng.gauss(40, 10), "city": rng.choice(("Lannion", "Paris", "Rennes", "Brest"))}
    return context | rng.choice(({}, {"member": None}, {"member": True}, {"member": False}))


def _actions(rng: random.Random) -> list[dict[str, Any]]:
    """Draw what an event offers: some of a thousand actions, which keep their features."""
    numbers = rng.sample(range(1000), rng.choice((1, 5, 20)))
    return [{"id": f"a{number}", "price": number % 37 / 2, "kind": "xyz"[number % 3]} for number in numbers]


def _check_journal(project: Path, ledger: Ledger) -> bytes | None:
    """Look for everything in a copy of what the kill has left; return the forest that is rebuilt from it."""
    folder = load_project(project).storage.folder
    copy = project.parent / "copy"
    shutil.copytree(folder, copy)
    try:
        decided: Counter[str] = Counter()
        rewarded: Counter[str] = Counter()
        for entry in read_entries(copy):
            if entry.kind == DECIDE and entry.event_id is not None:
                decided[entry.event_id] += 1
                told = ledger.decisions.get(entry.event_id)
                if told is not None and told != (entry.action, entry.propensity):
                    raise LossError(f"event {entry.event_id} was told {told}, and the journal has {entry}")
            elif entry.kind == REWARD and entry.event_id is not None:
                rewarded[entry.event_id] += 1
                if ledger.rewards.get(entry.event_id, entry.reward) != entry.reward:
                    raise LossError(f"event {entry.event_id} has another reward in the journal: {entry}")
        for name, acknowledged, found in (
            ("decision", ledger.decisions, decided),
            ("reward", ledger.rewards, rewarded),
        ):
            if missing := acknowledged.keys() - found.keys():
                raise LossError(f"{len(missing)} {name}s were lost, such as that of {min(missing)}")
            if twice := [event_id for event_id, count in found.items() if count > 1]:
                raise LossError(f"{len(twice)} {name}s are there twice, such as that of {min(twice)}")
        return _rebuilt(project, copy)
    finally:
        shutil.rmtree(copy)


def _rebuilt(project: Path, folder: Path) -> bytes | None:
    """Return the saved bandit that a whole journal makes; None while the features are learned."""
    loaded = load_project(project)
    here = replace(loaded, storage=replace(loaded.storage, folder=folder))
    learner = rebuild(open_folder(here)).learner
    return None if learner.model.warm_up_left else learner.to_bytes()


async def _check_service(address: str, ledger: Ledger, rebuilt: bytes | None, rng: random.Random) -> None:
    """Look whether the restarted service has the rebuilt forest, and answers for what was acknowledged."""
    async with httpx.AsyncClient(base_url=address) as http:
        model = await http.get("/v1/model")
        if (model.content if model.status_code == 200 else None) != rebuilt:
            raise LossError("the recovered forest is not the one rebuilt from the journal")
        for event_id in rng.sample(sorted(ledger.decisions), min(20, len(ledger.decisions))):
            event = (await http.get(f"/v1/explain/{event_id}")).json()
            if (event["action"], event["propensity"]) != ledger.decisions[event_id]:
                raise LossError(f"event {event_id} has another decision after the restart: {event}")
            if event_id in ledger.rewards and event["reward"] != ledger.rewards[event_id]:
                raise LossError(f"event {event_id} has lost its reward: {event}")
