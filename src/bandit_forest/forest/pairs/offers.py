"""What a forest over pairs is given: events, the actions that each of them offers, and their names."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.errors import refuse
from bandit_forest.parameters import MOST_CELLS
from bandit_forest.validation import check_codes, key_number

__all__ = ["Offers", "Ranking", "check_names", "check_offer", "check_offers"]

Codes = NDArray[np.uint8]
Numbers = NDArray[np.uint64]

_MOST_OFFERED = 2**16


class Ranking(NamedTuple):
    """The offered actions of an event in the order of their draws, and the probability of each to be the first."""

    order: NDArray[np.int64]
    """Positions of the offered actions by rank; the first one is the action that `decide` draws."""
    propensities: NDArray[np.float64]
    """The probability of each offered action to be the first, in the order of the offer."""


class Offers(NamedTuple):
    """Checked events as the core takes them; the actions of all events stand one after the other."""

    contexts: Codes
    actions: Codes
    starts: NDArray[np.int64]
    names: Numbers | None


class Sides(NamedTuple):
    """What the codes of contexts and of actions may be."""

    n_context_variables: int
    n_action_variables: int
    largest_context: Codes | None
    largest_action: Codes | None

    def contexts(self, contexts: Any, owner: str, ndim: int = 2) -> Codes:
        """Return checked contexts, or one of them, as rows."""
        return check_codes(
            contexts,
            "context" if ndim == 1 else "contexts",
            owner,
            self.n_context_variables,
            self.largest_context,
            ndim=ndim,
        )

    def actions(self, actions: Any, owner: str, ndim: int = 2) -> Codes:
        """Return checked actions, or one of them, as rows."""
        return check_codes(
            actions,
            "action" if ndim == 1 else "actions",
            owner,
            self.n_action_variables,
            self.largest_action,
            ndim=ndim,
        )


def check_offer(sides: Sides, context: ArrayLike, actions: ArrayLike, names: Any, owner: str) -> Offers:
    """Return one event."""
    rows = sides.actions(actions, owner)
    if not 1 <= len(rows) <= _MOST_OFFERED:
        refuse("actions", owner, f"1 to {_MOST_OFFERED} rows, one for each offered action", actions)
    starts = np.array([0, len(rows)], dtype=np.int64)
    return Offers(sides.contexts(context, owner, 1), rows, starts, check_names(names, owner, len(rows)))


def check_offers(
    sides: Sides, contexts: ArrayLike, actions: ArrayLike, n_offered: ArrayLike, names: Any, owner: str
) -> Offers:
    """Return a batch of events."""
    rows, offered = sides.contexts(contexts, owner), sides.actions(actions, owner)
    rule = f"{len(rows)} ints in [1, {_MOST_OFFERED}] that add up to the number of actions, {len(offered)}"
    counts = np.asarray(n_offered)
    if counts.shape != (len(rows),) or (counts.size and counts.dtype.kind not in "iu"):
        refuse("n_offered", owner, rule, n_offered)
    if counts.size and (counts.min() < 1 or counts.max() > _MOST_OFFERED):
        refuse("n_offered", owner, rule, n_offered)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    if starts[-1] != len(offered) or len(offered) > MOST_CELLS:
        refuse("n_offered", owner, rule, n_offered)
    return Offers(rows, offered, starts, check_names(names, owner, len(offered)))


def check_names(names: Any, owner: str, n_actions: int) -> Numbers | None:
    """Return the number of each name: a uint64 array is taken as it is, ints, texts and bytes are hashed.

    Examples
    --------
    >>> check_names(["a17", "a18"], "PairForest.decide", 2).dtype
    dtype('uint64')
    """
    if names is None:
        return None
    if isinstance(names, np.ndarray) and names.dtype == np.uint64:
        numbers: Numbers = np.array(names)
    elif isinstance(names, (str, bytes)) or not hasattr(names, "__len__"):
        refuse("names", owner, f"{n_actions} ints, texts or bytes", names)
    else:
        hashed = [key_number(name, owner, f"names[{place}]") for place, name in enumerate(names)]
        numbers = np.array(hashed, dtype=np.uint64)
    if numbers.shape != (n_actions,):
        refuse("names", owner, f"{n_actions} ints, texts or bytes", names)
    return numbers
