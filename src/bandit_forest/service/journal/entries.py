"""The entries of the journal, one for each operation, in the order in which they were applied."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ADD", "DECIDE", "DISABLE", "ENABLE", "EXPIRE", "FILE", "LEARN", "REMOVE", "REWARD", "Entry"]

DECIDE, REWARD, LEARN, EXPIRE = "decide", "reward", "learn", "expire"
ADD, DISABLE, ENABLE, REMOVE = "add", "disable", "enable", "remove"
FILE = "file"  # the project file names other actions than at the last start


class Entry(NamedTuple):
    """One operation: a row of the journal. It holds all that its effect depends on, so that replay is exact."""

    seq: int
    """1, 2, 3, ...: the order of everything."""
    time: float
    """Seconds since 1970; never less than that of the entry before."""
    kind: str
    event_id: str | None = None
    action: str | None = None
    """The action that was taken (of an offered one its id), or that was added, disabled, enabled or removed."""
    propensity: float | None = None
    """The probability with which it was taken."""
    reward: float | None = None
    """In the project's units; of an expired event, the default reward or None."""
    context: str | None = None
    """JSON with its names in order; in older journals, as they were sent."""
    available: str | None = None
    """The names of the available actions, as a JSON list; None: all that were enabled. Of FILE, those of the file.

    Where actions are offered: the offer and its ranking, as a JSON object.
    """
    forest_action: str | None = None
    """In shadow mode, what the forest would have done."""
    forest_propensity: float | None = None
    forest_value: float | None = None
    """The estimated reward of `forest_action`, in the project's units."""
