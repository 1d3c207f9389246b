"""Which data sets serve to choose settings on, and which to report on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

__all__ = ["SETS", "SPLIT", "Split", "split_sets"]

SETS = (
    "abalone",
    "anneal",
    "bank",
    "car",
    "churn",
    "cmc",
    "credit.g",
    "hypothyroid",
    "kr.vs.kp",
    "krkopt",
    "letter",
    "mushroom",
    "nursery",
    "optdigits",
    "page.blocks",
    "pendigits",
    "poker",
    "segment",
    "shoppers",
    "shuttle",
    "soybean",
    "spambase",
    "splice",
    "tic-tac-toe",
    "vehicle",
    "vowel",
    "waveform5000",
    "winewhite",
)
"""Names of all sets."""


class Split(NamedTuple):
    """The two halves of the data sets, each in alphabetical order."""

    choosing: tuple[str, ...]
    reporting: tuple[str, ...]


def split_sets(names: Iterable[str]) -> Split:
    """Return the halves of the sets, drawn once by a fixed seed.

    Parameters
    ----------
    names
        Names of all sets, in any order.
    """
    ordered = sorted(names)
    drawn = [ordered[place] for place in np.random.default_rng(0).permutation(len(ordered))]
    half = len(ordered) // 2
    return Split(tuple(sorted(drawn[:half])), tuple(sorted(drawn[half:])))


SPLIT = split_sets(SETS)
