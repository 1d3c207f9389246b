"""What linear policies over pairs are given: numbers, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.errors import refuse

__all__ = ["Floats", "check_numbers", "products"]

Floats = NDArray[np.float64]


def check_numbers(values: Any, name: str, owner: str, shape: tuple[int | None, ...]) -> Floats:
    """Return finite numbers of a shape; None stands for any length of at least 1.

    Examples
    --------
    >>> check_numbers([[1, 2]], "actions", "SharedLinUCB.decide", (None, 2))
    array([[1., 2.]])
    """
    sizes = " x ".join("any number of" if size is None else str(size) for size in shape)
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        refuse(name, owner, f"{sizes} finite numbers", values)
    fits = array.ndim == len(shape) and all(
        size == given or (size is None and given > 0) for size, given in zip(shape, array.shape, strict=True)
    )
    if not fits or not np.isfinite(array).all():
        refuse(name, owner, f"{sizes} finite numbers", values)
    return array


def products(context: Floats, actions: Floats) -> Floats:
    """Return the products of each feature of the context, and of 1, with each feature of an action: one row per action.

    Examples
    --------
    >>> products(np.array([2.0]), np.array([[3.0, 5.0]]))
    array([[ 6., 10.,  3.,  5.]])
    """
    both = np.append(context, 1.0)[:, np.newaxis] * actions[:, np.newaxis, :]
    return both.reshape(len(actions), -1)
