"""Cover Type: which trees grow on a patch of forest, from its map (Blackard 1998)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bandit_forest.encoding import Categorical, Column, ContextEncoder
from bandit_forest.worlds.datasets.reading import Table, Text, damaged, find_file, parse_ints
from bandit_forest.worlds.datasets.sources import Source

__all__ = ["files", "table"]

NUMERIC = (
    "Elevation",
    "Aspect",
    "Slope",
    "Horizontal_Distance_To_Hydrology",
    "Vertical_Distance_To_Hydrology",
    "Horizontal_Distance_To_Roadways",
    "Hillshade_9am",
    "Hillshade_Noon",
    "Hillshade_3pm",
    "Horizontal_Distance_To_Fire_Points",
)
FLAGS = (*(f"Wilderness_Area{area}" for area in range(1, 5)), *(f"Soil_Type{soil}" for soil in range(1, 41)))
ACTIONS = (
    "Spruce/Fir",
    "Lodgepole Pine",
    "Ponderosa Pine",
    "Cottonwood/Willow",
    "Aspen",
    "Douglas-fir",
    "Krummholz",
)


def files(source: Source, folder: Path) -> list[Path]:
    """Find the file, compressed or not."""
    return [find_file(source, folder, "covtype.data.gz", "covtype.data")]


def table(texts: Sequence[Text]) -> Table:
    """Read 10 numbers, 44 flags and a class of 1 to 7 a row."""
    (text,) = texts
    names = (*NUMERIC, *FLAGS)
    rows = parse_ints(text, len(names) + 1, np.int16)
    labels = rows[:, -1] - 1
    if labels.min() < 0 or labels.max() >= len(ACTIONS):
        damaged(text.path, f"classes of 1 to {len(ACTIONS)} are needed")
    kinds: dict[str, str | Column] = dict.fromkeys(NUMERIC, "numeric") | dict.fromkeys(
        FLAGS, Categorical(values=(False, True))
    )
    return Table(
        columns={name: np.ascontiguousarray(column) for name, column in zip(names, rows.T, strict=False)},
        labels=labels,
        action_names=ACTIONS,
        encoder=ContextEncoder(n_bins=5, columns=kinds),
    )
