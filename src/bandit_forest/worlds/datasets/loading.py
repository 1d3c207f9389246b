"""From UCI's files to encoded data sets."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from bandit_forest.worlds.datasets import adult, census1990, covtype
from bandit_forest.worlds.datasets.caching import cache_file, read_cache, write_cache
from bandit_forest.worlds.datasets.dataset import Dataset
from bandit_forest.worlds.datasets.folders import data_folder
from bandit_forest.worlds.datasets.reading import Table, Text, read_text
from bandit_forest.worlds.datasets.sources import Source, source
from bandit_forest.worlds.packing import pack

__all__ = ["load"]

_READERS = {"covtype": covtype, "adult": adult, "census1990": census1990}
_ROWS_AT_ONCE = 65_536


def load(name: str, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a data set, encoded: numbers in five bins of equal frequency, categories with one variable per value.

    The encoded rows are kept in the user's cache folder, under a name that has the hash of the files, so that the
    next load takes a moment.

    Parameters
    ----------
    name
        'covtype', 'adult' or 'census1990'.
    folder
        Folder of UCI's files, under their own names; by default the environment variable `BANDIT_FOREST_DATA`, or else
        the folder `data` in the user's cache folder.
    """
    origin = source(name, "load")
    reader = _READERS[name]
    paths = reader.files(origin, data_folder(folder))
    kept = cache_file(name, paths)
    dataset = read_cache(kept)
    if dataset is None:
        texts = [read_text(path) for path in paths]
        dataset = _encode(origin, texts, reader.table(texts))
        write_cache(kept, dataset)
    return dataset


def _encode(origin: Source, texts: Sequence[Text], table: Table) -> Dataset:
    encoder = table.encoder.fit(table.columns)
    n_rows = len(table.labels)
    pieces = [
        pack(encoder.transform({name: column[start : start + _ROWS_AT_ONCE] for name, column in table.columns.items()}))
        for start in range(0, n_rows, _ROWS_AT_ONCE)  # a matrix of bytes of the whole would need gigabytes
    ]
    size = f"{n_rows:,} rows, {encoder.n_variables} variables, {len(table.action_names)} actions"
    return Dataset(
        name=f"{origin.name}-first{n_rows}" if table.is_part else origin.name,
        description=f"{origin.title} (UCI), {_provenance(origin, texts, n_rows if table.is_part else None)}: {size}",
        words=np.concatenate(pieces),
        labels=table.labels.astype(np.int64),
        action_names=tuple(table.action_names),
        encoder=encoder,
        files={text.path.name: text.sha256 for text in texts},
    )


def _provenance(origin: Source, texts: Sequence[Text], n_first: int | None) -> str:
    """Return a sentence: which files were read, and whether they are the published ones."""
    names = " and ".join(text.path.name for text in texts)
    if n_first is not None:
        return f"only the first {n_first:,} rows, from {names}"
    published = {text.sha256 for text in texts} == set(origin.files.values())
    return f"whole, from {names}" if published else f"NOT as published by UCI, from {names}"
