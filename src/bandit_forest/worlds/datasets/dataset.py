"""A data set that is ready to be played: encoded contexts and the rewarded action of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.encoding import ContextEncoder
from bandit_forest.worlds.classification import Classification
from bandit_forest.worlds.packing import unpack

__all__ = ["Dataset"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset:
    """Encoded rows and their labels."""

    name: str
    """A short name for tables and files; it says so when the rows are only a part of the whole."""
    description: str
    """A sentence: what it is, from which files, how large, and whether they are those that UCI publishes."""
    words: NDArray[np.uint64] = field(repr=False)
    """The contexts, packed in 64-bit words, one row per context."""
    labels: NDArray[np.int64] = field(repr=False)
    """The rewarded action of each row, -1 where no action is rewarded."""
    action_names: tuple[str, ...] = field(repr=False)
    """The name of each action."""
    encoder: ContextEncoder = field(repr=False)
    """The encoder that made the contexts."""
    files: Mapping[str, str] = field(repr=False)
    """The files that were read, and the SHA-256 of each one's text."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.labels)

    @property
    def n_variables(self) -> int:
        """The number of binary variables of a context."""
        return self.encoder.n_variables

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return len(self.action_names)

    @property
    def variable_names(self) -> list[str]:
        """The name of each binary variable."""
        return self.encoder.variable_names

    @property
    def contexts(self) -> NDArray[np.uint8]:
        """The contexts as a matrix of zeros and ones, unpacked at each call."""
        return unpack(self.words, self.n_variables)

    def world(
        self, *, noise: float = 0.05, comparator: Callable[[NDArray[np.uint8]], ArrayLike] | None = None
    ) -> Classification:
        """Play the data set as a bandit; the parameters are those of `Classification`."""
        return Classification(
            contexts=self.words,
            labels=self.labels,
            n_variables=self.n_variables,
            n_actions=self.n_actions,
            noise=noise,
            comparator=comparator,
            name=self.name,
        )
