"""Reading UCI's files: finding them by name, uncompressing and hashing their text, parsing tables of ints."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import BanditForestError, DamagedFileError
from bandit_forest.worlds.datasets.sources import Source

__all__ = ["MissingDataError", "Table", "Text", "damaged", "find_file", "parse_ints", "read_text"]

_ANYTHING = re.compile(rb"\S")


class MissingDataError(BanditForestError, FileNotFoundError):
    """A file of a data set is not in the data folder; the message says how to get it."""


@dataclass(frozen=True, kw_only=True)
class Text:
    """The text of one file, uncompressed."""

    path: Path
    content: bytes
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Table:
    """A data set as its files say it, before encoding."""

    columns: dict[str, NDArray[Any]]
    labels: NDArray[np.int16]
    """The rewarded action of each row, -1 where none is."""
    action_names: Sequence[str]
    encoder: ContextEncoder
    """Encoder of the columns; not yet fitted."""
    is_part: bool = False
    """Whether these are only the first rows of the whole."""


def find_file(source: Source, folder: Path, *names: str) -> Path:
    """Return the first of these files that exists, or refuse with how to get it."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise MissingDataError(
        f"{source.title} needs the file {' or '.join(names)}, which is not in {folder}. "
        f"Get it with: bandit-forest data fetch {source.name} --data {folder} (or unzip {source.address} there)."
    )


def read_text(path: Path) -> Text:
    """Read a file, uncompressing it when it is compressed."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        try:
            content = gzip.decompress(content)
        except (EOFError, OSError, zlib.error) as error:
            damaged(path, str(error))
    return Text(path=path, content=content, sha256=hashlib.sha256(content).hexdigest())


def parse_ints(text: Text, n_columns: int, dtype: type[np.integer[Any]], *, start: int = 0) -> NDArray[Any]:
    """Parse lines of comma-separated ints, one row per line, from a position in the text on."""
    if _ANYTHING.search(text.content, start) is None:
        damaged(text.path, "it has no rows")
    lines = io.BytesIO(text.content)
    lines.seek(start)
    try:
        table = np.loadtxt(lines, dtype=dtype, delimiter=",", comments=None, ndmin=2)
    except (ValueError, OverflowError) as error:
        damaged(text.path, str(error))
    if table.shape[1] != n_columns:
        damaged(text.path, f"rows of {n_columns} numbers are needed, there are {table.shape[1]}")
    return table


def damaged(path: Path, why: str) -> NoReturn:
    """Refuse a file whose content is not what its name says."""
    raise DamagedFileError(f"{path} cannot be read: {why}. Remove it and get it again.")
