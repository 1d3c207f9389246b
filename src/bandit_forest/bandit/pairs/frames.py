"""Tables with one row per offered action, and tables of contexts and actions to learn the features from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from bandit_forest.bandit.features.tables import read_table
from bandit_forest.bandit.pairs.decisions import PairDecisions
from bandit_forest.errors import InvalidArgumentError, refuse
from bandit_forest.validation import key_numbers

if TYPE_CHECKING:
    from bandit_forest.bandit.pairs.pair_bandit import PairBandit

__all__ = ["decide_many", "fit"]


def decide_many(bandit: PairBandit, rows: Any, event: str, keys: Sequence[int | str | bytes] | None) -> PairDecisions:
    """Decide the events of a table in their order."""
    owner = "PairBandit.decide_many"
    table = read_table(rows, owner)
    if event not in table.columns:
        refuse("event", owner, "the name of a column of the rows", event)
    names = set(bandit.context_features)
    if not names:
        raise InvalidArgumentError(f"{owner} must know the features of the context: declare them, or call fit.")
    events: list[Any] = []
    offers: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    for value, group in groupby(table.rows(range(table.n_rows)), key=lambda row: row[event]):
        offered = [{name: given for name, given in row.items() if name != event} for row in group]
        contexts = [{name: row.pop(name, None) for name in names} for row in offered]
        if any(context != contexts[0] for context in contexts):
            refuse("rows", owner, f"rows with the same context in event {value!r}", contexts)
        bandit.read(contexts[0], offered, "decide_many")  # what is refused is refused before the first draw
        offers.append((contexts[0], offered))
        events.append(value)
    if len(set(map(repr, events))) != len(events):
        refuse("rows", owner, "rows of one event that stand together", events)
    key_numbers(keys, owner, len(events))
    drawn = zip(offers, [None] * len(events) if keys is None else keys, strict=True)
    return PairDecisions(
        events, [bandit.decide(context, actions=offered, key=key) for (context, offered), key in drawn]
    )


def fit(bandit: PairBandit, contexts: Any, actions: Any) -> None:
    """Learn the features of both sides from rows."""
    model = bandit.model
    if model.forest is not None or model.lessons:
        raise InvalidArgumentError("PairBandit.fit must come before anything is learned: the features are known.")
    sides = []
    for side, rows in ((model.context, contexts), (model.action, actions)):
        table = read_table(rows, "PairBandit.fit")
        read = [side.read(row, row=number) for number, row in enumerate(table.rows(range(table.n_rows)))]
        sides.append(side.checked(read, n_first=len(read), waiting=[]))  # before any of them is noted
    model.fit(*sides)
