"""The two rules that make a forest: how it grows and how it explores. Values that only store and check."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from bandit_forest.errors import refuse
from bandit_forest.parameters import check_parameter, check_share
from bandit_forest.validation import check_int

__all__ = [
    "Elimination",
    "Exploration",
    "Greedy",
    "Growth",
    "InverseGap",
    "RoundRobin",
    "UniformOverRemaining",
]

Remaining = Literal["all", "path", "inherited"]
Estimate = Literal["plays", "visits", "scaled", "weights"]


@dataclass(frozen=True, kw_only=True)
class Elimination:
    """Growth by elimination, as in the paper: a stump is chosen when all other variables have been eliminated.

    The defaults are the algorithm as it is analysed (Algorithm 6); `BanditForest.paper` has the practical variant of
    the paper's experiments.

    Parameters
    ----------
    delta
        Probability of failure, δ.
    tolerance
        Approximation ε: a number, or a range from which each node draws its own.
    remaining
        Actions in play on a path that still selects its variable: "all", as NewPath says; "path", the actions that
        elimination on the path's own events has left; "inherited", the same, but starting from the parent's.
    estimate
        Mean rewards that elimination compares. "plays" divides the sum of rewards by the plays of the action. The
        others divide each reward by its propensity first, and the sum by the "visits" of the path (Horvitz-Thompson),
        by the plays ("scaled", the words of section 5 taken literally), or by the sum of 1 / propensity ("weights",
        self-normalised).
    test_interval
        Number of visits of a path between two tests for elimination. A test is left out if the least played remaining
        action has not been played since the last one. Testing less often keeps every guarantee.

    Examples
    --------
    >>> Elimination(delta=0.1, tolerance=(0.4, 0.8)).tolerance_range
    (0.4, 0.8)
    """

    delta: float = 0.05
    tolerance: float | tuple[float, float] = 0.0
    remaining: Remaining = "all"
    estimate: Estimate = "plays"
    test_interval: int = 1

    def __post_init__(self) -> None:
        _store(self, delta=check_share(self.delta, "delta", "Elimination"))
        _check_choice(self.remaining, "remaining", "Elimination", get_args(Remaining))
        _check_choice(self.estimate, "estimate", "Elimination", get_args(Estimate))
        _store(self, test_interval=check_int(self.test_interval, "test_interval", "Elimination", high=2**31))
        _store(self, tolerance=_check_tolerance(self.tolerance))

    @property
    def tolerance_range(self) -> tuple[float, float]:
        """The range from which each node draws its tolerance."""
        return self.tolerance if isinstance(self.tolerance, tuple) else (self.tolerance, self.tolerance)


@dataclass(frozen=True, kw_only=True)
class Greedy:
    """Growth by the best split so far: a leaf splits as soon as its best split explains more than noise would.

    A leaf remembers its events, tries to split when it holds `min_events` and then each time it holds twice as
    many, and hands its events and mean rewards on to its children. All trees grow together, after every 64th event.

    Parameters
    ----------
    min_events
        Events that a leaf holds when it first tries to split, at most `log_capacity`.
    min_gain
        A leaf splits when the variance of the rewards that its best split explains, summed over its events, is at
        least so many times their variance within the leaf.
    shrinkage
        Events that a leaf's inherited mean rewards are worth beside its own.
    learning_share
        Share of the trees that learn an event; each tree draws its own events.
    log_capacity
        Events that are remembered for splitting, a power of two; with `max_nodes` it bounds memory.
    lifetime
        Events after which a tree is replaced by a new one, for worlds that change; the trees take turns. None: never.

    Examples
    --------
    >>> Greedy(min_events=100).shrinkage
    2.0
    """

    min_events: int = 50
    min_gain: float = 6.0
    shrinkage: float = 2.0
    learning_share: float = 0.4
    log_capacity: int = 2**21
    lifetime: int | None = None

    def __post_init__(self) -> None:
        capacity = check_int(self.log_capacity, "log_capacity", "Greedy", low=2, high=2**31)
        if capacity.bit_count() != 1:
            refuse("log_capacity", "Greedy", "a power of two", self.log_capacity)
        _store(
            self,
            min_events=check_int(self.min_events, "min_events", "Greedy", low=2, high=min(2**24, capacity)),
            min_gain=check_parameter(self.min_gain, "min_gain", "Greedy", "a number in [0, 1000]", 0.0, 1000.0),
            shrinkage=check_parameter(
                self.shrinkage, "shrinkage", "Greedy", "a number in [0.001, 1000]", 0.001, 1000.0
            ),
            learning_share=check_share(self.learning_share, "learning_share", "Greedy"),
            log_capacity=capacity,
            lifetime=None if self.lifetime is None else check_int(self.lifetime, "lifetime", "Greedy", high=2**62),
        )


@dataclass(frozen=True, kw_only=True)
class InverseGap:
    """Exploration by inverse gap weighting: the further an action's mean is below the best, the rarer it is drawn.

    An action is drawn with probability 1 / (n_actions + greed * sqrt(events) * gap), the best one with what is left.
    The gaps are those of optimistic means: what few events speak for may be better than it looks.

    Parameters
    ----------
    greed
        How fast exploration gives way to the best action.
    optimism
        A mean is raised by so many times its standard error, and sqrt(log(1 + events)); 0 takes it as it is.

    References
    ----------
    Foster and Rakhlin, Beyond UCB: Optimal and Efficient Contextual Bandits with Regression Oracles, ICML 2020.
    """

    greed: float = 10.0
    optimism: float = 0.3

    def __post_init__(self) -> None:
        rule = "a number in (0, 1e9]"
        _store(
            self,
            greed=check_parameter(self.greed, "greed", "InverseGap", rule, 0.0, 1e9, open_low=True),
            optimism=check_parameter(self.optimism, "optimism", "InverseGap", "a number in [0, 1000]", 0.0, 1000.0),
        )


@dataclass(frozen=True, kw_only=True)
class RoundRobin:
    """Exploration in rotation: the settled trees vote once enough of them have settled, else the actions take turns.

    Parameters
    ----------
    quorum
        Share of the trees that must have one action left for a vote; 1 is line 5 of Algorithm 6.
    """

    quorum: float = 1.0

    def __post_init__(self) -> None:
        _store(self, quorum=check_share(self.quorum, "quorum", "RoundRobin"))


@dataclass(frozen=True, kw_only=True)
class UniformOverRemaining:
    """Exploration by a uniform draw among the remaining actions of the paths, with its exact propensity.

    Parameters
    ----------
    draw
        "union": uniformly among the actions that remain in some tree; "tree": a tree first, then one of its remaining
        actions.
    quorum
        Share of the trees that must have one action left for a vote.
    """

    draw: Literal["union", "tree"] = "union"
    quorum: float = 1.0

    def __post_init__(self) -> None:
        _check_choice(self.draw, "draw", "UniformOverRemaining", ("union", "tree"))
        _store(self, quorum=check_share(self.quorum, "quorum", "UniformOverRemaining"))


Growth = Elimination | Greedy
Exploration = RoundRobin | UniformOverRemaining | InverseGap


def _check_choice(value: object, name: str, owner: str, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        refuse(name, owner, "one of " + ", ".join(map(repr, choices)), value)


def _store(rule: object, **values: object) -> None:
    """Keep the plain numbers that were checked, whatever kind of number was given."""
    for name, value in values.items():
        object.__setattr__(rule, name, value)


def _check_tolerance(value: object) -> float | tuple[float, float]:
    rule = "a number in [0, 1) or a range (low, high) of such numbers"
    ends = value if isinstance(value, tuple) else (value, value)
    if len(ends) != 2:
        refuse("tolerance", "Elimination", rule, value)
    low, high = (check_parameter(end, "tolerance", "Elimination", rule, 0.0, math.nextafter(1.0, 0.0)) for end in ends)
    if low > high:
        refuse("tolerance", "Elimination", rule, value)
    return (low, high) if isinstance(value, tuple) else low
