"""The record of what was done to files, and the disk that follows from it."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from proofs.power.workload import ACKNOWLEDGED

__all__ = ["Change", "Disk", "Step", "read_record", "record_workload"]

_HEAD = struct.Struct("=cQIQ")
_PASSED_OVER = ("-shm", "lock", "lock-journal")  # SQLite's index is made anew, and the lock is nobody's


class Change(NamedTuple):
    """One call: "c"reate, "w"rite, "t"runcate, "s"ync, "r"ename or "u"nlink; or an acknowledgement, "a"."""

    kind: str
    path: str
    offset: int
    data: bytes


class Step(NamedTuple):
    """A change of a file, or of the folder, that has not reached the disk for sure."""

    change: Change
    inode: int


def record_workload(folder: Path, seed: int) -> list[Change]:
    """Run the workload with the recorder in front of the C library; return what it did."""
    library, log, root = folder / "recorder.so", folder / "record", folder / "data"
    source = Path(__file__).with_name("recorder.c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl", "-lpthread"], check=True)
    environment = {"LD_PRELOAD": str(library), "RECORD_ROOT": str(root.resolve()), "RECORD_LOG": str(log)}
    python_path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "proofs.power.workload", str(root.resolve()), str(seed)]
    subprocess.run(command, env=os.environ | environment | {"PYTHONPATH": python_path}, check=True)
    return list(read_record(log, str(root.resolve())))


def read_record(file: Path, root: str) -> Iterator[Change]:
    """Return the changes of a record, with names as in the folder."""
    content, at = file.read_bytes(), 0
    while at < len(content):
        kind, offset, n_path, n_data = _HEAD.unpack_from(content, at)
        at += _HEAD.size
        path = content[at : at + n_path].decode()
        data = content[at + n_path : at + n_path + n_data]
        at += n_path + n_data
        name = os.path.relpath(path, root)
        if name.endswith(_PASSED_OVER):
            continue
        if kind == b"r":
            data = os.path.relpath(data.decode(), root).encode()
        if name == ACKNOWLEDGED:
            if kind == b"w":
                yield Change("a", name, 0, data)
            continue
        yield Change(kind.decode(), name, offset, data)


@dataclass
class Disk:
    """Names and contents of files."""

    names: dict[str, int] = field(default_factory=dict)
    contents: dict[int, bytes] = field(default_factory=dict)

    def after(self, steps: Iterable[Step]) -> Disk:
        """Return the disk after some steps."""
        disk = Disk(dict(self.names), dict(self.contents))
        for step in steps:
            disk.apply(step)
        return disk

    def apply(self, step: Step) -> None:
        """Do a step."""
        kind, path, offset, data = step.change
        content = self.contents.get(step.inode, b"")
        if kind == "c":
            self.names[path] = step.inode
        elif kind == "r":
            if self.names.pop(path, None) is not None:
                self.names[data.decode()] = step.inode
        elif kind == "u":
            self.names.pop(path, None)
        elif kind == "t":
            self.contents[step.inode] = content[:offset].ljust(offset, b"\0")
        else:
            self.contents[step.inode] = content[:offset].ljust(offset, b"\0") + data + content[offset + len(data) :]

    def files(self) -> dict[str, bytes]:
        """Return the content of each name."""
        return {name: self.contents.get(inode, b"") for name, inode in sorted(self.names.items())}
