"""Snapshots: the state at one entry of the journal, so that a start need not replay everything. Never pickle.

A snapshot is two files, named by the number of its last entry: a saved bandit, and lines of JSON with all the rest.
Each has a checksum; the second knows the first's, is written last, and makes the snapshot.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bandit_forest import archive
from bandit_forest.errors import DamagedFileError
from bandit_forest.service.config.project import Project
from bandit_forest.service.domain.bandits import bandit_from_bytes
from bandit_forest.service.domain.events import Event
from bandit_forest.service.domain.state import State

__all__ = [
    "SnapshotData",
    "files_of",
    "load_snapshot",
    "pack_snapshot",
    "remove_leftovers",
    "snapshot_files",
    "take_snapshot",
    "unpack_snapshot",
    "write_snapshot",
]

FORMAT = "bandit-forest snapshot"
VERSION = 4
_KEPT = 2
_CHUNK = 500  # events turned into JSON at a time, so that decisions get their turn between
_BANDIT = ".bandit"
_BANDITS = (_BANDIT, ".bf")  # the second of earlier versions


class SnapshotData(NamedTuple):
    """A state as it was: nothing in it changes any more, so it can be written by a thread."""

    header: dict[str, Any]
    bandit: tuple[dict[str, Any], bytes]
    events: tuple[tuple[str, list[Event]], ...]


def take_snapshot(state: State, engine: str = "") -> SnapshotData:
    """Take a state; this is all that holds up decisions."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "engine": engine,
        "seq": state.seq,
        "time": state.time,
        "file_actions": state.file_actions,
        "statistics": msgspec.json.decode(msgspec.json.encode(state.statistics.to_json())),  # a copy
        "recent": list(state.recent),
    }
    events = (("waiting", list(state.waiting.values())), ("remembered", list(state.remembered.values())))
    return SnapshotData(header, state.learner.parts(), events)


def write_snapshot(taken: SnapshotData, folder: Path) -> None:
    """Write a snapshot whole or not at all, and remove those that are too old."""
    name = folder / f"snapshot-{taken.header['seq']:015d}"
    rest, bandit = pack_snapshot(taken)
    archive.write(name.with_suffix(_BANDIT), bandit)
    archive.write(name.with_suffix(".json"), rest)
    for old in snapshot_files(folder)[:-_KEPT]:
        for file in reversed(files_of(old)):
            file.unlink(missing_ok=True)


def pack_snapshot(taken: SnapshotData) -> tuple[bytes, bytes]:
    """Return the content of the two files of a snapshot: lines of JSON, and the saved bandit."""
    bandit = archive.pack(*taken.bandit)
    header = taken.header | {"bandit": hashlib.sha256(bandit).hexdigest()}
    body = b"".join(line + b"\n" for line in _lines(header, taken))
    return body + hashlib.sha256(body).hexdigest().encode(), bandit


def snapshot_files(folder: Path) -> list[Path]:
    """Return the snapshots of a folder, oldest first."""
    return sorted(folder.glob("snapshot-*.json"))


def files_of(snapshot: Path) -> list[Path]:
    """Return the files of a snapshot, the one that makes it last.

    Written and copied in this order and removed in the other, a snapshot that is seen is whole, also after a crash.
    """
    bandits = (snapshot.with_suffix(suffix) for suffix in _BANDITS)
    return [*(file for file in bandits if file.exists()), snapshot]


def load_snapshot(file: Path, project: Project, engine: str) -> State:
    """Read a snapshot, or refuse it when it is damaged, or not of this version of the package."""
    return unpack_snapshot(file.read_bytes(), file.with_suffix(_BANDIT).read_bytes, str(file), project, engine)


def unpack_snapshot(rest: bytes, read_bandit: Callable[[], bytes], name: str, project: Project, engine: str) -> State:
    """Return the state of a snapshot from the two files that `pack_snapshot` has made, or refuse it."""
    lines = _checked_lines(rest, name)
    try:
        header = lines[0]
        if (header["format"], header["version"], header.get("engine")) != (FORMAT, VERSION, engine):
            raise DamagedFileError(f"'{name}' was not written by this version of the package.")
        bandit = read_bandit()
        if hashlib.sha256(bandit).hexdigest() != header["bandit"]:
            raise DamagedFileError(f"The bandit of '{name}' is not the file that it was written with.")
        state = State(project, bandit_from_bytes(project, bandit, name))
        state.seq, state.time, state.file_actions = header["seq"], header["time"], header["file_actions"]
        state.statistics.restore(header["statistics"])
        state.recent.extend(header["recent"])
        for kind, items in lines[1:]:
            getattr(state, kind).update((item[0], Event.from_json(item)) for item in items)
    except (AttributeError, KeyError, OSError, TypeError, ValueError) as error:
        if isinstance(error, DamagedFileError):
            raise
        raise DamagedFileError(f"'{name}' is damaged: {str(error).rstrip('.')}.") from error
    return state


def remove_leftovers(folder: Path) -> None:
    """Remove what a killed process was writing, and bandits without their second file."""
    for leftover in folder.glob(".*.tmp"):
        leftover.unlink()
    for suffix in _BANDITS:
        for file in folder.glob(f"snapshot-*{suffix}"):
            if not file.with_suffix(".json").exists():
                file.unlink()


def _lines(header: dict[str, Any], taken: SnapshotData) -> Iterator[bytes]:
    yield msgspec.json.encode(header)
    for kind, items in taken.events:
        for start in range(0, len(items), _CHUNK):
            yield msgspec.json.encode([kind, [item.to_json() for item in items[start : start + _CHUNK]]])


def _checked_lines(content: bytes, name: str) -> list[Any]:
    *lines, digest = content.split(b"\n")
    body = b"".join(line + b"\n" for line in lines)
    if not lines or hashlib.sha256(body).hexdigest().encode() != digest:
        raise DamagedFileError(f"'{name}' is damaged: its checksum does not fit its content.")
    return [msgspec.json.decode(line) for line in lines]
