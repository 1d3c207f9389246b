"""Data sets as Parquet files: one row per event, `label` the right action, all other columns features."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Dataset", "dataset_sizes", "read_dataset"]

LABEL = "label"


class Dataset(NamedTuple):
    """The rows of one set."""

    name: str
    columns: dict[str, NDArray[Any]]
    """Features by name: numbers (NaN is missing) or texts (None is missing)."""
    labels: NDArray[np.intp]
    """The right action of each row."""
    n_actions: int


def dataset_sizes(folder: Path) -> dict[str, int]:
    """Return the number of rows of each set in a folder, by name."""
    from pyarrow.parquet import read_metadata

    return {path.name.removesuffix(".parquet"): read_metadata(path).num_rows for path in folder.glob("*.parquet")}


def read_dataset(folder: Path, name: str) -> Dataset:
    """Return one set of a folder; actions are the labels in alphabetical order."""
    from pyarrow.parquet import read_table

    table = read_table(folder / f"{name}.parquet")
    columns = {column: table[column].to_numpy() for column in table.column_names}
    values, labels = np.unique(columns.pop(LABEL).astype(str), return_inverse=True)
    return Dataset(name, columns, labels.astype(np.intp), len(values))
