"""Adult: which occupation a person has, from answers to a census (Becker and Kohavi 1996).

The action is the occupation. A row of unknown occupation rewards no action.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.encoding import ContextEncoder
from bandit_forest.worlds.datasets.reading import Table, Text, damaged, find_file
from bandit_forest.worlds.datasets.sources import Source

__all__ = ["files", "table"]

COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)
NUMERIC = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
ACTIONS = (
    "Adm-clerical",
    "Armed-Forces",
    "Craft-repair",
    "Exec-managerial",
    "Farming-fishing",
    "Handlers-cleaners",
    "Machine-op-inspct",
    "Other-service",
    "Priv-house-serv",
    "Prof-specialty",
    "Protective-serv",
    "Sales",
    "Tech-support",
    "Transport-moving",
)
UNKNOWN = "?"


def files(source: Source, folder: Path) -> list[Path]:
    """Find both parts."""
    return [find_file(source, folder, "adult.data"), find_file(source, folder, "adult.test")]


def table(texts: Sequence[Text]) -> Table:
    """Read the rows of both parts, the training part first."""
    rows = [row for text in texts for row in _rows(text)]
    if not rows:
        damaged(texts[0].path, "it has no rows")
    columns: dict[str, NDArray[Any]] = {}
    for name, values in zip(COLUMNS, zip(*rows, strict=True), strict=True):
        if name in NUMERIC:
            columns[name] = np.array(values, dtype=np.int64)
        else:
            columns[name] = np.array([None if value == UNKNOWN else value for value in values], dtype=object)
    indices = {action: index for index, action in enumerate(ACTIONS)} | {None: -1}
    labels = np.array([indices[action] for action in columns.pop("occupation")], dtype=np.int16)
    kinds = {name: "numeric" if name in NUMERIC else "categorical" for name in columns}
    return Table(columns=columns, labels=labels, action_names=ACTIONS, encoder=ContextEncoder(n_bins=5, columns=kinds))


def _rows(text: Text) -> Iterator[list[str]]:
    """Return the rows of one part, without its comment, its blank lines and the dots after its labels."""
    lines = text.content.decode("latin-1").splitlines()
    for number, row in enumerate(csv.reader(lines, skipinitialspace=True), start=1):
        if not row or row[0].startswith("|"):
            continue
        if len(row) != len(COLUMNS):
            damaged(text.path, f"rows of {len(COLUMNS)} values are needed, line {number} has {len(row)}")
        named = dict(zip(COLUMNS, row, strict=True))
        if named["occupation"] not in (*ACTIONS, UNKNOWN):
            damaged(text.path, f"line {number} has an occupation that Adult does not know, {named['occupation']!r}")
        if not all(named[column].isdecimal() for column in NUMERIC):
            damaged(text.path, f"line {number} has a text where a number is needed")
        named["income"] = named["income"].removesuffix(".")
        yield list(named.values())
