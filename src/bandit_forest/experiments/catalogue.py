"""All experiments, by their ids."""

from __future__ import annotations

from bandit_forest.errors import refuse
from bandit_forest.experiments import default, paper, theory
from bandit_forest.experiments.experiment import Experiment

__all__ = ["EXPERIMENTS", "find"]

EXPERIMENTS = {
    experiment.id: experiment for experiment in (*paper.EXPERIMENTS, *default.EXPERIMENTS, *theory.EXPERIMENTS)
}


def find(id: str) -> tuple[Experiment, list[int]]:
    """Give an experiment, and which of its settings an id means: all, or the one that it numbers.

    Examples
    --------
    >>> experiment, numbers = find("paper/covtype/1")
    >>> experiment.id, numbers, experiment.settings[1].label
    ('paper/covtype', [1], 'Bandit Tree, depth 8')
    """
    if id in EXPERIMENTS:
        return EXPERIMENTS[id], list(range(len(EXPERIMENTS[id].settings)))
    name, _, number = id.rpartition("/")
    if name in EXPERIMENTS and number.isdecimal() and int(number) < len(EXPERIMENTS[name].settings):
        return EXPERIMENTS[name], [int(number)]
    refuse("id", "run", f"one of {', '.join(EXPERIMENTS)}, or that with the number of a setting", id)
