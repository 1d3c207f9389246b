"""Power cuts: every state that a recorded run may leave on the disk recovers to a prefix with all acknowledged entries.

A run of the service is recorded call by call; then each loss of what was not synchronised that a file system may cause
is put on a disk in memory, and the service recovers from it.
"""

from __future__ import annotations

import hashlib
import random
import shutil
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from bandit_forest.service.journal.entries import Entry
from bandit_forest.service.journal.files import read_entries
from bandit_forest.service.recovery.recover import open_folder, rebuild, recover
from bandit_forest.service.recovery.start import Service
from bandit_forest.service.recovery.verify import verify
from proofs.power.record import record_workload
from proofs.power.states import CrashState, crash_states
from proofs.power.workload import make_project

__all__ = ["LostError", "run_part"]

_MEMORY = Path("/dev/shm")
_STARTED = 25  # of so many states, one is also started and written on


class LostError(AssertionError):
    """A state did not recover to a prefix that contains everything acknowledged."""


def run_part(part: int, *, most_states: int | None = None) -> dict[str, Any]:
    """Record a run, and recover from every state that a power cut may leave."""
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as name:
        folder = Path(name)
        changes = record_workload(folder, seed=part)
        expected = list(read_entries(folder / "data"))
        n_states = n_started = 0
        states = _unique(crash_states(changes, random.Random(part)))
        for state in islice(states, most_states):
            is_started = n_states % _STARTED == 0
            _check(state, folder / "state", expected, is_started=is_started)
            n_states, n_started = n_states + 1, n_started + is_started
    return {
        "changes": len(changes),
        "entries": len(expected),
        "states": n_states,
        "states_started": n_started,
        "lost": 0,
    }


def _unique(states: Iterator[CrashState]) -> Iterator[CrashState]:
    seen: set[bytes] = set()
    for state in states:
        digest = hashlib.sha256(b"%d" % state.acknowledged)
        for name, content in state.files.items():
            digest.update(hashlib.sha256(name.encode() + b"\0" + content).digest())
        if digest.digest() not in seen:
            seen.add(digest.digest())
            yield state


def _check(state: CrashState, folder: Path, expected: list[Entry], *, is_started: bool) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in state.files.items():
        (folder / name).write_bytes(content)
    project = make_project(folder)
    found = list(read_entries(folder))
    if found != expected[: len(found)] or len(found) < state.acknowledged:
        raise LostError(
            f"{len(found)} entries are there, {state.acknowledged} were acknowledged: {sorted(state.files)}"
        )
    opened = open_folder(project)
    recovered, whole = recover(opened).state, rebuild(opened)
    if recovered.bandit.to_bytes() != whole.bandit.to_bytes() or recovered.waiting != whole.waiting:
        raise LostError(f"a start recovers another state than the journal has, at entry {len(found)}")
    if is_started:
        Service.start(project).stop()
        verify(project)
