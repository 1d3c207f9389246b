"""A checked event: a context, and the actions that it offers."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.pairs.decisions import Read
from bandit_forest.validation import key_number

__all__ = ["Offer"]


class Offer(NamedTuple):
    """One event."""

    context: Read
    ids: list[str | int]
    """The ids of the offered actions."""
    actions: list[Read]
    """Their features."""
    names: NDArray[np.uint64]
    """The numbers of their ids in the table of names."""

    @classmethod
    def of(cls, context: Read, ids: list[str | int], actions: list[Read]) -> Self:
        """Return the event of checked parts."""
        return cls(context, ids, actions, np.array([_name_number(own) for own in ids], dtype=np.uint64))


@lru_cache(maxsize=2**16, typed=True)
def _name_number(own: str | int) -> int:
    """Return the number of an id in the table of names; most ids come again and again."""
    return key_number(own, "PairBandit")
