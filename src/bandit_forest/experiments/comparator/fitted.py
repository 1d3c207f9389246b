"""Fitted forests are kept in the cache folder."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from bandit_forest.experiments.comparator.models import Model
from bandit_forest.worlds.datasets import Dataset, cache_folder

__all__ = ["data_hash", "fitted_file"]

_REVISION = 1  # raise it whenever fitting or its file changes


@lru_cache(maxsize=4)
def data_hash(dataset: Dataset) -> str:
    """Return the hash of the data that a forest is fitted to."""
    digest = hashlib.sha256(f"{dataset.n_variables} {dataset.n_actions}".encode())
    digest.update(dataset.words.tobytes())
    digest.update(dataset.labels.tobytes())
    return digest.hexdigest()


def fitted_file(model: Model, dataset: Dataset) -> Path:
    """Return the file of a fitted forest in the cache folder: its name is the hash of all that it is made from."""
    key = f"{_REVISION} {model!r} {model.fitted_with} {data_hash(dataset)}"
    name = f"{dataset.name}-{type(model).__name__}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.npz"
    return cache_folder() / "comparators" / name
