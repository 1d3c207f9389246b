"""Batches of events: rows become columns, are checked and encoded together, and decided or learned in their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.availability import available_by_row, check_taken, column_of, names_by_row
from bandit_forest.bandit.decisions import BanditDecision, BanditDecisions
from bandit_forest.bandit.errors import FeatureError
from bandit_forest.bandit.features.tables import Table, checked_columns, read_table
from bandit_forest.bandit.model import EncodedContext, Lesson
from bandit_forest.errors import InvalidArgumentError, refuse
from bandit_forest.validation import check_fractions

if TYPE_CHECKING:
    from bandit_forest.bandit.bandit import Bandit

__all__ = ["checked_propensities", "decide_many", "fit", "learn_many", "mean_rewards", "propensities"]

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
    table, available = available_by_row(bandit, table, available_actions, owner)
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


def learn_many(bandit: Bandit, rows: Any, actions: Any, rewards: Any, propensities: Any, available: Any) -> None:
    """Learn rows in their order; those that complete the warm-up one by one, the others together."""
    owner = "Bandit.learn_many"
    if decisions := _as_decisions(rows):
        if rewards is None:
            actions, rewards = None, actions
        for name, given in (("actions", actions), ("propensities", propensities), ("available_actions", available)):
            if given is not None:
                refuse(name, owner, "left out with decisions, which know them", given)
        _learn_decisions(bandit, *decisions, rewards, owner)
        return
    table = read_table(rows, owner)
    columns = [
        column_of(table, values, name, owner)
        for name, values in (("actions", actions), ("rewards", rewards), ("propensities", propensities))
    ]
    table, listed = names_by_row(bandit, table, available, owner)
    features = table.without([name for name in (actions, rewards, propensities) if isinstance(name, str)])
    if not isinstance(columns[0], Iterable):
        refuse("actions", owner, "names, one for each event, or the name of a column", columns[0])
    names = list(columns[0])
    taken = _indices(bandit, names, table.n_rows, owner)
    check_taken(names, listed, owner)
    earned = bandit.rewards.scale_many(bandit.rewards.check_many(columns[1], table.n_rows, owner))
    _learn_table(bandit, features, taken, earned, checked_propensities(columns[2], table.n_rows, owner))


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
    table, available = available_by_row(bandit, read_table(rows, owner), available_actions, owner)
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


def _as_decisions(rows: Any) -> tuple[list[str], list[float], Sequence[EncodedContext]] | None:
    """Return actions, propensities and contexts of decisions; None for other rows."""
    if isinstance(rows, BanditDecisions):
        return rows.actions, rows.propensities.tolist(), rows.contexts
    if isinstance(rows, list) and rows and all(isinstance(row, BanditDecision) for row in rows):
        return [one.action for one in rows], [one.propensity for one in rows], [one.context for one in rows]
    return None


def _learn_decisions(
    bandit: Bandit,
    actions: list[str],
    propensities: list[float],
    contexts: Sequence[EncodedContext],
    rewards: Any,
    owner: str,
) -> None:
    earned = bandit.rewards.scale_many(bandit.rewards.check_many(rewards, len(actions), owner))
    taken = _indices(bandit, actions, len(actions), owner, is_decided=True)
    checked = bandit.model.checked(contexts)
    lessons = zip(checked, taken.tolist(), earned.tolist(), propensities, strict=True)
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


def _indices(
    bandit: Bandit, names: list[Any], n_events: int, owner: str, *, is_decided: bool = False
) -> NDArray[np.int64]:
    if len(names) != n_events:
        refuse("actions", owner, f"{n_events} names, one for each event", names)
    check = partial(bandit.registry.check_action, owner=owner, is_decided=is_decided)
    return np.fromiter((check(name, row=row) for row, name in enumerate(names)), np.int64, n_events)


def checked_propensities(given: Any, n_events: int, owner: str) -> NDArray[np.float64]:
    """Return the propensities of a batch; what is wrong is told with its row."""
    if isinstance(given, np.ndarray) and given.dtype.kind == "O" and given.ndim == 1:
        given = given.tolist()
    return check_fractions(given, "propensities", owner, (n_events,), open_low=True)
