"""Policies to evaluate: each returns its probability of every action of logged events."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.bandit import Bandit
from bandit_forest.bandit.features.values import is_missing
from bandit_forest.bandit.pairs import PairBandit
from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import refuse
from bandit_forest.evaluation.bandits import given_to, policy_on
from bandit_forest.evaluation.log import Log

__all__ = [
    "Batched",
    "Target",
    "always",
    "as_it_stands",
    "column",
    "logged_probabilities",
    "propensities_of",
    "uniform",
]

Floats = NDArray[np.float64]

_SLACK = 1e-6  # of probabilities that were written with few digits


class Target(ABC):
    """A policy to evaluate, with a name for tables."""

    name: str

    def probabilities(self, log: Log) -> Floats:
        """Return the policy's probability of every action, one row per event; checked."""
        table = self._probabilities(log)
        if table.shape != (len(log), log.n_actions):
            refuse("probabilities", self.name, f"{len(log)} x {log.n_actions} numbers", f"an array {table.shape}")
        good = (table >= -_SLACK).all(axis=1) & (np.abs(table.sum(axis=1) - 1) <= _SLACK)
        if not good.all():
            event = int(np.argmin(good))
            refuse("probabilities", self.name, "numbers of at least 0 that sum to 1 in every event", table[event])
        return table

    @abstractmethod
    def _probabilities(self, log: Log) -> Floats:
        """Return the table before it is checked."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.name}>"


class Batched(Protocol):
    """Methods that a policy needs to be evaluated as it stands."""

    @property
    def n_actions(self) -> int:
        """The number of actions."""

    def propensities_many(self, contexts: Any, *, available_actions: ArrayLike | None = None) -> Floats:
        """Return the probability of each action, one row per context."""


class _Uniform(Target):
    name = "uniform"

    def _probabilities(self, log: Log) -> Floats:
        can = np.ones((len(log), log.n_actions)) if log.available is None else log.available.astype(np.float64)
        table: Floats = can / can.sum(axis=1, keepdims=True)
        return table


class _Always(Target):
    def __init__(self, action: str | int, name: str | None) -> None:
        self._action = action
        self.name = f"always {action}" if name is None else name

    def _probabilities(self, log: Log) -> Floats:
        table = np.zeros((len(log), log.n_actions))
        table[:, action_number(self._action, log.action_names, "always")] = 1.0
        return table


class _Column(Target):
    def __init__(self, names: str | Sequence[str], name: str | None) -> None:
        self._names = names
        self.name = name or (names if isinstance(names, str) else ", ".join(names))

    def _probabilities(self, log: Log) -> Floats:
        if not isinstance(self._names, str):
            return np.stack([_column_of(log, name) for name in self._names], axis=1).astype(np.float64)
        values = _column_of(log, self._names)
        if values.ndim == 2:
            return values.astype(np.float64)
        table = np.zeros((len(log), log.n_actions))
        if any(map(is_missing, values)):
            rule = f"a column with an action in every event; leave out events without '{self._names}'"
            refuse("column", "column", rule, None)
        chosen = [action_number(value, log.action_names, f"column '{self._names}'") for value in values.tolist()]
        table[np.arange(len(log)), chosen] = 1.0
        return table


class _Logged(Target):
    name = "logged probabilities"

    def _probabilities(self, log: Log) -> Floats:
        if log.probabilities is None:
            refuse("log", self.name, "one with the probabilities of all actions", "a log with propensities only")
        return log.probabilities


class _AsItStands(Target):
    def __init__(self, policy: Batched | Bandit | PairBandit, encoder: ContextEncoder | None, name: str | None) -> None:
        self._policy, self._encoder = policy, encoder
        self.name = type(policy).__name__ if name is None else name

    def _probabilities(self, log: Log) -> Floats:
        policy = policy_on(self._policy, log)
        contexts = given_to(policy, log, self._encoder)
        if policy.n_actions != log.n_actions:
            refuse("policy", self.name, f"one for {log.n_actions} actions", f"one for {policy.n_actions}")
        order = _order(getattr(policy, "action_names", None), log.action_names)
        available = None if log.available is None else log.available[:, np.argsort(order)]
        return propensities_of(policy, contexts, available)[:, order]


def uniform() -> Target:
    """Return the policy that takes every available action with the same probability."""
    return _Uniform()


def always(action: str | int, *, name: str | None = None) -> Target:
    """Return the policy that always takes one action, given by its name or number.

    Examples
    --------
    >>> log = Log(actions=[0], rewards=[1], propensities=[0.5], action_names=["stay", "go"])
    >>> always("go").probabilities(log)
    array([[0., 1.]])
    """
    return _Always(action, name)


def column(names: str | Sequence[str], *, name: str | None = None) -> Target:
    """Return the policy in columns of the log: one column with actions, or one column of probabilities per action.

    Parameters
    ----------
    names
        The column with the action that the policy would take; or the columns with its probability of each action.
    name
        Name of the policy in tables. None: the name of the columns.
    """
    return _Column(names, name)


def logged_probabilities() -> Target:
    """Return the logging policy itself, where the log has the probabilities of all actions."""
    return _Logged()


def as_it_stands(
    policy: Batched | Bandit | PairBandit, *, encoder: ContextEncoder | None = None, name: str | None = None
) -> Target:
    """Return a policy, such as a forest, in its present state; it does not learn during the evaluation.

    Parameters
    ----------
    policy
        A `Bandit` for a log with features, a `PairBandit` for a log with offers, or any policy with
        `propensities_many`. It must not have learned from the events that it is evaluated on. Features of the log that
        a bandit does not have are ignored.
    encoder
        Encoder of the features of the log as contexts of the policy. None: the log's own contexts. Must be None for a
        bandit, which encodes features itself.
    name
        Name of the policy in tables. None: the name of its class.
    """
    return _AsItStands(policy, encoder, name)


def action_number(action: object, names: tuple[str, ...], owner: str) -> int:
    """Return the number of an action that is given by its name or number."""
    if isinstance(action, str) and action in names:
        return names.index(action)
    if isinstance(action, (int, np.integer)) and not isinstance(action, bool) and 0 <= action < len(names):
        return int(action)
    refuse("action", owner, f"one of {', '.join(names[:20])}", action)


def _column_of(log: Log, name: str) -> NDArray[Any]:
    known = {**(log.features or {}), **log.columns}
    if name not in known:
        refuse("column", "column", f"a column of the log, which has {', '.join(known) or 'none'}", name)
    return known[name]


def _order(theirs: Sequence[str] | None, names: tuple[str, ...]) -> NDArray[np.intp]:
    """Return the policy's number of each action of the log: by name where both have the same names."""
    if theirs is not None and set(theirs) == set(names):
        return np.array([list(theirs).index(name) for name in names], dtype=np.intp)
    unnamed = theirs is None or all(name == f"action {number}" for number, name in enumerate(theirs))
    if not unnamed and not all(name == f"action {number}" for number, name in enumerate(names)):
        refuse("policy", "as_it_stands", f"one for the actions {', '.join(names)}", list(theirs or ()))
    return np.arange(len(names))


def propensities_of(policy: Batched, contexts: Any, available: NDArray[np.bool_] | None) -> Floats:
    """Return a policy's probabilities where each event has its own available actions, one row of bools per event."""
    if available is None or available.all():
        return policy.propensities_many(contexts)
    table = np.empty(available.shape)
    masks, group = np.unique(available, axis=0, return_inverse=True)
    for number, mask in enumerate(masks):
        rows = np.flatnonzero(group.ravel() == number)
        table[rows] = policy.propensities_many(contexts[rows], available_actions=np.flatnonzero(mask))
    return table
