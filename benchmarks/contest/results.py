"""The rows of all games, looked up by mode, set and contestant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from contest.rows import read_rows
from contest.split import SETS

__all__ = ["Key", "Results"]


class Key(NamedTuple):
    """A policy with one setting."""

    policy: str
    setting: str


class Results:
    """What all contestants did.

    Parameters
    ----------
    folders
        Folders of rows.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._games: dict[tuple[str, str, Key], dict[int, dict[str, Any]]] = defaultdict(dict)
        self.sizes: dict[str, tuple[int, int]] = {}
        """Number of events and of actions of each set."""
        for folder in folders:
            for row in read_rows(folder):
                key = Key(row["policy"], row["setting"])
                self._games[row["mode"], row["set"], key][row["shuffle"]] = row
                self.sizes[row["set"]] = row["events"], row["actions"]
        self.n_shuffles = max(map(len, self._games.values()))

    def keys(self, mode: str, policies: Sequence[str]) -> list[Key]:
        """Return the contestants among some policies that have played all shuffles of all sets in a mode."""
        keys = {key: None for played, _, key in self._games if played == mode and key.policy in policies}
        return [key for key in keys if all(self._is_complete(mode, name, key) for name in SETS)]

    def score(self, mode: str, name: str, key: Key, window: str = "all") -> float:
        """Return a value of a contestant's rows on a set, averaged over the shuffles."""
        return float(np.mean([row[window] for row in self._rows(mode, name, key)]))

    def mean_score(self, mode: str, names: Iterable[str], key: Key) -> float:
        """Return the score of a contestant over all events, averaged over sets."""
        return float(np.mean([self.score(mode, name, key) for name in names]))

    def best(self, mode: str, names: Sequence[str], keys: Iterable[Key]) -> Key:
        """Return the contestant whose mean score over sets is highest."""
        return max(keys, key=lambda key: self.mean_score(mode, names, key))

    def blocks(self, mode: str, name: str, key: Key) -> NDArray[np.float64]:
        """Return the score of each part of the streams of a set, one row per shuffle."""
        return np.array([row["blocks"] for row in self._rows(mode, name, key)])

    def _rows(self, mode: str, name: str, key: Key) -> list[dict[str, Any]]:
        games = self._games[mode, name, key]
        return [games[shuffle] for shuffle in sorted(games)]

    def _is_complete(self, mode: str, name: str, key: Key) -> bool:
        return len(self._games.get((mode, name, key), ())) == self.n_shuffles
