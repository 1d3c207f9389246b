"""Checks of the parameters that make a policy: each returns the clean value or refuses in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bandit_forest.errors import refuse
from bandit_forest.validation import check_number

__all__ = ["MOST_ACTIONS", "MOST_CELLS", "check_names", "check_parameter", "check_share", "check_size"]

MOST_ACTIONS = 2**16
MOST_CELLS = 2**28
"""Numbers in one array: beyond that memory would run out, at the first event if not before."""


def check_parameter(
    value: object, name: str, owner: str, rule: str, low: float, high: float, *, open_low: bool = False
) -> float:
    """Return a float in [low, high], or in (low, high] when `open_low`; true and false are not numbers here."""
    if isinstance(value, (bool, np.bool_)):
        refuse(name, owner, rule, value)
    return check_number(value, name, owner, rule, low, high, open_low=open_low)


def check_share(value: object, name: str, owner: str) -> float:
    """Return a float in (0, 1].

    Examples
    --------
    >>> check_share(1, "exploration", "Banditron")
    1.0
    """
    return check_parameter(value, name, owner, "a number in (0, 1]", 0.0, 1.0, open_low=True)


def check_size(size: int, most: int, name: str, owner: str, beside: str) -> None:
    """Refuse a size that makes arrays of more than `MOST_CELLS` beside the other sizes.

    Examples
    --------
    >>> check_size(2**20, MOST_CELLS // 1000, "n_variables", "BanditForest", "1000 actions")
    Traceback (most recent call last):
        ...
    bandit_forest.errors.InvalidArgumentError: The 'n_variables' of BanditForest must be at most 268435 with 1000 \
actions. Got 1048576 instead.
    """
    if size > most:
        refuse(name, owner, f"at most {most} with {beside}", size)


def check_names(names: Sequence[str] | None, name: str, owner: str, size: int, prefix: str) -> tuple[str, ...]:
    """Return `size` different names, made of a prefix and a number when None.

    Examples
    --------
    >>> check_names(None, "variable_names", "BanditForest", 2, "x")
    ('x0', 'x1')
    """
    if names is None:
        return tuple(f"{prefix}{number}" for number in range(size))
    listed = isinstance(names, Sequence) and not isinstance(names, (str, bytes)) and len(names) == size
    if not listed or not all(isinstance(one, str) for one in names) or len(set(names)) != size:
        refuse(name, owner, f"a list of {size} different names", names)
    return tuple(names)
