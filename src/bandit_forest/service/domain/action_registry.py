"""The actions by name: each has a place in the forest for ever, and a state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["DISABLED", "ENABLED", "REMOVED", "ActionBook", "Available"]

ENABLED, DISABLED, REMOVED = "enabled", "disabled", "removed"


class Available(NamedTuple):
    """Actions that may be taken: their places in order, and the same as a mask over all places."""

    places: NDArray[np.int64]
    mask: NDArray[np.bool_]


class ActionBook:
    """Which actions there are; a name keeps its place when it is disabled or removed, and is never given again.

    Parameters
    ----------
    capacity
        How many places there are.

    Examples
    --------
    >>> book = ActionBook(capacity=16)
    >>> book.add("red")
    >>> book.add("blue")
    >>> book.set_state("red", DISABLED)
    >>> book.enabled.places.tolist(), book.names
    ([1], ['red', 'blue'])
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.names: list[str] = []
        self.places: dict[str, int] = {}
        self.enabled = self._available([])
        """The actions that are enabled."""
        self._states: dict[str, str] = {}

    @property
    def is_full(self) -> bool:
        """Whether all places are taken."""
        return len(self.names) >= self.capacity

    @property
    def padded_names(self) -> list[str]:
        """A name for every place, also for those that no action has yet."""
        free = (f"(free place {place})" for place in range(len(self.names), self.capacity))
        return self.names + [f"{name}\n" if name in self.places else name for name in free]  # no action is named so

    def state(self, name: str) -> str | None:
        """Give the state of an action, None when there was never one of this name."""
        return self._states.get(name)

    def is_enabled(self, name: object) -> bool:
        """Say whether an action may be taken."""
        return isinstance(name, str) and self._states.get(name) == ENABLED

    def add(self, name: str) -> None:
        """Give an action the next place."""
        self.places[name] = len(self.names)
        self.names.append(name)
        self.set_state(name, ENABLED)

    def set_state(self, name: str, state: str) -> None:
        """Enable, disable or remove an action."""
        self._states[name] = state
        self.enabled = self.available([name for name in self.names if self._states[name] == ENABLED])

    def available(self, names: Iterable[str]) -> Available:
        """Give the actions of these names as what may be taken."""
        return self._available([self.places[name] for name in names])

    def _available(self, places: list[int]) -> Available:
        mask = np.zeros(self.capacity, dtype=np.bool_)
        mask[places] = True
        return Available(np.flatnonzero(mask), mask)

    def to_json(self) -> list[Sequence[Any]]:
        """Give a list that JSON can hold."""
        return [(name, self._states[name]) for name in self.names]

    def restore(self, saved: list[Sequence[Any]]) -> None:
        """Take over what `to_json` gave."""
        for name, state in saved:
            self.add(name)
            self.set_state(name, state)
