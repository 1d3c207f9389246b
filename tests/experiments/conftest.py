"""A small Cover Type, and a cache folder of each test's own."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from bandit_forest.worlds.datasets import Dataset, load


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("BANDIT_FOREST_DATA", raising=False)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with a Cover Type of 400 rows, in which the first binary columns tell the class."""
    draws = np.random.default_rng(1)
    labels = draws.integers(1, 8, size=(400, 1))
    flags = draws.integers(0, 2, size=(400, 44))
    flags[:, :3] = labels >> np.arange(3) & 1
    rows = np.hstack([draws.integers(0, 9, size=(400, 10)), flags, labels])
    text = "".join(",".join(map(str, row)) + "\n" for row in rows.tolist())
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "covtype.data.gz").write_bytes(gzip.compress(text.encode()))
    return folder


@pytest.fixture
def dataset(data: Path) -> Dataset:
    return load("covtype", data)


@pytest.fixture
def unlabelled(dataset: Dataset) -> Dataset:
    """The same, with many rows that reward no action and a class that never occurs."""
    labels = np.where(dataset.labels == 2, -1, np.where(np.arange(dataset.n_rows) % 2, -1, dataset.labels))
    return Dataset(**(vars(dataset) | {"labels": labels}))
