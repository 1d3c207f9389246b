"""Batches of events: rows become columns, are checked and encoded together, and decided or learned in their order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.action_registry import Available
from bandit_forest.bandit.decisions import BanditDecisions
from bandit_forest.bandit.errors import FeatureError
from bandit_forest.bandit.features.tables import Table, checked_columns, read_table
from bandit_forest.bandit.model import EncodedContext, Lesson
from bandit_forest.errors import InvalidArgumentError, refuse
from bandit_forest.validation import check_fractions

if TYPE_CHECKING:
    from bandit_forest.bandit.bandit import Bandit

__all__ = ["decide_many", "fit", "learn_many", "mean_rewards", "propensities"]

_MOST_FITTED = 20_000


def fit(bandit: Bandit, rows: Any) -> None:
    """Learn the features from rows: from all of them, or from some that lie evenly when there are many."""
    model = bandit.model
    if model.policy is not None or model.warm_up_contexts:
        raise InvalidArgumentError("Bandit.fit must come before anything is learned: the features are known already.")
    table = read_table(rows, "Bandit.fit")
    step = max(1, table.n_rows // _MOST_FITTED)
    numbers = range(0, table.n_rows, step)
    contexts = _read(bandit, table, numbers)
    try:
        model.fit_rows(contexts)
    except FeatureError as error:
        raise error.at(row=None if error.row is None else numbers[error.row]) from None


def decide_many(bandit: Bandit, rows: Any, available_actions: Any) -> BanditDecisions:
    """Decide rows in their order, those together that have the same actions to choose from."""
    owner = "Bandit.decide_many"
    table = read_table(rows, owner)
    table, available = _availability(bandit, table, available_actions, owner)
    contexts = _encode(bandit, table)
    names = bandit.registry.names
    version = bandit.model.version
    drawn: list[tuple[int, float]] = []
    for _, numbers in groupby(range(table.n_rows), key=lambda number: id(available[number])):
        group = list(numbers)
        part = contexts[group[0] : group[-1] + 1]
        drawn += bandit.model.decide_many(part, available[group[0]])
    actions = [names[index] for index, _ in drawn]
    return BanditDecisions(actions, np.array([share for _, share in drawn]), version, contexts)


def learn_many(bandit: Bandit, rows: Any, actions: Any, rewards: Any, propensities: Any) -> None:
    """Learn rows in their order; those that complete the warm-up one by one, the others together."""
    owner = "Bandit.learn_many"
    if isinstance(rows, BanditDecisions):
        if actions is not None or propensities is not None:
            refuse("actions", owner, "left out with decisions, which know them", actions)
        _learn_decisions(bandit, rows, rewards, owner)
        return
    table = read_table(rows, owner)
    columns = [
        _column(table, values, name, owner)
        for name, values in (("actions", actions), ("rewards", rewards), ("propensities", propensities))
    ]
    features = table.without([name for name in (actions, rewards, propensities) if isinstance(name, str)])
    taken = _indices(bandit, columns[0], table.n_rows, owner)
    earned = bandit.rewards.scale_many(bandit.rewards.check_many(columns[1], table.n_rows, owner))
    shares = check_fractions(columns[2], "propensities", owner, (table.n_rows,), open_low=True)
    _learn_table(bandit, features, taken, earned, shares)


def mean_rewards(bandit: Bandit, rows: Any) -> NDArray[np.object_]:
    """Return the estimates of rows, None where nothing is known."""
    enabled = bandit.registry.enabled.indices
    contexts = _encode(bandit, read_table(rows, "Bandit.mean_rewards"))
    if bandit.model.policy is None:
        return np.full((len(contexts), len(enabled)), None, dtype=object)
    forest = bandit.forest("Bandit.mean_rewards")
    means = forest.mean_rewards_many(bandit.model.matrix(contexts))[:, enabled]
    told = (bandit.rewards.low + means * (bandit.rewards.high - bandit.rewards.low)).astype(object)
    told[np.isnan(means)] = None
    return told


def propensities(bandit: Bandit, rows: Any, available_actions: Any) -> NDArray[np.float64]:
    """Return the probabilities of rows."""
    owner = "Bandit.propensities"
    table, available = _availability(bandit, read_table(rows, owner), available_actions, owner)
    contexts = _encode(bandit, table)
    enabled = bandit.registry.enabled.indices
    masks = np.array([of.mask for of in available], dtype=np.bool_).reshape(len(contexts), bandit.registry.capacity)
    if bandit.model.policy is None:
        shares: NDArray[np.float64] = masks / masks.sum(axis=1, keepdims=True)
    else:
        matrix = bandit.model.matrix(contexts)
        shares = bandit.forest(owner).propensities_many(matrix, available_actions=masks)
    drawn: NDArray[np.float64] = shares[:, enabled]
    return drawn


def _encode(bandit: Bandit, table: Table) -> Sequence[EncodedContext]:
    """Return the checked contexts of a table."""
    model = bandit.model
    if model.policy is None:
        return _read(bandit, table, range(table.n_rows))
    matrix = model.schema.encode_many(checked_columns(model.schema, table))
    width, together = matrix.shape[1], matrix.tobytes()
    return [together[start : start + width] for start in range(0, len(together), width)]


def _read(bandit: Bandit, table: Table, numbers: range) -> list[EncodedContext]:
    """Return some rows as checked contexts, or refuse one with its number."""
    read = []
    for number, row in zip(numbers, table.rows(numbers), strict=True):
        try:
            read.append(bandit.model.read(row))
        except FeatureError as error:
            raise error.at(row=table.first_row + number) from None
    return read


def _learn_decisions(bandit: Bandit, decisions: BanditDecisions, rewards: Any, owner: str) -> None:
    earned = bandit.rewards.scale_many(bandit.rewards.check_many(rewards, len(decisions), owner))
    taken = _indices(bandit, decisions.actions, len(decisions), owner)
    shares = decisions.propensities.tolist()
    contexts = bandit.model.checked(decisions.contexts)
    lessons = zip(contexts, taken.tolist(), earned.tolist(), shares, strict=True)
    bandit.model.learn_many([Lesson(*lesson) for lesson in lessons])


def _learn_table(
    bandit: Bandit,
    table: Table,
    actions: NDArray[np.int64],
    rewards: NDArray[np.float64],
    propensities: NDArray[np.float64],
) -> None:
    model = bandit.model
    n_first = model.n_waiting(table.n_rows)
    first = _read(bandit, table, range(n_first))
    left = table.part(n_first)
    schema = model.schema_after(first)  # what is refused is refused before anything is learned
    checked = checked_columns(schema, left) if left.n_rows else {}
    taken, earned, shares = (values[:n_first].tolist() for values in (actions, rewards, propensities))
    model.learn_many([Lesson(*lesson) for lesson in zip(first, taken, earned, shares, strict=True)])
    if left.n_rows:
        model.learn_matrix(
            model.schema.encode_many(checked), actions[n_first:], rewards[n_first:], propensities[n_first:]
        )


def _indices(bandit: Bandit, names: Any, n_events: int, owner: str) -> NDArray[np.int64]:
    listed = list(names)
    if len(listed) != n_events:
        refuse("actions", owner, f"{n_events} names, one for each event", names)
    known = {name: bandit.registry.check_action(name, owner) for name in dict.fromkeys(listed)}
    return np.fromiter(map(known.__getitem__, listed), np.int64, n_events)


def _column(table: Table, values: Any, name: str, owner: str) -> Any:
    """Return the values of a column that is given by name, and others as they are."""
    if isinstance(values, str):
        if values not in table.columns:
            refuse(name, owner, f"one of the columns {', '.join(table.columns)}", values)
        return table.columns[values]
    if values is None:
        refuse(name, owner, "one for each event, or the name of a column", values)
    return values


def _availability(bandit: Bandit, table: Table, given: Any, owner: str) -> tuple[Table, list[Available]]:
    """Return the table without the column of available actions, and what may be taken in each row."""
    if isinstance(given, str):
        column = _column(table, given, "available_actions", owner)
        return table.without([given]), _by_row(bandit, column, table.n_rows, owner)
    if given is None or (len(given) > 0 and all(isinstance(name, str) for name in given)):
        return table, [bandit.registry.check_available(given, owner)] * table.n_rows
    return table, _by_row(bandit, given, table.n_rows, owner)


def _by_row(bandit: Bandit, given: Any, n_rows: int, owner: str) -> list[Available]:
    """Return what may be taken in each row, the same object where it is the same."""
    names = bandit.registry.names
    if isinstance(given, np.ndarray) and given.dtype == np.bool_:
        if given.shape != (n_rows, len(names)):
            refuse("available_actions", owner, f"a mask of {n_rows} rows and {len(names)} columns", given.shape)
        given = [[name for name, is_in in zip(names, row, strict=True) if is_in] for row in given.tolist()]
    if len(given) != n_rows:
        refuse("available_actions", owner, f"{n_rows} lists of names, one for each event", given)
    made: dict[tuple[str, ...] | None, Available] = {}
    keys = [None if one is None else tuple(one) for one in given]
    for key in dict.fromkeys(keys):
        made[key] = bandit.registry.check_available(key, owner)
    return [made[key] for key in keys]
