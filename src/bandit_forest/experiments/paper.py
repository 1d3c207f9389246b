"""The experiments of the paper: its summary of results and its five figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, NamedTuple

from bandit_forest.experiments.experiment import Experiment, Made, Published, Setting
from bandit_forest.rules import Clock, Elimination, Estimate, Remaining, UniformOverRemaining

__all__ = ["EXPERIMENTS"]

Draw = Literal["union", "tree"]

COVTYPE, ADULT, CENSUS1990 = (Made(name=name) for name in ("covtype", "adult", "census1990"))

FOREST_LABEL, TREE_LABEL = "Bandit Forest, depth 10-18", "Bandit Tree, depth 8"

# The paper's order, best first; the last three are not in the paper.
POLICIES = {
    FOREST_LABEL: Made(name="BanditForest.paper", parameters={"n_trees": 100, "max_depth": (10, 18)}),
    TREE_LABEL: Made(name="BanditTree", parameters={"max_depth": 8}),
    "NeuralBandit": Made(name="NeuralBandit"),
    "LinUCB": Made(name="LinUcb"),
    "Banditron": Made(name="Banditron"),
    "UCB, no contexts": Made(name="Ucb"),
    "Elimination, no contexts": Made(name="SuccessiveElimination"),
    "Uniform": Made(name="Uniform"),
}

# It ends where the paper's LinUCB does after ten million events of Cover Type: docs/results.md tells how it was found.
WIDE_LIN_UCB = {"LinUCB, width 80": Made(name="LinUcb", parameters={"width": 80.0})}

WITHOUT_MISTAKES = {"n_trees": 100, "variable_share": 0.8, "n_events": 400_000}
FORESTS_AND_TREES = {
    "Bandit Forest": Made(name="BanditForest.paper"),
    "Bandit Tree": Made(name="BanditTree"),
    "Optimal greedy tree": Made(name="GreedyForest"),
    "Optimal random forest": Made(name="GreedyForest", parameters=WITHOUT_MISTAKES),
}


def tree(estimate: Estimate, *, test_interval: int, clock: Clock = "path", tolerance: float = 0.6) -> Made:
    """Describe a single tree; 0.6 is the middle of the range from which the nodes of a forest draw."""
    growth = Elimination(
        tolerance=tolerance, remaining="path", estimate=estimate, test_interval=test_interval, clock=clock
    )
    return Made(name="BanditTree", parameters={"growth": growth})


# The paper gives the tolerances of its forests, but not that of its tree.
TOLERANCES = {
    f"Bandit Tree, tolerance {tolerance:g}": tree("weights", test_interval=64, tolerance=tolerance)
    for tolerance in (0.2, 0.4, 0.6, 0.8)
}

ON_COVTYPE = {
    "Banditron": Published(regret=1.99e6, interval=1e5, rate=0.491, minutes=10),
    "LinUCB": Published(regret=1.23e6, interval=1e3, rate=0.60, minutes=360),
    "NeuralBandit": Published(regret=0.567e6, interval=2e4, rate=0.68, minutes=150),
    TREE_LABEL: Published(regret=0.843e6, interval=2e5, rate=0.642, minutes=5),
    FOREST_LABEL: Published(regret=0.742e6, interval=5e4, rate=0.658, minutes=500),
}
ON_ADULT = {
    "Banditron": Published(regret=1.94e6, interval=3e4, rate=0.211, minutes=20),
    "LinUCB": Published(regret=1.51e6, interval=4e4, rate=0.257, minutes=400),
    "NeuralBandit": Published(regret=1.2e6, interval=1e5, rate=0.296, minutes=140),
    TREE_LABEL: Published(regret=1.33e6, interval=1e5, rate=0.279, minutes=4),
    FOREST_LABEL: Published(regret=1.12e6, interval=7e4, rate=0.31, minutes=400),
}
ON_CENSUS1990 = {
    "Banditron": Published(regret=2.07e6, interval=2e5, rate=0.27, minutes=26),
    "LinUCB": Published(regret=0.77e6, interval=5e4, rate=0.403, minutes=1080),
    "NeuralBandit": Published(regret=0.838e6, interval=1e5, rate=0.417, minutes=300),
    TREE_LABEL: Published(regret=0.78e6, interval=2e5, rate=0.41, minutes=10),
    FOREST_LABEL: Published(regret=0.686e6, interval=5e4, rate=0.432, minutes=1000),
}


def summary(
    id: str,
    title: str,
    shows: str,
    world: Made,
    published: dict[str, Published],
    policies: Mapping[str, Made] = POLICIES,
) -> Experiment:
    """Compare all policies on one data set."""
    return Experiment(
        id=id,
        title=title,
        shows=shows,
        settings=tuple(
            Setting(label=label, world=world, policy=policy, published=published.get(label))
            for label, policy in policies.items()
        ),
    )


def by_depth(id: str, title: str, shows: str, kinds: Mapping[str, Made]) -> Experiment:
    """Compare kinds of policies at several depths."""
    return Experiment(
        id=id,
        title=title,
        shows=shows,
        settings=tuple(
            Setting(
                label=f"{kind}, depth {depth}",
                family=kind,
                world=COVTYPE,
                policy=Made(name=made.name, parameters={**made.parameters, "max_depth": depth}),
            )
            for kind, made in kinds.items()
            for depth in (2, 4, 6, 8, 10)
        ),
        chart="levels",
    )


def by_size() -> Experiment:
    """Compare forests of different sizes."""
    return Experiment(
        id="paper/size",
        title="Census 1990: number of trees",
        shows="Figure 3",
        settings=tuple(
            Setting(
                label=f"Bandit Forest, {n_trees} tree{'s' if n_trees > 1 else ''}",
                family="Bandit Forest",
                world=CENSUS1990,
                policy=Made(name="BanditForest.paper", parameters={"n_trees": n_trees, "max_depth": (10, 18)}),
            )
            for n_trees in (1, 5, 20, 50, 100)
        ),
        chart="levels",
    )


WORDS_OF_READINGS = "remaining / estimate / draw / quorum / test interval"


class Reading(NamedTuple):
    """What the paper leaves open."""

    remaining: Remaining
    """Which actions remain while a path still selects its variable."""
    estimate: Estimate
    """By what the sum of rewards over propensities is divided."""
    draw: Draw
    """From what the action is drawn."""
    quorum: float
    """Which share of the trees must have settled for a vote."""
    test_interval: int
    """After how many events a path tests for elimination again."""
    clock: Clock = "path"
    """Which events: the path's visits, or all."""

    @property
    def label(self) -> str:
        """The words for it."""
        events = "visits" if self.clock == "path" else "events"
        words = (self.remaining, self.estimate, self.draw, f"{self.quorum:g}", f"{self.test_interval} {events}")
        return " / ".join(words)

    @property
    def forest(self) -> Made:
        """The paper's forest that follows it."""
        growth = Elimination(
            tolerance=(0.4, 0.8),
            remaining=self.remaining,
            estimate=self.estimate,
            test_interval=self.test_interval,
            clock=self.clock,
        )
        exploration = UniformOverRemaining(draw=self.draw, quorum=self.quorum)
        return Made(name="BanditForest.paper", parameters={"growth": growth, "exploration": exploration})


PRESET = Reading("path", "geometric", "union", 0.3, 4096, "forest")

# Run at several depths too; the preset is in paper/depth.
READINGS_BY_DEPTH = (
    Reading("path", "scaled", "tree", 0.3, 64),
    Reading("path", "scaled", "tree", 0.2, 64),
    Reading("path", "scaled", "tree", 0.1, 64),
    Reading("path", "scaled", "tree", 0.05, 64),
    Reading("path", "scaled", "union", 0.05, 64),
    Reading("path", "repeated", "tree", 0.3, 64),
    Reading("path", "weights", "tree", 0.05, 64),
    Reading("path", "repeated", "tree", 0.3, 1024),
    Reading("path", "repeated", "tree", 0.3, 4096, "forest"),
)
# Run on all data sets.
RIVALS = (
    PRESET,
    *READINGS_BY_DEPTH,
    Reading("path", "plays", "tree", 0.05, 64),
    Reading("path", "plays", "tree", 0.1, 64),
)
READINGS = (
    *RIVALS,
    Reading("all", "scaled", "union", 1.0, 64),  # the words of the paper, taken literally
    Reading("path", "visits", "union", 1.0, 64),
    Reading("path", "visits", "tree", 0.5, 64),
    Reading("all", "visits", "tree", 0.5, 64),
    Reading("inherited", "visits", "tree", 0.5, 64),
    Reading("path", "visits", "union", 0.5, 64),
    Reading("path", "visits", "tree", 1.0, 64),
    Reading("path", "visits", "tree", 0.05, 64),
    Reading("path", "scaled", "tree", 0.02, 64),
    Reading("all", "scaled", "tree", 0.05, 64),
    Reading("path", "plays", "tree", 0.2, 64),
    Reading("path", "weights", "tree", 0.1, 64),
    Reading("path", "scaled", "tree", 0.5, 64),
    Reading("path", "weights", "tree", 0.3, 64),
    Reading("path", "geometric", "tree", 0.3, 4096, "forest"),
)
SINGLE_TREES = {
    "path / repeated / 4096 events, one tree": tree("repeated", test_interval=4096, clock="forest"),
    "path / repeated / 1024 visits, one tree": tree("repeated", test_interval=1024),
    "path / weights / 1024 visits, one tree": tree("weights", test_interval=1024),
    "path / geometric / 4096 events, one tree": tree("geometric", test_interval=4096, clock="forest"),
}


def by_reading(id: str, title: str, world: Made, published: Published, readings: tuple[Reading, ...]) -> Experiment:
    """Compare readings of the variant that the paper's experiments use."""
    return Experiment(
        id=id,
        title=f"{title}: readings of the paper ({WORDS_OF_READINGS})",
        shows="what the text leaves open",
        settings=tuple(
            Setting(label=reading.label, world=world, policy=reading.forest, published=published)
            for reading in readings
        ),
        chart="dots",
        n_trials=3,
    )


EXPERIMENTS = (
    summary(
        "paper/covtype",
        "Cover Type: which of 7 types of forest grows here",
        "Summary of results, Figure 2",
        COVTYPE,
        ON_COVTYPE,
        POLICIES | WIDE_LIN_UCB,
    ),
    summary(
        "paper/adult",
        "Adult: which of 14 occupations a person has",
        "Summary of results, Figure 4",
        ADULT,
        ON_ADULT,
    ),
    summary(
        "paper/census1990",
        "Census 1990: which of 18 levels of schooling a person has",
        "Summary of results, Figure 5",
        CENSUS1990,
        ON_CENSUS1990,
    ),
    by_depth(
        "paper/depth",
        "Cover Type: depth of the trees",
        "Figure 1, and the best that full information allows",
        FORESTS_AND_TREES,
    ),
    by_depth("paper/tolerance", "Cover Type: tolerance of a single tree", "what the text leaves open", TOLERANCES),
    by_size(),
    by_reading("paper/readings", "Cover Type", COVTYPE, ON_COVTYPE[FOREST_LABEL], READINGS),
    replace(
        by_depth(
            "paper/readings-depth",
            f"Cover Type: depth of the trees, with other readings ({WORDS_OF_READINGS})",
            "what the text leaves open",
            {reading.label: reading.forest for reading in READINGS_BY_DEPTH} | SINGLE_TREES,
        ),
        chart="dots",
        n_trials=3,
    ),
    by_reading("paper/readings-adult", "Adult", ADULT, ON_ADULT[FOREST_LABEL], RIVALS),
    by_reading("paper/readings-census1990", "Census 1990", CENSUS1990, ON_CENSUS1990[FOREST_LABEL], RIVALS),
)
