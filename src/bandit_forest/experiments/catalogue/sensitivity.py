"""How the paper's forest depends on the depth, the number and the tolerance of its trees."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from bandit_forest.experiments.catalogue.experiment import Experiment, Made, Setting
from bandit_forest.rules import Elimination, Estimate

__all__ = ["EXPERIMENTS", "Kind", "by_depth", "single_tree"]

DEPTHS = (2, 4, 6, 8, 10)


class Kind(NamedTuple):
    """A policy that is compared at several depths."""

    name: str
    label: str
    policy: Made


def single_tree(estimate: Estimate, *, test_interval: int, tolerance: float = 0.6) -> Made:
    """Describe a single tree; 0.6 is the middle of the range from which the nodes of a forest draw."""
    growth = Elimination(tolerance=tolerance, remaining_actions="path", estimate=estimate, test_interval=test_interval)
    return Made(name="BanditTree", parameters={"growth": growth})


def by_depth(kinds: Iterable[Kind]) -> tuple[Setting, ...]:
    """Return kinds of policies at several depths, as settings on Cover Type."""
    return tuple(
        Setting(
            name=f"{kind.name}-depth-{depth}",
            label=f"{kind.label}, depth {depth}",
            family=kind.label,
            world=Made(name="covtype"),
            policy=Made(name=kind.policy.name, parameters={**kind.policy.parameters, "max_depth": depth}),
        )
        for kind in kinds
        for depth in DEPTHS
    )


def by_size() -> tuple[Setting, ...]:
    """Return forests of different sizes, as settings on Census 1990."""
    return tuple(
        Setting(
            name=f"bandit-forest-{n_trees}-trees",
            label=f"Bandit Forest, {n_trees} tree{'s' if n_trees > 1 else ''}",
            family="Bandit Forest",
            world=Made(name="census1990"),
            policy=Made(name="BanditForest.paper", parameters={"n_trees": n_trees, "max_depth": (10, 18)}),
        )
        for n_trees in (1, 5, 20, 50, 100)
    )


WITHOUT_MISTAKES = {"n_trees": 100, "variable_share": 0.8, "n_events": 400_000}
FORESTS_AND_TREES = (
    Kind("bandit-forest", "Bandit Forest", Made(name="BanditForest.paper")),
    Kind("bandit-tree", "Bandit Tree", Made(name="BanditTree")),
    Kind("optimal-tree", "Optimal greedy tree", Made(name="GreedyForest")),
    Kind("optimal-forest", "Optimal random forest", Made(name="GreedyForest", parameters=WITHOUT_MISTAKES)),
)

# The paper gives the tolerances of its forests, but not that of its tree.
TOLERANCES = tuple(
    Kind(
        f"tolerance-{tolerance:g}",
        f"Bandit Tree, tolerance {tolerance:g}",
        single_tree("weights", test_interval=64, tolerance=tolerance),
    )
    for tolerance in (0.2, 0.4, 0.6, 0.8)
)

EXPERIMENTS = (
    Experiment(
        id="paper/depth",
        title="Cover Type: depth of the trees",
        shows="Figure 1, and the best that full information allows",
        settings=by_depth(FORESTS_AND_TREES),
        chart="levels",
    ),
    Experiment(
        id="paper/tolerance",
        title="Cover Type: tolerance of a single tree",
        shows="what the text leaves open",
        settings=by_depth(TOLERANCES),
        chart="levels",
    ),
    Experiment(
        id="paper/size",
        title="Census 1990: number of trees",
        shows="Figure 3",
        settings=by_size(),
        chart="levels",
    ),
)
