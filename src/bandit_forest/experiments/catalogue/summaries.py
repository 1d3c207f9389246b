"""The paper's summary of results: all policies on each data set."""

from __future__ import annotations

from typing import NamedTuple

from bandit_forest.experiments.catalogue.experiment import Experiment, Made, Setting
from bandit_forest.experiments.catalogue.published import PUBLISHED

__all__ = ["EXPERIMENTS"]


class Contestant(NamedTuple):
    """A policy of the summary."""

    name: str
    label: str
    policy: Made


# The paper's order, best first; the last three are not in the paper.
CONTESTANTS = (
    Contestant(
        "bandit-forest",
        "Bandit Forest, depth 10-18",
        Made(name="BanditForest.paper", parameters={"n_trees": 100, "max_depth": (10, 18)}),
    ),
    Contestant("bandit-tree", "Bandit Tree, depth 8", Made(name="BanditTree", parameters={"max_depth": 8})),
    Contestant("neural-bandit", "NeuralBandit", Made(name="NeuralBandit")),
    Contestant("lin-ucb", "LinUCB", Made(name="LinUcb")),
    Contestant("banditron", "Banditron", Made(name="Banditron")),
    Contestant("ucb", "UCB, no contexts", Made(name="Ucb")),
    Contestant("elimination", "Elimination, no contexts", Made(name="SuccessiveElimination")),
    Contestant("uniform", "Uniform", Made(name="Uniform")),
)

# It ends where the paper's LinUCB does after ten million events of Cover Type: docs/readings.md says how it was found.
WIDE_LIN_UCB = Contestant("lin-ucb-wide", "LinUCB, width 80", Made(name="LinUcb", parameters={"width": 80.0}))


def summary(data: str, title: str, shows: str, *contestants: Contestant) -> Experiment:
    """Compare policies on one data set."""
    return Experiment(
        id=f"paper/{data}",
        title=title,
        shows=f"Summary of results, {shows}",
        settings=tuple(
            Setting(name=name, label=label, world=Made(name=data), policy=policy, published=PUBLISHED[data].get(name))
            for name, label, policy in contestants
        ),
        beside=f"default/{data}",
    )


EXPERIMENTS = (
    summary("covtype", "Cover Type: which of 7 types of forest grows here", "Figure 2", *CONTESTANTS, WIDE_LIN_UCB),
    summary("adult", "Adult: which of 14 occupations a person has", "Figure 4", *CONTESTANTS),
    summary("census1990", "Census 1990: which of 18 levels of schooling a person has", "Figure 5", *CONTESTANTS),
)
