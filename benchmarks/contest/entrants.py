"""The lines of the tables: which setting of a policy stands for it, and on which sets it was chosen."""

from __future__ import annotations

from typing import NamedTuple

from contest.results import Key, Results
from contest.split import SETS, SPLIT

__all__ = ["FOREST", "VOWPAL_WABBIT", "Entrant", "choose_entrants", "describe_key"]

FOREST = "Bandit Forest, default"
VOWPAL_WABBIT = "Vowpal Wabbit, one setting"
ANY_BINS = ("vw5", "vw20")
CHOSEN = {
    FOREST: ("forest",),
    VOWPAL_WABBIT: ANY_BINS,
    "Vowpal Wabbit, five bins": ("vw5",),
    "Vowpal Wabbit, twenty bins": ("vw20",),
    "LightGBM": ("lightgbm",),
    "LinUCB": ("linucb",),
    "NeuralBandit": ("neuralbandit",),
    "Bandit Forest of the paper": ("paper",),
    "best constant action": ("constant",),
    "uniform": ("uniform",),
}
"""Policies among whose settings the best on the choosing sets is taken."""
NAMES = {
    "vw5": "Vowpal Wabbit, five bins",
    "vw20": "Vowpal Wabbit, twenty bins",
    "lightgbm": "LightGBM",
    "linucb": "LinUCB",
    "neuralbandit": "NeuralBandit",
}
"""Names of the policies that have settings."""
ON_ALL = "Vowpal Wabbit, one setting chosen on all sets"
ON_EACH = "Vowpal Wabbit, its best for each set"


class Entrant(NamedTuple):
    """A line of the tables."""

    name: str
    keys: dict[str, Key]
    """The contestant that stands for it on each set."""

    @property
    def setting(self) -> str:
        """The policy and setting that it plays on all sets; empty if there are none or several."""
        key, *others = set(self.keys.values())
        return describe_key(key) if key.setting and not others else ""


def choose_entrants(results: Results, *, mode: str) -> list[Entrant]:
    """Return the lines of a mode; policies that have not played all its sets are left out."""
    entrants = {name: _one(results, mode, policies, SPLIT.choosing, name) for name, policies in CHOSEN.items()}
    settings = results.keys(mode, ANY_BINS)
    if settings:
        entrants[ON_ALL] = _one(results, mode, ANY_BINS, SETS, ON_ALL)
        entrants[ON_EACH] = Entrant(ON_EACH, {name: results.best(mode, [name], settings) for name in SETS})
    order = [*list(CHOSEN)[:4], ON_ALL, ON_EACH, *list(CHOSEN)[4:]]
    return [entrant for name in order if (entrant := entrants.get(name)) is not None]


def _one(results: Results, mode: str, policies: tuple[str, ...], sets: tuple[str, ...], name: str) -> Entrant | None:
    """Return the entrant with the one setting that is best over some sets."""
    keys = results.keys(mode, policies)
    if not keys:
        return None
    return Entrant(name, dict.fromkeys(SETS, results.best(mode, sets, keys)))


def describe_key(key: Key) -> str:
    """Return the policy and its setting in words."""
    return f"{NAMES[key.policy]}, `{key.setting}`"
