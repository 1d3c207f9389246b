"""Tables whose columns are known: our own export, and the Open Bandit Dataset."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bandit_forest.bandit.pairs.model import ID
from bandit_forest.errors import refuse
from bandit_forest.evaluation.features import rows_of
from bandit_forest.evaluation.log import BATCH_SIZE, Log, Offered
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


def read_open_bandit(
    path: str | os.PathLike[str], *, actions: Sequence[str] | None = None, offers: bool = False
) -> CsvTable:
    """Return the log in a CSV file of the Open Bandit Dataset.

    Features are those of the user, and the position as a text. Items are the actions.

    Parameters
    ----------
    path
        Such as `all.csv`.
    actions
        The items; those of `item_context.csv` beside the file when None, or else those of the file.
    offers
        Whether each event offers all items of `item_context.csv` with their features, for `PairBandit`.
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
    items = _items(beside) if beside.is_file() else None
    if offers:
        if items is None or actions is not None:
            rule = "'item_context.csv' beside the file, and no other actions, where items are offered"
            refuse("offers", "read_open_bandit", rule, offers)
        return OfferedItems(path, columns=columns, items=items)
    if actions is None and items is not None:
        actions = [item[ID] for item in items]
    return read_csv(path, columns=columns, actions=actions)


class OfferedItems(CsvTable):
    """Reader of a table of which each event offers the same items; see `read_open_bandit`."""

    def __init__(self, path: str | os.PathLike[str], *, columns: Columns, items: Sequence[dict[str, Any]]) -> None:
        super().__init__(path, columns=columns, actions=[item[ID] for item in items], reward_range=(0.0, 1.0))
        self._items = items

    def batches(self, batch_size: int = BATCH_SIZE) -> Iterator[Log]:
        """Return the events from the first to the last, in batches."""
        for log in super().batches(batch_size):
            yield log.with_offers([Offered(context, self._items) for context in rows_of(log)])


def _items(path: Path) -> list[dict[str, Any]]:
    """Return the features of each item: one is a number, the others are texts."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [
            {ID: row["item_id"]}
            | {name: value for name, value in row.items() if name.startswith("item_feature_")}
            | {"item_feature_0": float(row["item_feature_0"])}
            for row in csv.DictReader(file)
        ]


def _parquet_names(path: str | os.PathLike[str]) -> list[str]:
    return list(open_parquet(Path(path)).schema_arrow.names)


def _csv_names(path: str | os.PathLike[str]) -> list[str]:
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        return next(csv.reader(file), [])
