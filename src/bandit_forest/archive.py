"""A saved forest as a file: magic, format version, JSON header, raw arrays, checksum. Never pickle."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from pathlib import Path
from typing import Any

from bandit_forest.atomic import replacing
from bandit_forest.errors import DamagedFileError

__all__ = ["FORMAT_VERSION", "pack", "read", "unpack", "write"]

MAGIC = b"\x89BANDIT-FOREST\r\n\x1a\n"
FORMAT_VERSION = 2  # version 1 is read too: forests that grow by elimination have not changed
_PREFIX = struct.Struct("<IQQ")  # format version, bytes of the header, bytes of the arrays
_CHECKSUM_BYTES = hashlib.sha256().digest_size


def pack(header: dict[str, Any], arrays: bytes) -> bytes:
    """Put a header and arrays into the bytes of a file."""
    text = json.dumps(header, sort_keys=True).encode()
    body = MAGIC + _PREFIX.pack(FORMAT_VERSION, len(text), len(arrays)) + text + arrays
    return body + hashlib.sha256(body).digest()


def unpack(data: bytes, name: str) -> tuple[dict[str, Any], bytes]:
    """Take a header and arrays out of the bytes of a file called `name`, or refuse it.

    Examples
    --------
    >>> unpack(pack({"n_trees": 3}, b"arrays"), "forest.bf")
    ({'n_trees': 3}, b'arrays')
    >>> unpack(b"GIF89a", "forest.bf")
    Traceback (most recent call last):
        ...
    bandit_forest.errors.DamagedFileError: 'forest.bf' is not a saved forest.
    """
    start = len(MAGIC) + _PREFIX.size
    if data[: len(MAGIC)] != MAGIC[: len(data)]:
        raise DamagedFileError(f"'{name}' is not a saved forest.")
    if len(data) < start:
        raise DamagedFileError(f"'{name}' is truncated: {len(data)} bytes hold no header.")
    version, n_header, n_arrays = _PREFIX.unpack(data[len(MAGIC) : start])
    if version > FORMAT_VERSION and _is_whole(data):
        raise DamagedFileError(
            f"'{name}' has format version {version}, and this package reads up to version {FORMAT_VERSION}: "
            "install a newer bandit-forest."
        )
    end = start + n_header + n_arrays
    if len(data) < end + _CHECKSUM_BYTES:
        raise DamagedFileError(f"'{name}' is truncated: {len(data)} of {end + _CHECKSUM_BYTES} bytes are there.")
    if len(data) > end + _CHECKSUM_BYTES or not _is_whole(data):
        raise DamagedFileError(f"'{name}' is damaged: its checksum does not fit its content.")
    if not 1 <= version <= FORMAT_VERSION:
        raise DamagedFileError(f"'{name}' has the unknown format version {version}.")
    try:
        header = json.loads(data[start : start + n_header])
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"'{name}' is damaged: its header is not JSON.") from error
    if not isinstance(header, dict):
        raise DamagedFileError(f"'{name}' is damaged: its header is not an object.")
    return header, data[start + n_header : end]


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as stream:
        stream.write(data)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], bytes]:
    """Read a file that `write` has written."""
    return unpack(Path(path).read_bytes(), os.fspath(path))


def _is_whole(data: bytes) -> bool:
    return hashlib.sha256(data[:-_CHECKSUM_BYTES]).digest() == data[-_CHECKSUM_BYTES:]
