"""Counter-based randomness: every draw is a function of its address, so nothing has to remember a generator.

The core, the reference, a reloaded forest and a forest spread over machines make the same draws, because each draw is a
hash of what it is for: (seed, event number) or (seed, tree, path, variable).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["child_key", "draw", "draw_depth", "mix", "random_subset", "root_key", "uniform"]

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


def mix(key: int, value: int) -> int:
    """Hash a 64-bit key and a value into a new key: the finaliser of SplitMix64 (Steele, Lea and Flood 2014).

    Examples
    --------
    >>> mix(1, 2) == mix(1, 2), mix(1, 2) == mix(2, 1)
    (True, False)
    """
    z = (key + _GOLDEN * (value + 1)) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def uniform(key: int) -> float:
    """Return the number in [0, 1) that belongs to a key: its 53 highest bits."""
    return (key >> 11) * 2.0**-53


# What a draw is for: the second word of every address. Kept equal to cpp/policy/random.hpp.
TREE, DECISION, TOLERANCE, DEPTH, KEY = 1, 2, 3, 4, 6


def draw(seed: int, purpose: int, number: int) -> float:
    """Return the uniform draw of one purpose and number."""
    return uniform(mix(mix(seed & _MASK, purpose), number))


def root_key(seed: int, tree: int) -> int:
    """Return the key of the empty path of a tree."""
    return mix(mix(seed & _MASK, TREE), tree)


def child_key(key: int, test: int, outcome: int) -> int:
    """Return the key of the path that goes on with the outcome of a test, the variable where that is binary."""
    return mix(key, 2 * test + outcome)


def draw_depth(seed: int, tree: int, depths: tuple[int, int]) -> int:
    """Return the depth of a tree, between the least and the most."""
    low, high = depths
    return low + int((high - low + 1) * draw(seed, DEPTH, tree))


def random_subset(key: int, variables: Sequence[int], share: float) -> list[int]:
    """Choose the variables that a path may split on, f(θ, c, i) = 1: a share of them, rounded up, in order.

    Examples
    --------
    >>> random_subset(root_key(7, 0), range(5), 1.0)
    [0, 1, 2, 3, 4]
    >>> len(random_subset(root_key(7, 0), range(10), 0.8))
    8
    """
    size = math.ceil(share * len(variables))
    if size == len(variables):
        return list(variables)
    ranked = sorted(variables, key=lambda variable: (mix(key ^ _MASK, variable), variable))
    return sorted(ranked[:size])
