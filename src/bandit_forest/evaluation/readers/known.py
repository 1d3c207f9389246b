"""Tables whose columns are known: our own export, and the Open Bandit Dataset."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.pairs.model import ID
from bandit_forest.errors import refuse
from bandit_forest.evaluation.features import rows_of
from bandit_forest.evaluation.log import BATCH_SIZE, Log, Offered
from bandit_forest.evaluation.readers.columns import Columns, action_name, check_header, names_in
from bandit_forest.evaluation.readers.csv_rows import csv_rows
from bandit_forest.evaluation.readers.lines import existing, names_of
from bandit_forest.evaluation.readers.notes import kind_in
from bandit_forest.evaluation.readers.tables import (
    CsvTable,
    ParquetTable,
    column_values,
    open_parquet,
    read_batches,
    read_csv,
)

__all__ = ["read_export", "read_open_bandit"]

_AVAILABLE, _OFFERED, _PROPENSITIES = "available_actions", "offered", "propensities"
_FOREST = ("forest_action", "forest_propensity", "forest_value")  # in shadow mode, what the forest would have done
_ITEM, _ITEM_NUMBER = "item_id", "item_feature_0"
_ACTION = "action."  # how the columns with features of the action that was taken begin


def read_export(
    path: str | os.PathLike[str],
    *,
    actions: Sequence[str] | None = None,
    reward_range: tuple[float, float] | None = None,
) -> ParquetTable:
    """Return the log in a Parquet file of `bandit-forest export` or `write_parquet`.

    If the events of the service offered their actions, the log has these offers. It leaves out events that were decided
    elsewhere, since the file does not have their other offered actions.

    The log's `kinds` are those of the features, as `Bandit(features=log.kinds.context)` takes them. In the file, a
    column of categories that has both texts and whole numbers holds them as JSON.

    Of a service in shadow mode, the log's `columns` have `forest_action`, for `column("forest_action")`, and
    `forest_propensity` and `forest_value`.

    Parameters
    ----------
    path
        The file.
    actions
        Names of the actions. None: all actions of the file that were taken or available.
    reward_range
        The least and the largest possible reward; when None, those that the file tells, else 0 and 1.
    """
    names = open_parquet(path).schema_arrow.names
    is_offered = _OFFERED in names
    columns = Columns(
        available=_AVAILABLE if _AVAILABLE in names and not is_offered else None,
        time="time" if "time" in names else None,
        version="model_version" if "model_version" in names else None,
        event_id="event_id" if "event_id" in names else None,
        probabilities=next((name for name in ("probabilities", _PROPENSITIES) if name in names), None),
        feature_prefix="context.",
        variable_prefix="variable.",
    )
    if not is_offered:
        kept = [name for name in _FOREST if name in names]
        return ParquetTable(path, columns=columns, actions=actions, reward_range=reward_range, kept=kept)
    if actions is not None:
        refuse("actions", "read_export", "None where each event offers its own", actions)
    return OfferedExport(path, columns=columns, reward_range=reward_range)


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
        The items. None: those of `item_context.csv` beside the file if it exists, otherwise those of the file.
    offers
        Whether each event offers all items of `item_context.csv` with their features, for `PairBandit`.
    """
    names = _csv_names(path)
    users = [name for name in names if name.startswith("user_feature_")]
    columns = Columns(
        action=_ITEM,
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


class OfferedExport(ParquetTable):
    """Reader of the export of a service whose events offer their actions; see `read_export`."""

    def __init__(
        self, path: str | os.PathLike[str], *, columns: Columns, reward_range: tuple[float, float] | None
    ) -> None:
        file = Path(path)
        fields = open_parquet(file).schema_arrow
        check_header(fields.names, (_AVAILABLE, _PROPENSITIES), file.name)
        sizes = [
            len(names_in(actions) or ())
            for start, batch in read_batches(file, [_AVAILABLE])
            for actions in column_values(_AVAILABLE, batch, start, file.name)
            if actions is not None
        ]
        places = names_of(max(sizes, default=1), set())
        super().__init__(
            path, columns=columns, actions=places, reward_range=reward_range, others=(_AVAILABLE, _OFFERED)
        )
        self.n_events = len(sizes)
        kinds = {field.name.removeprefix(_ACTION): kind_in(field) for field in fields if field.name.startswith(_ACTION)}
        known = {name: kind for name, kind in kinds.items() if kind is not None}
        self.kinds = self.kinds._replace(action=known if len(known) == len(kinds) else {})

    def batches(self, batch_size: int = BATCH_SIZE) -> Iterator[Log]:
        """Return the events from the first to the last, in batches."""
        return filter(len, super().batches(batch_size))

    def _log(self, table: dict[str, NDArray[Any]], rows: NDArray[np.int64]) -> Log:
        is_known = np.array([offer is not None for offer in table[_OFFERED]], dtype=np.bool_)
        table, rows = {name: values[is_known] for name, values in table.items()}, rows[is_known]
        offers = [self._offer(text, row) for text, row in zip(table[_OFFERED], rows.tolist(), strict=True)]
        taken = zip(table["action"], table[_AVAILABLE], rows.tolist(), strict=True)
        table["action"] = np.array([self._place(*one) for one in taken], dtype=object)
        table[_PROPENSITIES] = self._padded(table[_PROPENSITIES], rows)
        log = super()._log(table, rows)
        return log.with_offers([Offered(*one) for one in zip(rows_of(log), offers, strict=True)])

    def _offer(self, text: str, row: int) -> list[dict[str, Any]]:
        """Return the actions that an event offered."""
        try:
            offer = json.loads(text)
        except (RecursionError, TypeError, ValueError):
            offer = None
        if not isinstance(offer, list) or not all(isinstance(action, dict) for action in offer):
            refuse(_OFFERED, f"{self.path.name}, row {row}", "the offered actions as JSON", text)
        return offer

    def _place(self, action: object, offered: object, row: int) -> str:
        """Return the name of the place of the action that was taken."""
        names, name = names_in(offered), action_name(action)
        if names is None:
            refuse(_AVAILABLE, f"{self.path.name}, row {row}", "a list of the offered actions", offered)
        if name not in names:
            refuse("action", f"{self.path.name}, row {row}", f"one of those offered, {', '.join(names)}", action)
        return self.action_names[names.index(name)]

    def _padded(self, lists: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return lists with a number for each place."""
        for numbers, row in zip(lists, rows.tolist(), strict=True):
            if not isinstance(numbers, list):
                rule = "a list with the probability of each offered action"
                refuse(_PROPENSITIES, f"{self.path.name}, row {row}", rule, numbers)
        padded = np.empty(len(lists), dtype=object)
        padded[:] = [[*numbers, *[0.0] * (len(self.action_names) - len(numbers))] for numbers in lists]
        return padded


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
    rows = csv_rows(path)
    _, header = next(rows)
    check_header(header, (_ITEM, _ITEM_NUMBER), path.name)
    items: list[dict[str, Any]] = []
    seen = {""}
    for line, cells in rows:
        row = dict(zip(header, cells, strict=True))
        if row[_ITEM] in seen:
            refuse(_ITEM, f"{path.name}, line {line}", "an id that no other item has", row[_ITEM])
        seen.add(row[_ITEM])
        features = {name: value for name, value in row.items() if name.startswith("item_feature_")}
        try:
            items.append({ID: row[_ITEM]} | features | {_ITEM_NUMBER: float(row[_ITEM_NUMBER])})
        except ValueError:
            refuse(_ITEM_NUMBER, f"{path.name}, line {line}", "a number", row[_ITEM_NUMBER])
    return items


def _csv_names(path: str | os.PathLike[str]) -> list[str]:
    return next(csv_rows(existing(path)))[1]
