"""Files of lines that are safe from interruptions: they grow by whole lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["appending", "read_lines"]


@contextmanager
def appending(path: Path) -> Iterator[BinaryIO]:
    """Open a file of lines for appending, while all other processes that do so wait.

    A last line without an end is cut off first: the process that wrote it was stopped.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as stream:
        _lock(stream)
        stream.seek(0)
        content = stream.read()
        stream.truncate(content.rfind(b"\n") + 1)
        yield stream
        stream.flush()
        os.fsync(stream.fileno())


def read_lines(path: Path) -> list[bytes]:
    r"""Return the lines of a file that have an end; none where there is no file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "lines"
    >>> _ = path.write_bytes(b"whole\nnot wh")
    >>> read_lines(path)
    [b'whole']
    """
    try:
        return path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return []


def _lock(stream: BinaryIO) -> None:
    """Wait until no other process has locked the file; closing it ends the lock."""
    if sys.platform == "win32":
        import msvcrt

        stream.seek(2**40)  # a byte that no file has, so that everybody may read
        msvcrt.locking(stream.fileno(), msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(stream.fileno(), fcntl.LOCK_EX)
