"""Encoded data sets kept in the cache folder, so that the second load takes a moment."""

from __future__ import annotations

import contextlib
import hashlib
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bandit_forest.atomic import replacing
from bandit_forest.encoding import ContextEncoder
from bandit_forest.worlds.datasets.dataset import Dataset
from bandit_forest.worlds.datasets.folders import cache_folder

__all__ = ["cache_file", "read_cache", "write_cache"]

REVISION = 1  # raise it whenever reading or encoding changes


def cache_file(name: str, files: Sequence[Path]) -> Path:
    """Return the path of an encoded data set: its name has the hash of everything that it is made from."""
    digest = hashlib.sha256(f"{REVISION} {name}".encode())
    for path in files:
        with path.open("rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        digest.update(f" {path.name} {content}".encode())
    return cache_folder() / "encoded" / f"{name}-{digest.hexdigest()[:32]}.npz"


def read_cache(path: Path) -> Dataset | None:
    """Read an encoded data set, or give None where it is absent or damaged."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            about = json.loads(arrays["about"].tobytes())
            words, labels = arrays["words"], arrays["labels"].astype(np.int64)
        return Dataset(
            name=about["name"],
            description=about["description"],
            words=words,
            labels=labels,
            action_names=tuple(about["action_names"]),
            encoder=ContextEncoder.from_json(about["encoder"]),
            files=about["files"],
        )
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
        return None


def write_cache(path: Path, dataset: Dataset) -> None:
    """Write an encoded data set in one piece; a folder that cannot be written to costs only the next load's time."""
    about = {
        "name": dataset.name,
        "description": dataset.description,
        "action_names": dataset.action_names,
        "encoder": dataset.encoder.to_json(),
        "files": dict(dataset.files),
    }
    text = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as stream:
            np.savez(stream, about=text, words=dataset.words, labels=dataset.labels.astype(np.int16))
