"""The actions by name: each has an index in the policy for ever, and a state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.errors import ActionError, CapacityError, UnknownActionError
from bandit_forest.errors import refuse, shown
from bandit_forest.validation import check_int

__all__ = [
    "DISABLED",
    "ENABLED",
    "LONGEST_NAME",
    "REMOVED",
    "ActionRegistry",
    "Available",
    "check_action_names",
    "is_name",
]

ENABLED, DISABLED, REMOVED = "enabled", "disabled", "removed"
LONGEST_NAME = 200
_SPARE_ACTIONS = 8
_LEAST_CAPACITY = 16
_MOST_CAPACITY = 2**16


class Available(NamedTuple):
    """Actions that may be taken: their indices in order, and the same as a mask over all indices, also as bytes."""

    indices: NDArray[np.int64]
    mask: NDArray[np.bool_]
    packed: bytes


def is_name(text: str) -> bool:
    """Return whether a text may name an action or an event: printable, so that every file can hold it."""
    return 0 < len(text) <= LONGEST_NAME and text.isprintable()


def check_action_names(names: object, owner: str, parameter: str = "actions") -> tuple[str, ...]:
    """Return the names of actions, or refuse them."""
    rule = f"a list of different printable names of at most {LONGEST_NAME} characters, at least one"
    if isinstance(names, Set):
        refuse(parameter, owner, f"{rule}; a set has no order, so sort it", names)
    if isinstance(names, (str, bytes, Mapping)) or not isinstance(names, Iterable):
        refuse(parameter, owner, rule, names)
    listed = list(names)
    if not listed:
        refuse(parameter, owner, rule, names)
    seen: set[str] = set()
    for name in listed:
        if not isinstance(name, str) or not is_name(name) or name in seen:
            refuse(parameter, owner, rule, name)
        seen.add(name)
    return tuple(map(str, listed))


class ActionRegistry:
    """The actions that there are; a name keeps its index when it is disabled or removed, and is never given again.

    Parameters
    ----------
    capacity
        Largest number of actions that there may ever be, removed ones included.

    Examples
    --------
    >>> registry = ActionRegistry(capacity=16)
    >>> registry.add("red")
    >>> registry.add("blue")
    >>> registry.disable("red")
    >>> registry.enabled.indices.tolist(), registry.names
    ([1], ['red', 'blue'])
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.names: list[str] = []
        self.indices: dict[str, int] = {}
        self.enabled = self._available([])
        """The actions that are enabled."""
        self._states: dict[str, str] = {}

    @staticmethod
    def capacity_for(n_names: int, capacity: int | None, owner: str) -> int:
        """Return the capacity, or, when it is None, room for some more actions than there are names."""
        if capacity is None:
            return max(n_names + _SPARE_ACTIONS, _LEAST_CAPACITY)
        return check_int(capacity, "capacity", owner, low=max(2, n_names), high=_MOST_CAPACITY)

    @property
    def states(self) -> dict[str, str]:
        """The state of each action."""
        return dict(self._states)

    @property
    def padded_names(self) -> list[str]:
        """A name for every index of the policy, also for those that no action has yet."""
        free = (f"(free place {index})" for index in range(len(self.names), self.capacity))
        return self.names + [f"{name}\n" if name in self.indices else name for name in free]  # no action is named so

    def state(self, name: str) -> str | None:
        """Return the state of an action, None when there was never one of this name."""
        return self._states.get(name)

    def is_enabled(self, name: object) -> bool:
        """Return whether an action may be taken."""
        return isinstance(name, str) and self._states.get(name) == ENABLED

    def add(self, name: str) -> None:
        """Add an action at the next index; refused when the name was used before or the capacity is spent."""
        if not isinstance(name, str) or not is_name(name):
            raise ActionError(
                f"An action must have a printable name of 1 to {LONGEST_NAME} characters. Got {shown(name)}."
            )
        state = self.state(name)
        if state is not None:
            cure = {REMOVED: "take another name", DISABLED: "enable it instead", ENABLED: "it is there"}[state]
            raise ActionError(f"The action '{name}' is {state} already: {cure}.")
        if len(self.names) >= self.capacity:
            raise CapacityError(
                f"There is room for {self.capacity} actions, removed ones included, and all of it is used: begin anew "
                "with a larger 'capacity'."
            )
        self.indices[name] = len(self.names)
        self.names.append(name)
        self._set(name, ENABLED)

    def enable(self, name: str) -> None:
        """Bring a disabled action back."""
        self._change(name, ENABLED)

    def disable(self, name: str) -> None:
        """Take an action out of play for now."""
        self._change(name, DISABLED)

    def remove(self, name: str) -> None:
        """Take an action out of play for ever."""
        self._change(name, REMOVED)

    def available(self, names: Iterable[str]) -> Available:
        """Return the actions of these names as what may be taken."""
        return self._available([self.indices[name] for name in names])

    def check_available(self, names: Any, owner: str, *, row: int | None = None) -> Available:
        """Return the actions of some names as what may be taken, all that are enabled when None; or refuse them.

        Parameters
        ----------
        names
            Any iterable of names.
        owner
            What they were given to.
        row
            Number of their row in a batch.
        """
        if names is None:
            return self.enabled
        where = "" if row is None else f"; row {row} is wrong"
        listed = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else []
        if not listed:
            refuse("available_actions", owner, f"a list of names of enabled actions, at least one{where}", names)
        for name in listed:
            if not self.is_enabled(name):
                enabled = ", ".join(known for known in self.names if self.is_enabled(known))
                refuse("available_actions", owner, f"names of enabled actions, which are {enabled}{where}", name)
        return self.available(listed)

    def check_action(self, name: object, owner: str, *, row: int | None = None, is_decided: bool = False) -> int:
        """Return the index of an action that may have been taken, disabled ones included; or refuse it.

        Parameters
        ----------
        name
            Name of the action.
        owner
            What it was given to.
        row
            Number of its row in a batch.
        is_decided
            Whether this bandit took it: it may have been removed since.
        """
        if not isinstance(name, str) or self.state(name) in ((None,) if is_decided else (None, REMOVED)):
            known = ", ".join(known for known in self.names if self._states[known] != REMOVED)
            if row is not None:
                refuse("actions", owner, f"names, each one of {known}; row {row} is wrong", name)
            refuse("action", owner, f"one of {known}", name)
        return self.indices[name]

    def _change(self, name: str, state: str) -> None:
        """Change the state of an action; one that is so already stays so."""
        now = self.state(name) if isinstance(name, str) else None
        if now is None:
            raise UnknownActionError(f"There is no action {shown(name)}. There are: {', '.join(self.names)}.")
        if now == state:
            return
        if now == REMOVED:
            raise ActionError(f"The action '{name}' was removed for ever: add one with another name.")
        if now == ENABLED and len(self.enabled.indices) == 1:
            raise ActionError(f"'{name}' is the last enabled action: enable or add another one first.")
        self._set(name, state)

    def _set(self, name: str, state: str) -> None:
        self._states[name] = state
        self._refresh()

    def _refresh(self) -> None:
        self.enabled = self.available([name for name in self.names if self._states[name] == ENABLED])

    def _available(self, indices: list[int]) -> Available:
        mask = np.zeros(self.capacity, dtype=np.bool_)
        mask[indices] = True
        return Available(np.flatnonzero(mask), mask, mask.tobytes())

    def to_json(self) -> list[Sequence[Any]]:
        """Return a list that JSON can hold."""
        return [(name, self._states[name]) for name in self.names]

    def restore(self, saved: list[Sequence[Any]]) -> None:
        """Take over what `to_json` gave."""
        for name, state in saved:
            self.indices[name] = len(self.names)
            self.names.append(name)
            self._states[name] = state
        self._refresh()
