"""Tables whose columns are known: our own export, and the Open Bandit Dataset."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path

from bandit_forest.evaluation.readers.columns import Columns
from bandit_forest.evaluation.readers.tables import CsvTable, ParquetTable, open_parquet, read_csv, read_parquet

__all__ = ["read_export", "read_open_bandit"]


def read_export(
    path: str | os.PathLike[str],
    *,
    actions: Sequence[str] | None = None,
    reward_range: tuple[float, float] = (0.0, 1.0),
) -> ParquetTable:
    """Return the log in a Parquet file of `bandit-forest export` or `write_parquet`.

    Parameters
    ----------
    path
        The file.
    actions
        Names of the actions; those of the file when None, which lacks actions that were never taken.
    reward_range
        The least and the largest possible reward, as in the project file.
    """
    names = _parquet_names(path)
    columns = Columns(
        available="available_actions" if "available_actions" in names else None,
        time="time" if "time" in names else None,
        version="model_version" if "model_version" in names else None,
        event_id="event_id" if "event_id" in names else None,
        probabilities="probabilities" if "probabilities" in names else None,
        feature_prefix="context.",
        variable_prefix="variable.",
    )
    return read_parquet(path, columns=columns, actions=actions, reward_range=reward_range)


def read_open_bandit(path: str | os.PathLike[str], *, actions: Sequence[str] | None = None) -> CsvTable:
    """Return the log in a CSV file of the Open Bandit Dataset.

    Features are those of the user, and the position as a text. Items are the actions.

    Parameters
    ----------
    path
        Such as `all.csv`.
    actions
        The items; those of `item_context.csv` beside the file when None, or else those of the file.
    """
    names = _csv_names(path)
    users = [name for name in names if name.startswith("user_feature_")]
    columns = Columns(
        action="item_id",
        reward="click",
        propensity="propensity_score",
        time="timestamp",
        features=["position", *users],
        texts=["position", *users],
    )
    beside = Path(path).with_name("item_context.csv")
    if actions is None and beside.is_file():
        with beside.open(encoding="utf-8", newline="") as file:
            actions = [row["item_id"] for row in csv.DictReader(file)]
    return read_csv(path, columns=columns, actions=actions)


def _parquet_names(path: str | os.PathLike[str]) -> list[str]:
    return list(open_parquet(Path(path)).schema_arrow.names)


def _csv_names(path: str | os.PathLike[str]) -> list[str]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file), [])
