"""Tables with one row per offered action, and tables of contexts and actions to learn the features from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from bandit_forest.bandit.batches import checked_propensities
from bandit_forest.bandit.errors import FeatureError
from bandit_forest.bandit.features.tables import read_table
from bandit_forest.bandit.pairs.decisions import PairDecision, PairDecisions, Read
from bandit_forest.bandit.pairs.model import PairLesson
from bandit_forest.errors import InvalidArgumentError, refuse
from bandit_forest.validation import key_numbers

if TYPE_CHECKING:
    from bandit_forest.bandit.pairs.pair_bandit import PairBandit

__all__ = ["decide_many", "fit", "learn_many"]


def decide_many(bandit: PairBandit, rows: Any, event: str, keys: Sequence[int | str | bytes] | None) -> PairDecisions:
    """Decide the events of a table in their order."""
    owner = "PairBandit.decide_many"
    table = read_table(rows, owner)
    if not isinstance(event, str) or event not in table.columns:
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


def learn_many(bandit: PairBandit, given: Any, actions: Any, rewards: Any, propensities: Any) -> None:
    """Learn decisions, or events that were decided elsewhere, in their order."""
    owner = "PairBandit.learn_many"
    is_list = isinstance(given, list) and given and all(isinstance(one, PairDecision) for one in given)
    if isinstance(given, PairDecisions) or is_list:
        if rewards is None:
            actions, rewards = None, actions
        for name, known in (("actions", actions), ("propensities", propensities)):
            if known is not None:
                refuse(name, owner, "left out with decisions, which know them", known)
        events = [(one.context, one.features, one.action) for one in given]
        shares = [one.propensity for one in given]
    else:
        if propensities is None:
            refuse("given", owner, "decisions; or contexts, with 'actions', 'rewards' and 'propensities'", given)
        events = _read_events(bandit, given, actions, owner)
        shares = checked_propensities(propensities, len(events), owner).tolist()
    values = bandit.rewards.scale_many(bandit.rewards.check_many(rewards, len(events), owner)).tolist()
    lessons = [PairLesson(*event, value, share) for event, value, share in zip(events, values, shares, strict=True)]
    bandit.model.learn_many(bandit.model.checked(lessons))


def _read_events(bandit: PairBandit, contexts: Any, actions: Any, owner: str) -> list[tuple[Read, Read, str | int]]:
    """Return the checked context and features, and the id, of each event."""
    table, taken = read_table(contexts, owner), read_table(actions, owner)
    if taken.n_rows != table.n_rows:
        refuse("actions", owner, f"{table.n_rows} actions, one for each context", actions)
    events: list[tuple[Read, Read, str | int]] = []
    numbers = range(table.n_rows)
    for row, (context, action) in enumerate(zip(table.rows(numbers), taken.rows(numbers), strict=True)):
        number, features = bandit.read_action(action, row, owner)
        try:
            events.append((bandit.model.context.read(context), features, number))
        except FeatureError as error:
            raise error.at(row=row) from None
    return events


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
