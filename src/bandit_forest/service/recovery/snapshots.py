"""Snapshots: the state at one entry of the journal, so that a start need not replay everything. Never pickle.

A snapshot is two files, named by the number of its last entry: a saved forest (none while bins are learned), and lines
of JSON with all the rest. Each ends with a checksum; the second is written last, and makes the snapshot.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from bandit_forest import archive
from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import DamagedFileError
from bandit_forest.forest import BanditForest
from bandit_forest.service.config.project import Project
from bandit_forest.service.domain.events import Event
from bandit_forest.service.domain.model import Lesson
from bandit_forest.service.domain.state import State

__all__ = ["Taken", "load_snapshot", "remove_leftovers", "snapshot_files", "take_snapshot", "write_snapshot"]

FORMAT = "bandit-forest snapshot"
VERSION = 1
_KEPT = 2
_CHUNK = 500  # events turned into JSON at a time, so that decisions get their turn between


class Taken(NamedTuple):
    """A state as it was: nothing in it changes any more, so it can be written by a thread."""

    header: dict[str, Any]
    forest: tuple[dict[str, Any], bytes] | None
    events: tuple[tuple[str, list[Any]], ...]


def take_snapshot(state: State) -> Taken:
    """Take a state; this is all that holds up decisions."""
    model = state.model
    header = {
        "format": FORMAT,
        "version": VERSION,
        "seq": state.seq,
        "time": state.time,
        "actions": state.actions.to_json(),
        "tally": orjson.loads(orjson.dumps(state.tally.to_json())),  # a copy
        "recent": list(state.recent),
        "encoder": model.reader.encoder.to_json() if model.reader.encoder else None,
        "warm_up_draws": model.warm_up_draws,
    }
    events = (
        ("waiting", list(state.waiting.values())),
        ("remembered", list(state.remembered.values())),
        ("contexts", list(model.warm_up_contexts)),
        ("lessons", list(model.warm_up_lessons)),
    )
    return Taken(header, None if model.forest is None else model.forest._to_parts(), events)


def write_snapshot(taken: Taken, folder: Path) -> None:
    """Write a snapshot whole or not at all, and remove those that are too old."""
    name = folder / f"snapshot-{taken.header['seq']:015d}"
    if taken.forest is not None:
        archive.write(name.with_suffix(".bf"), archive.pack(*taken.forest))
    body = b"".join(line + b"\n" for line in _lines(taken))
    archive.write(name.with_suffix(".json"), body + hashlib.sha256(body).hexdigest().encode())
    for old in snapshot_files(folder)[:-_KEPT]:
        old.unlink(missing_ok=True)
        old.with_suffix(".bf").unlink(missing_ok=True)


def snapshot_files(folder: Path) -> list[Path]:
    """Give the snapshots of a folder, oldest first."""
    return sorted(folder.glob("snapshot-*.json"))


def load_snapshot(file: Path, project: Project) -> State:
    """Read a snapshot, or refuse it when it is damaged."""
    lines = _checked_lines(file)
    try:
        header, state = lines[0], State(project)
        if (header["format"], header["version"]) != (FORMAT, VERSION):
            raise DamagedFileError(f"'{file}' is no snapshot that this package can read.")
        _restore(state, header, file)
        for kind, items in lines[1:]:
            _restore_items(state, kind, items)
    except (AttributeError, KeyError, OSError, TypeError, ValueError) as error:
        raise DamagedFileError(f"'{file}' is damaged: {error}.") from error
    return state


def remove_leftovers(folder: Path) -> None:
    """Remove what a killed process was writing, and forests without their second file."""
    for leftover in folder.glob(".*.tmp"):
        leftover.unlink()
    for forest in folder.glob("snapshot-*.bf"):
        if not forest.with_suffix(".json").exists():
            forest.unlink()


def _lines(taken: Taken) -> Iterator[bytes]:
    yield orjson.dumps(taken.header)
    for kind, items in taken.events:
        for start in range(0, len(items), _CHUNK):
            chunk = items[start : start + _CHUNK]
            yield orjson.dumps([kind, [item if isinstance(item, dict) else item.to_json() for item in chunk]])


def _checked_lines(file: Path) -> list[Any]:
    *lines, digest = file.read_bytes().split(b"\n")
    body = b"".join(line + b"\n" for line in lines)
    if not lines or hashlib.sha256(body).hexdigest().encode() != digest:
        raise DamagedFileError(f"'{file}' is damaged: its checksum does not fit its content.")
    return [orjson.loads(line) for line in lines]


def _restore(state: State, header: dict[str, Any], file: Path) -> None:
    state.seq, state.time = header["seq"], header["time"]
    state.actions.restore(header["actions"])
    state.tally.restore(header["tally"])
    state.recent.extend(header["recent"])
    if header["encoder"] is not None:
        encoder = ContextEncoder.from_json(header["encoder"])
        state.model.restore(BanditForest.load(file.with_suffix(".bf")), encoder)
    state.model.warm_up_draws = header["warm_up_draws"]


def _restore_items(state: State, kind: str, items: list[Any]) -> None:
    if kind in ("waiting", "remembered"):
        events = map(Event.from_json, items)
        getattr(state, kind).update((event.event_id, event) for event in events)
    elif kind == "contexts":
        state.model.warm_up_contexts.extend(items)
    else:
        state.model.warm_up_lessons.extend(Lesson(*item) for item in items)
