"""Census 1990: how long a person went to school, from answers to a census (Meek, Thiesson and Heckerman).

The action is iYearsch. All other columns are codes, encoded as categories; caseid, the number of the row, is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bandit_forest.encoding import ContextEncoder
from bandit_forest.worlds.datasets.reading import Table, Text, damaged, find_file, parse_ints
from bandit_forest.worlds.datasets.sources import Source

__all__ = ["files", "table"]

PART = "USCensus1990.first15317.txt.gz"
N_ACTIONS = 18


def files(source: Source, folder: Path) -> list[Path]:
    """Find the whole file, or else the part with its first rows."""
    return [find_file(source, folder, "USCensus1990.data.txt", PART)]


def table(texts: Sequence[Text]) -> Table:
    """Read a header and a code in each of 69 columns."""
    (text,) = texts
    n_header = text.content.find(b"\n") + 1
    names = text.content[:n_header].decode("latin-1").strip().split(",")
    if "caseid" not in names or "iYearsch" not in names:
        damaged(text.path, "a header with caseid and iYearsch is needed")
    rows = parse_ints(text, len(names), np.int32, start=n_header)
    columns = {name: column.astype(np.int16) for name, column in zip(names, rows.T, strict=True) if name != "caseid"}
    labels = columns.pop("iYearsch")
    if labels.min() < 0 or labels.max() >= N_ACTIONS:
        damaged(text.path, f"iYearsch of 0 to {N_ACTIONS - 1} is needed")
    return Table(
        columns=dict(columns),
        labels=labels,
        action_names=[f"iYearsch = {code}" for code in range(N_ACTIONS)],
        encoder=ContextEncoder(columns=dict.fromkeys(columns, "categorical")),
        is_part=text.path.name == PART,
    )
