"""Actions that are available in each row of a batch: names for all rows, one list per row, a mask, or a column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bandit_forest.bandit.action_registry import Available
from bandit_forest.bandit.features.tables import Table
from bandit_forest.bandit.features.values import is_missing
from bandit_forest.errors import refuse

if TYPE_CHECKING:
    from bandit_forest.bandit.bandit import Bandit

__all__ = ["available_by_row", "check_taken", "column_of", "names_by_row"]

Names = tuple[Any, ...] | None
"""Names of the actions that are available in a row; None: all that are enabled."""
_PARAMETER = "available_actions"


def available_by_row(bandit: Bandit, table: Table, given: Any, owner: str) -> tuple[Table, list[Available]]:
    """Return the table without the column of available actions, and what may be taken in each row.

    It is the same object in the rows where it is the same.
    """
    table, listed = names_by_row(bandit, table, given, owner)
    is_by_row = any(names is not listed[0] for names in listed)
    made: dict[Names, Available] = {}
    for row, names in enumerate(listed):
        if names not in made:
            made[names] = bandit.registry.check_available(names, owner, row=row if is_by_row else None)
    return table, [made[names] for names in listed]


def check_taken(actions: Sequence[str], listed: Sequence[Names], owner: str) -> None:
    """Refuse an action that was taken in a row in which it was not available."""
    for row, (action, names) in enumerate(zip(actions, listed, strict=True)):
        if names is not None and action not in names:
            rule = f"lists with the action that was taken, which is '{action}' in row {row}"
            refuse(_PARAMETER, owner, rule, list(names))


def names_by_row(bandit: Bandit, table: Table, given: Any, owner: str) -> tuple[Table, list[Names]]:
    """Return the table without the column of available actions, and the names that are available in each row."""
    if isinstance(given, str):
        column = column_of(table, given, _PARAMETER, owner)
        if given in bandit.model.feature_names:
            cure = "learn_many has the parameter, too, and does not learn the column then"
            refuse(_PARAMETER, owner, f"a column that is not a feature of the bandit: {cure}", given)
        return table.without([given]), _by_row(column, owner)
    if given is None:
        return table, [None] * table.n_rows
    rule = f"names of actions, or {table.n_rows} lists of names, one for each event, or a mask as an array"
    if not isinstance(given, Iterable) or hasattr(given, "columns"):  # the order of a frame's columns may be another
        refuse(_PARAMETER, owner, rule, given)
    if isinstance(given, np.ndarray) and given.dtype == np.bool_:
        names = bandit.registry.names
        if given.shape != (table.n_rows, len(names)):
            refuse(_PARAMETER, owner, f"a mask of {table.n_rows} rows and {len(names)} columns", given.shape)
        given = [[name for name, is_in in zip(names, row, strict=True) if is_in] for row in given.tolist()]
    listed = list(given)
    if all(isinstance(name, str) for name in listed):
        return table, [tuple(listed)] * table.n_rows
    if len(listed) != table.n_rows:
        refuse(_PARAMETER, owner, rule, given)
    return table, _by_row(listed, owner)


def column_of(table: Table, values: Any, name: str, owner: str) -> Any:
    """Return the values of a column that is given by name, and others as they are."""
    if isinstance(values, str):
        if values not in table.columns:
            refuse(name, owner, f"one of the columns {', '.join(map(str, table.columns))}", values)
        return table.columns[values]
    if values is None:
        refuse(name, owner, "one for each event, or the name of a column", values)
    return values


def _by_row(listed: Iterable[Any], owner: str) -> list[Names]:
    made: list[Names] = []
    for row, names in enumerate(listed):
        if is_missing(names):
            made.append(None)
            continue
        is_list = isinstance(names, Iterable) and not isinstance(names, str)
        if not is_list or not all(isinstance(name, str) for name in names):
            refuse(_PARAMETER, owner, f"lists of names; row {row} is wrong", names)
        made.append(tuple(names))
    return made
