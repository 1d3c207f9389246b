"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["replacing", "write_text"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that gets its name when the block ends; when the block fails, nothing is left behind.

    A reader, or a crash at any moment, meets the old file or the new one. Devices and pipes, as `/dev/stdout`, are
    written as they are.

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
    if _is_device(Path(path)):
        with Path(path).open("wb") as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as stream:
            if target.exists():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.filename == str(temporary):
            error.filename = os.fspath(path)  # the name that the caller knows
        raise
    _sync_folder(target.parent)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, whole or not at all."""
    with replacing(path) as stream:
        stream.write(text.encode())


def _is_device(path: Path) -> bool:
    """Return whether a name stands for something that must not be replaced by a file."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _sync_folder(folder: Path) -> None:
    """Make the new name of a file durable, where the system lets a folder be synchronised."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
