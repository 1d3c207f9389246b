"""Wrong values for every parameter of the protocol: of the wrong type, shape, range, or not a number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.checks.inputs import sparse_rows

__all__ = ["BAD_NUMBERS", "BAD_SIZES", "bad_values"]

BAD_SIZES: tuple[Any, ...] = (0, -1, 2.5, math.nan, None, "3", True, [3])

BAD_NUMBERS: tuple[Any, ...] = (-0.1, 1.1, math.nan, math.inf, -math.inf, None, "0.5", 1j, [0.5], np.array([0.5]), {})
_BAD_CONTEXTS: tuple[Any, ...] = (
    *(None, "01010", 1, math.nan, {0: 1}),
    *([], [0] * 4, [0] * 6, [[0] * 5], [[0], [1, 1]]),
    *([2, 0, 0, 0, 0], [0, -1, 0, 0, 0], [0, 0, 0.5, 0, 0], [0, 0, 0, math.nan, 0], [0, 0, 0, 0, math.inf]),
    *([1j] * 5, ["0"] * 5, [None] * 5, np.full(5, 255, dtype=np.uint8), np.full(5, -1, dtype=np.int8)),
)


def bad_values(parameter: str, good: Any, *, n_actions: int) -> list[Any]:
    """Return wrong values for a parameter, those of an array made from a good one.

    The last event of a batch is the wrong one where there is a choice, so that a policy which learns before it looks at
    all of them is found out.
    """
    bad_actions = [-1, n_actions, 10**30, 0.5, math.nan, None, "0", True, [0], np.array([0])]
    match parameter:
        case "context":
            return list(_BAD_CONTEXTS)
        case "action":
            return bad_actions
        case "reward":
            return list(BAD_NUMBERS)
        case "propensity":
            return [*BAD_NUMBERS, 0.0]
        case "available_actions":
            return [[], 1, "01", {0}, [[0]], [0.0], [None], [True, False, True], [-1], [0, n_actions], [10**30]]
        case "contexts":
            return _bad_batches(good)
        case "actions":
            return [*_bad_arrays(good), *(_with_last(good, value) for value in (-1, n_actions, 0.5, math.nan))]
        case "rewards":
            return [*_bad_arrays(good), *(_with_last(good, value) for value in (-0.1, 1.1, math.nan, math.inf))]
        case _:
            return [*_bad_arrays(good), *(_with_last(good, value) for value in (0.0, -0.1, 1.1, math.nan))]


def _bad_arrays(good: NDArray[Any]) -> list[Any]:
    """Return arrays of the wrong type or shape."""
    return [None, "0", 0, {}, good[:-1], good[..., None], good.astype(str), good.astype(complex), good.astype(object)]


def _bad_batches(good: NDArray[np.uint8]) -> list[Any]:
    """Return batches of contexts that are wrong, dense, packed and sparse."""
    sparse = sparse_rows(good)
    return [
        *(None, "0", 0, {}, good[0], good[:, :-1], good[..., None], good.astype(str), good.astype(complex)),
        *(_with_last(good, value) for value in (2, -1, 0.5, math.nan)),
        np.full((len(good), 1), 1 << 40, dtype=np.uint64),
        sparse._replace(shape=(len(good), good.shape[1] + 1)),
        sparse._replace(indptr=sparse.indptr[::-1]),
        sparse._replace(indices=sparse.indices + 1),
        sparse._replace(indices=sparse.indices + 0.5),
        sparse._replace(data=2 * sparse.data),
    ]


def _with_last(good: NDArray[Any], value: float) -> NDArray[Any]:
    """Return a copy whose last number is another."""
    bad = good.astype(np.float64) if isinstance(value, float) else good.astype(np.int64)
    bad.flat[-1] = value
    return bad
