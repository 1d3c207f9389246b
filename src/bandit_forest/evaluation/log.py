"""A log: decided events with their rewards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import refuse
from bandit_forest.parameters import check_names
from bandit_forest.validation import check_contexts, check_int

__all__ = ["BATCH_SIZE", "OTHER_RANGE", "FeatureKinds", "Log", "Offered", "Source", "encoded"]

BATCH_SIZE = 10_000
OTHER_RANGE = "another range is given by reward_range, or by --reward-low and --reward-high"
"""What cures rewards outside of their range."""

Floats = NDArray[np.float64]
Columns = Mapping[str, NDArray[Any]]


class FeatureKinds(NamedTuple):
    """Kinds of features by name, such as 'categorical' for whole numbers that are no quantities, where they are known.

    They are as `Bandit(features=...)` and `PairBandit(context_features=..., action_features=...)` take them.
    """

    context: Mapping[str, str] = MappingProxyType({})
    """The kinds of the features of a log."""
    action: Mapping[str, str] = MappingProxyType({})
    """The kinds of the features of offered actions."""
    mixed: frozenset[str] = frozenset()
    """The features of a log that have both texts and whole numbers."""


class Offered(NamedTuple):
    """The offer of one event of a log, for `PairBandit`."""

    context: Mapping[str, Any]
    """The features of the context."""
    actions: Sequence[Mapping[str, Any]]
    """The features of each offered action, with its `id`."""


@runtime_checkable
class Source(Protocol):
    """Where logged events come from, in batches: a `Log` in memory, or a reader of a file."""

    @property
    def action_names(self) -> tuple[str, ...]:
        """The name of each action."""

    @property
    def reward_range(self) -> tuple[float, float]:
        """The least and the largest possible reward."""

    @property
    def n_events(self) -> int:
        """The number of events; a reader of lines may count some that it leaves out."""

    def batches(self, batch_size: int = BATCH_SIZE) -> Iterator[Log]:
        """Return the events from the first to the last, in batches."""


class Log:
    """Logged events in memory, one row per event, in the order in which they were decided.

    Parameters
    ----------
    actions
        The action that was taken, as ints.
    rewards
        The reward of this action; NaN if unknown.
    propensities
        The probability with which the logging policy took this action, in (0, 1].
    contexts
        Zeros and ones, one row per event; or None.
    features
        Raw features by column, for a `Bandit` or a `ContextEncoder`; or None. A column has numbers, texts, bools,
        times or lists of texts.
    probabilities
        The logging policy's probability of every action, one row per event; or None if only the probability of the
        action taken is known.
    available
        Whether each action was available, one row per event; or None if all actions were available.
    offers
        The offer of each event, if actions have features; or None. An action is then its position in the offer, and
        `action_names` are names of positions.
    versions
        The version of the model that decided; or None.
    times
        Seconds since 1970; or None.
    columns
        Other columns by name, such as actions or probabilities of another policy.
    action_names
        The name of each action; or the number of actions, if they have no names.
    variable_names
        The name of each variable of `contexts`; None: x0, x1, ...
    reward_range
        The least and the largest possible reward.

    Examples
    --------
    >>> log = Log(actions=[0, 1, 1], rewards=[1, 0, 1], propensities=[0.5, 0.5, 0.5], action_names=["stay", "go"])
    >>> len(log), log[1:].actions
    (3, array([1, 1]))
    """

    def __init__(
        self,
        *,
        actions: ArrayLike,
        rewards: ArrayLike,
        propensities: ArrayLike,
        action_names: Sequence[str] | int,
        contexts: Any = None,
        features: Columns | None = None,
        probabilities: ArrayLike | None = None,
        available: ArrayLike | None = None,
        offers: Sequence[Offered] | None = None,
        versions: ArrayLike | None = None,
        times: ArrayLike | None = None,
        columns: Columns | None = None,
        variable_names: Sequence[str] | None = None,
        reward_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        named = not isinstance(action_names, (int, np.integer))
        n_actions = len(action_names) if named else check_int(action_names, "action_names", "Log")  # type: ignore[arg-type]
        names = action_names if named else None
        self.action_names = check_names(names, "action_names", "Log", n_actions, "action ")  # type: ignore[arg-type]
        self.reward_range = checked_range(reward_range, "Log")
        self.actions = _checked_actions(actions, n_actions)
        n_events = len(self.actions)
        self.rewards = _checked_rewards(rewards, n_events, self.reward_range)
        self.propensities = _numbers(propensities, "propensities", (n_events,), "numbers in (0, 1]")
        _demand((self.propensities > 0) & (self.propensities <= 1), self.propensities, "propensities", "in (0, 1]")
        self.contexts = None if contexts is None else _checked_bits(contexts, n_events)
        n_variables = 0 if self.contexts is None else self.contexts.shape[1]
        self.variable_names = check_names(variable_names, "variable_names", "Log", n_variables, "x")
        self.probabilities = None if probabilities is None else _checked_probabilities(probabilities, self)
        self.available = None if available is None else _checked_available(available, self)
        self.offers: NDArray[Any] | None = None
        if offers is not None:
            self._offer(offers)
        self.versions = None if versions is None else _column(np.asarray(versions), "versions", n_events)
        self.times = None if times is None else _numbers(times, "times", (n_events,), "seconds since 1970")
        self.features = None if features is None else _table(features, "features", n_events)
        self.columns = _table({} if columns is None else columns, "columns", n_events)
        self.kinds = FeatureKinds()
        """The kinds of features that its file tells."""

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def n_events(self) -> int:
        """The number of events."""
        return len(self.actions)

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return len(self.action_names)

    def __getitem__(self, rows: slice | NDArray[Any]) -> Self:
        """Return a log of these rows."""

        def cut(column: Any) -> Any:
            return None if column is None else column[rows]

        part = object.__new__(type(self))
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                value = cut(value)
            elif isinstance(value, Mapping):
                value = {key: cut(column) for key, column in value.items()}
            setattr(part, name, value)
        return part

    def with_offers(self, offers: Sequence[Offered]) -> Self:
        """Return the same log with the offer of each event, for example with features of fixed actions.

        Examples
        --------
        >>> log = Log(actions=[1], rewards=[1.0], propensities=[0.5], action_names=["small", "large"])
        >>> sizes = [{"id": "small", "size": 3.0}, {"id": "large", "size": 7.0}]
        >>> log.with_offers([Offered({"age": 42}, sizes)]).offers[0].context
        {'age': 42}
        """
        log = self[:]
        log._offer(offers)
        return log

    def _offer(self, offers: Sequence[Offered]) -> None:
        """Take over what each event offered; unless it is known better, all of that could be taken."""
        self.offers = _checked_offers(offers, self)
        if self.available is None:
            sizes = np.array([len(offer.actions) for offer in self.offers], dtype=np.int64)
            self.available = _checked_available(np.arange(self.n_actions) < sizes[:, None], self)

    def batches(self, batch_size: int = BATCH_SIZE) -> Iterator[Log]:
        """Return the events from the first to the last, in batches."""
        for start in range(0, len(self), check_int(batch_size, "batch_size", "Log.batches")):
            yield self[start : start + batch_size]

    def all_probabilities(self) -> Floats:
        """Return the logging policy's probability of every action, one row per event.

        If only the probability of the action taken is known, the other actions are treated as equally likely.

        Examples
        --------
        >>> Log(actions=[1], rewards=[1], propensities=[0.5], action_names=3).all_probabilities()
        array([[0.25, 0.5 , 0.25]])
        """
        if self.probabilities is not None:
            return self.probabilities
        can = np.ones((len(self), self.n_actions)) if self.available is None else self.available.astype(np.float64)
        n_others = np.maximum(can.sum(axis=1) - 1.0, 1.0)
        table: Floats = can * ((1.0 - self.propensities) / n_others)[:, None]
        table[np.arange(len(self)), self.actions] = self.propensities
        return table

    def encoded(self, encoder: ContextEncoder | None) -> NDArray[np.uint8]:
        """Return the contexts: those of the log when `encoder` is None, else its features, encoded.

        A column that these events lack is missing in each of them.
        """
        if encoder is None:
            if self.contexts is None:
                refuse("log", "encoded", "one with contexts where there is no encoder", "a log without contexts")
            return self.contexts
        if self.features is None:
            refuse("log", "encoded", "one with features where there is an encoder", "a log without features")
        return encoded(self.features, encoder, len(self))

    def __repr__(self) -> str:
        return f"<Log: {len(self):,} events, {self.n_actions} actions>"


def encoded(features: Columns, encoder: ContextEncoder, n_events: int) -> NDArray[np.uint8]:
    """Return the contexts of features; a column that is not among them is missing in each event."""
    absent = np.full(n_events, None, dtype=object)
    return encoder.transform({name: features.get(name, absent) for name in encoder.columns_})


def checked_range(reward_range: object, owner: str) -> tuple[float, float]:
    """Return a range of rewards as two floats, the first below the second."""
    rule = "two finite numbers, the first below the second"
    try:
        low, high = map(float, reward_range)  # type: ignore[call-overload]
    except (OverflowError, TypeError, ValueError):
        refuse("reward_range", owner, rule, reward_range)
    if not (np.isfinite([low, high]).all() and low < high):
        refuse("reward_range", owner, rule, reward_range)
    return low, high


def _checked_actions(actions: ArrayLike, n_actions: int) -> NDArray[np.int64]:
    array = np.asarray(actions)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        refuse("actions", "Log", f"ints in [0, {n_actions - 1}], one per event", actions)
    _demand((array >= 0) & (array < n_actions), array, "actions", f"in [0, {n_actions - 1}]")
    return array.astype(np.int64)


def _checked_rewards(rewards: ArrayLike, n_events: int, reward_range: tuple[float, float]) -> Floats:
    low, high = reward_range
    rule = f"in [{low:g}, {high:g}], or NaN"
    array = _numbers(rewards, "rewards", (n_events,), f"numbers {rule}")
    rule = f"{rule}; {OTHER_RANGE}"
    _demand(np.isnan(array) | ((array >= low) & (array <= high)), array, "rewards", rule)
    return array


def _checked_probabilities(probabilities: ArrayLike, log: Log) -> Floats:
    shape = (log.n_events, log.n_actions)
    array = _numbers(probabilities, "probabilities", shape, "numbers in [0, 1], one row per event")
    _demand(np.asarray(((array >= 0) & (array <= 1)).all(axis=1)), array, "probabilities", "in [0, 1]")
    return array


def _checked_available(available: ArrayLike, log: Log) -> NDArray[np.bool_]:
    array = np.asarray(available)
    if array.shape != (log.n_events, log.n_actions) or array.dtype != np.bool_:
        refuse("available", "Log", f"{log.n_events} x {log.n_actions} bools", available)
    _demand(
        np.atleast_1d(array[np.arange(log.n_events), log.actions]),
        array,
        "available",
        "true for the action that was taken",
    )
    return array


def _checked_offers(offers: Sequence[Offered], log: Log) -> NDArray[Any]:
    if len(offers) != log.n_events:
        refuse("offers", "Log", f"{log.n_events} offers, one per event", f"{len(offers)} offers")
    column = np.empty(log.n_events, dtype=object)
    for event, offer in enumerate(offers):
        is_offer = isinstance(offer, Offered) and isinstance(offer.actions, Sequence)
        if not is_offer or not 1 <= len(offer.actions) <= log.n_actions:
            refuse(f"offers[{event}]", "Log", f"an Offered with 1 to {log.n_actions} actions", offer)
        column[event] = offer
    return column


def _checked_bits(contexts: Any, n_events: int) -> NDArray[np.uint8]:
    width = np.shape(contexts)[1] if len(np.shape(contexts)) == 2 else 0
    bits = check_contexts(contexts, "Log", width)
    if len(bits) != n_events:
        refuse("contexts", "Log", f"{n_events} rows", f"{len(bits)} rows")
    return bits


def _numbers(values: ArrayLike, name: str, shape: tuple[int, ...], rule: str) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        refuse(name, "Log", rule, values)
    if array.shape != shape:
        refuse(name, "Log", f"{' x '.join(map(str, shape))} {rule}", values)
    return array


def _demand(good: NDArray[np.bool_], values: NDArray[Any], name: str, rule: str) -> None:
    """Refuse the first event that is not good, by its number from 0."""
    if not good.all():
        event = int(np.argmin(good))
        refuse(f"{name}[{event}]", "Log", rule, values[event])


def _column(values: NDArray[Any], name: str, n_events: int) -> NDArray[Any]:
    if values.ndim < 1 or len(values) != n_events:
        refuse(name, "Log", f"a column of {n_events} values", values)
    return values


def _table(columns: Columns, name: str, n_events: int) -> dict[str, NDArray[Any]]:
    if not isinstance(columns, Mapping):
        refuse(name, "Log", "a mapping from names to columns", columns)
    return {str(key): _column(np.asarray(values), f"{name}['{key}']", n_events) for key, values in columns.items()}
