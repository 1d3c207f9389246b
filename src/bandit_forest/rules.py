"""The two rules that make a forest: how it grows and how it explores. Values that only store and check.

Each rule of growth brings the rules of exploration that it allows; the first of them is its default.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

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
    "check_exploration",
]

Remaining = Literal["all", "path", "inherited"]
Estimate = Literal["plays", "visits", "scaled", "weights"]


@dataclass(frozen=True, kw_only=True)
class InverseGap:
    """Exploration by inverse gap weighting: the further an action's estimate is below the best, the rarer it is drawn.

    An action is drawn with probability 1 / (n_actions + gamma_scale * cbrt(events) * gap), the best one with what is
    left. The gaps are those of upper confidence bounds.

    Parameters
    ----------
    gamma_scale
        Rate at which exploration gives way to the best action.
    optimism
        Number of standard errors, times sqrt(log(1 + events)), by which the trees' estimates are raised.
    linear_optimism
        Number of standard errors by which the linear estimates are raised.

    References
    ----------
    Foster and Rakhlin, Beyond UCB: Optimal and Efficient Contextual Bandits with Regression Oracles, ICML 2020.
    """

    gamma_scale: float = 100.0
    optimism: float = 0.2
    linear_optimism: float = 0.3

    def __post_init__(self) -> None:
        rule = "a number in (0, 1e9]"
        size = "a number in [0, 1000]"
        _store(
            self,
            gamma_scale=check_parameter(self.gamma_scale, "gamma_scale", "InverseGap", rule, 0.0, 1e9, open_low=True),
            optimism=check_parameter(self.optimism, "optimism", "InverseGap", size, 0.0, 1000.0),
            linear_optimism=check_parameter(self.linear_optimism, "linear_optimism", "InverseGap", size, 0.0, 1000.0),
        )


@dataclass(frozen=True, kw_only=True)
class RoundRobin:
    """Exploration in rotation: the actions take turns until enough trees have settled; then the settled trees vote.

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
        "union": a uniform draw among the actions that remain in some tree. "tree": a draw of a tree, then of one of its
        remaining actions.
    quorum
        Share of the trees that must have one action left for a vote.
    """

    draw: Literal["union", "tree"] = "union"
    quorum: float = 1.0

    def __post_init__(self) -> None:
        _check_choice(self.draw, "draw", "UniformOverRemaining", ("union", "tree"))
        _store(self, quorum=check_share(self.quorum, "quorum", "UniformOverRemaining"))


Exploration = RoundRobin | UniformOverRemaining | InverseGap


@dataclass(frozen=True, kw_only=True)
class Elimination:
    """Growth by elimination, as in the paper: a node splits when all other variables have been eliminated.

    The defaults are the algorithm that the paper analyses (Algorithm 6); `BanditForest.paper` has the practical variant
    of its experiments.

    Parameters
    ----------
    delta
        Probability of failure, δ.
    tolerance
        Approximation ε: a number, or a range from which each node draws its own.
    remaining_actions
        Actions that are played on a path that still selects its variable: "all", as in NewPath; "path", the actions
        left by elimination on the path's own events; "inherited", the same, but beginning with the actions left by its
        parent.
    estimate
        Mean rewards that elimination compares. "plays" divides the sum of rewards by the plays of the action. The
        others divide each reward by its propensity first, and the sum by the "visits" of the path (Horvitz-Thompson),
        by the plays ("scaled", section 5 taken literally), or by the sum of 1 / propensity ("weights",
        self-normalised).
    test_interval
        Number of visits of a path between two tests for elimination. A test is skipped if the least played remaining
        action has not been played since the last test. Testing less often keeps every guarantee.

    Examples
    --------
    >>> Elimination(delta=0.1, tolerance=(0.4, 0.8)).tolerance_range
    (0.4, 0.8)
    """

    explorations: ClassVar[tuple[type[RoundRobin] | type[UniformOverRemaining], ...]] = (
        RoundRobin,
        UniformOverRemaining,
    )

    delta: float = 0.05
    tolerance: float | tuple[float, float] = 0.0
    remaining_actions: Remaining = "all"
    estimate: Estimate = "plays"
    test_interval: int = 1

    def __post_init__(self) -> None:
        _store(self, delta=check_share(self.delta, "delta", "Elimination"))
        _check_choice(self.remaining_actions, "remaining_actions", "Elimination", get_args(Remaining))
        _check_choice(self.estimate, "estimate", "Elimination", get_args(Estimate))
        _store(self, test_interval=check_int(self.test_interval, "test_interval", "Elimination", high=2**31))
        _store(self, tolerance=_check_tolerance(self.tolerance))

    @property
    def tolerance_range(self) -> tuple[float, float]:
        """The range from which each node draws its tolerance."""
        return self.tolerance if isinstance(self.tolerance, tuple) else (self.tolerance, self.tolerance)


@dataclass(frozen=True, kw_only=True)
class Greedy:
    """Growth by the best split: each tree is grown from the log of all events, again and again.

    A node splits on the test that explains most of the variance of the rewards, if noise would not explain as much. The
    trees of each group of four take turns: a new tree is grown by a bounded piece of work after every 64th event, and
    then replaces the old one. Meanwhile, events are learned in the leaves. The estimates also have a linear part.

    Parameters
    ----------
    min_events
        A node with fewer events does not split.
    min_gain
        A node splits when the variance of the rewards that its best split explains, summed over its events, is at
        least `min_gain` times their variance within the node.
    shrinkage
        Weight of the parent's mean rewards in the mean rewards of a new node, as a number of events.
    n_thresholds
        Number of random thresholds of an ordered variable that a node chooses from.
    renewal_work
        Work on new trees per event and tree, in units of the time to read one event. More work renews trees more often.
    log_capacity
        Number of events that are remembered for growing trees, a power of two; with `max_nodes` it bounds memory.
        None: up to 8 million, or the number that fits into half a gigabyte. When the log is full, no tree is grown any
        more, and all trees continue to learn in their leaves.
    lifetime
        Number of last events that a tree is grown from, for worlds that change. A change for the worse is detected, and
        trees are then grown from the events since the change. None: trees are grown from all events, and changes are
        not detected.
    linear
        Whether the estimates have a linear part.

    Examples
    --------
    >>> Greedy(min_events=100).shrinkage
    1.0
    """

    explorations: ClassVar[tuple[type[InverseGap], ...]] = (InverseGap,)

    min_events: int = 10
    min_gain: float = 4.0
    shrinkage: float = 1.0
    n_thresholds: int = 4
    renewal_work: int = 48
    log_capacity: int | None = None
    lifetime: int | None = None
    linear: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.linear, bool):
            refuse("linear", "Greedy", "a bool", self.linear)
        _store(
            self,
            min_events=check_int(self.min_events, "min_events", "Greedy", low=2, high=2**24),
            min_gain=check_parameter(self.min_gain, "min_gain", "Greedy", "a number in [0, 1000]", 0.0, 1000.0),
            shrinkage=check_parameter(
                self.shrinkage, "shrinkage", "Greedy", "a number in [0.001, 1000]", 0.001, 1000.0
            ),
            n_thresholds=check_int(self.n_thresholds, "n_thresholds", "Greedy", high=255),
            renewal_work=check_int(self.renewal_work, "renewal_work", "Greedy", high=2**20),
            log_capacity=_check_capacity(self.log_capacity),
            lifetime=None if self.lifetime is None else check_int(self.lifetime, "lifetime", "Greedy", high=2**29),
        )
        if self.log_capacity is not None and self.lifetime is not None and 2 * self.lifetime > self.log_capacity:
            refuse("lifetime", "Greedy", f"an int in [1, {self.log_capacity // 2}], half the log", self.lifetime)


Growth = Elimination | Greedy


def check_exploration(exploration: object, growth: Growth, owner: str) -> Exploration:
    """Return the rule of exploration, when None the default of the growth rule; refuse one that it does not allow.

    Examples
    --------
    >>> check_exploration(None, Elimination(), "BanditForest")
    RoundRobin(quorum=1.0)
    """
    if exploration is None:
        return growth.explorations[0]()
    if not isinstance(exploration, growth.explorations):
        allowed = " or ".join(f"{rule.__name__}()" for rule in growth.explorations)
        refuse("exploration", owner, f"{allowed} with {type(growth).__name__}", exploration)
    return exploration


def _check_choice(value: object, name: str, owner: str, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        refuse(name, owner, "one of " + ", ".join(map(repr, choices)), value)


def _store(rule: object, **values: object) -> None:
    """Keep the plain numbers that were checked, whatever kind of number was given."""
    for name, value in values.items():
        object.__setattr__(rule, name, value)


def _check_capacity(value: object) -> int | None:
    if value is None:
        return None
    capacity = check_int(value, "log_capacity", "Greedy", low=64, high=2**31)
    if capacity.bit_count() != 1:
        refuse("log_capacity", "Greedy", "a power of two", value)
    return capacity


def _check_tolerance(value: object) -> float | tuple[float, float]:
    rule = "a number in [0, 1) or a range (low, high) of such numbers"
    ends = value if isinstance(value, tuple) else (value, value)
    if len(ends) != 2:
        refuse("tolerance", "Elimination", rule, value)
    low, high = (check_parameter(end, "tolerance", "Elimination", rule, 0.0, math.nextafter(1.0, 0.0)) for end in ends)
    if low > high:
        refuse("tolerance", "Elimination", rule, value)
    return (low, high) if isinstance(value, tuple) else low
