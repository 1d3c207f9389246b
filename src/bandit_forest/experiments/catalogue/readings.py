"""What the paper leaves open about the variant that its experiments use: readings of the text, compared."""

from __future__ import annotations

from typing import Literal, NamedTuple

from bandit_forest.experiments.catalogue.experiment import Experiment, Made, Setting
from bandit_forest.experiments.catalogue.published import PUBLISHED
from bandit_forest.experiments.catalogue.sensitivity import Kind, by_depth, single_tree
from bandit_forest.rules import Elimination, Estimate, Remaining, UniformOverRemaining

__all__ = ["BY_DATA", "EXPERIMENTS"]

WORDS = "remaining / estimate / draw / quorum / test interval"


class Reading(NamedTuple):
    """One way to read section 5 of the paper."""

    remaining_actions: Remaining
    """Actions that remain while a path still selects its variable."""
    estimate: Estimate
    """Divisor of the sum of rewards over propensities."""
    draw: Literal["union", "tree"]
    """Set from which the action is drawn."""
    quorum: float
    """Share of the trees that must have settled for a vote."""
    test_interval: int
    """Visits of a path between two tests for elimination."""

    @property
    def name(self) -> str:
        """The name of its settings."""
        return f"{self.remaining_actions}-{self.estimate}-{self.draw}-{self.quorum:g}-{self.test_interval}"

    @property
    def label(self) -> str:
        """Its name in tables and figures."""
        words = (self.remaining_actions, self.estimate, self.draw, f"{self.quorum:g}", f"{self.test_interval} visits")
        return " / ".join(words)

    @property
    def forest(self) -> Made:
        """The paper's forest that follows it."""
        growth = Elimination(
            tolerance=(0.4, 0.8),
            remaining_actions=self.remaining_actions,
            estimate=self.estimate,
            test_interval=self.test_interval,
        )
        exploration = UniformOverRemaining(draw=self.draw, quorum=self.quorum)
        return Made(name="BanditForest.paper", parameters={"growth": growth, "exploration": exploration})


PRESET = Reading("path", "weights", "union", 0.05, 64)

# Run on all data sets.
RIVALS = (
    PRESET,
    Reading("path", "weights", "union", 0.02, 64),
    Reading("path", "weights", "union", 0.1, 64),
    Reading("path", "weights", "union", 0.3, 64),
    Reading("path", "weights", "union", 0.05, 1024),
    Reading("path", "weights", "tree", 0.05, 64),
    Reading("path", "weights", "tree", 0.1, 64),
    Reading("path", "weights", "tree", 0.05, 1024),
    Reading("path", "scaled", "union", 0.05, 64),
    Reading("path", "scaled", "tree", 0.05, 64),
    Reading("path", "scaled", "tree", 0.1, 64),
    Reading("path", "scaled", "tree", 0.2, 64),
    Reading("path", "scaled", "tree", 0.3, 64),
    Reading("path", "plays", "tree", 0.05, 64),
    Reading("path", "plays", "tree", 0.1, 64),
)
ON_COVTYPE = (
    *RIVALS,
    Reading("path", "weights", "tree", 0.3, 64),
    Reading("path", "scaled", "tree", 0.02, 64),
    Reading("path", "scaled", "tree", 0.5, 64),
    Reading("path", "plays", "tree", 0.2, 64),
    Reading("path", "visits", "union", 1.0, 64),
    Reading("path", "visits", "union", 0.5, 64),
    Reading("path", "visits", "tree", 1.0, 64),
    Reading("path", "visits", "tree", 0.5, 64),
    Reading("path", "visits", "tree", 0.05, 64),
    Reading("all", "scaled", "union", 1.0, 64),  # the words of the paper, taken literally
    Reading("all", "scaled", "tree", 0.05, 64),
    Reading("all", "visits", "tree", 0.5, 64),
    Reading("inherited", "visits", "tree", 0.5, 64),
)
BY_DEPTH = (
    *(
        Kind(reading.name, reading.label, reading.forest)
        for reading in (Reading("path", "weights", "tree", 0.05, 64), Reading("path", "scaled", "tree", 0.3, 64))
    ),
    Kind("one-tree-weights-1024", "weights / 1024 visits, one tree", single_tree("weights", test_interval=1024)),
)


def by_reading(id: str, title: str, data: str, readings: tuple[Reading, ...]) -> Experiment:
    """Compare readings on one data set."""
    return Experiment(
        id=id,
        title=f"{title}: readings of the paper ({WORDS})",
        shows="what the text leaves open",
        settings=tuple(
            Setting(
                name=reading.name,
                label=reading.label,
                world=Made(name=data),
                policy=reading.forest,
                published=PUBLISHED[data]["bandit-forest"],
            )
            for reading in readings
        ),
        chart="dots",
        n_trials=3,
    )


BY_DATA = ("paper/readings", "paper/readings-adult", "paper/readings-census1990")
"""Ids of the experiments that have the same readings on each data set."""

EXPERIMENTS = (
    by_reading("paper/readings", "Cover Type", "covtype", ON_COVTYPE),
    Experiment(
        id="paper/readings-depth",
        title=f"Cover Type: depth of the trees, with other readings ({WORDS})",
        shows="what the text leaves open",
        settings=by_depth(BY_DEPTH),
        chart="dots",
        n_trials=3,
    ),
    by_reading("paper/readings-adult", "Adult", "adult", RIVALS),
    by_reading("paper/readings-census1990", "Census 1990", "census1990", RIVALS),
)
