"""Files that appear whole or not at all, whenever the process that writes them is stopped."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["remove_parts", "replacing", "write_text"]

_PART = ".part"


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that gets its name once it is whole; until then it ends in `.part`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> with replacing(path) as stream:
    ...     _ = stream.write(b"n_events")
    ...     path.exists()
    False
    >>> path.read_bytes()
    b'n_events'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}{_PART}")
    try:
        with part.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with replacing(path) as stream:
        stream.write(text.encode())


def remove_parts(folder: Path) -> None:
    """Remove what processes that were killed have left unfinished; another run's may still be at work."""
    for part in folder.glob(f".*.*{_PART}"):
        process = part.name.split(".")[-2]
        if process.isdecimal() and not _is_running(int(process)):
            part.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    if sys.platform == "win32":  # has no harmless signal to ask with
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # it is somebody else's
        pass
    return True
