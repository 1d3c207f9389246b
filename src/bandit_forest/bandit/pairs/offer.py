"""A checked event: a context, and the actions that it offers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.pairs.decisions import Read

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
