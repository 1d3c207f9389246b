"""All experiments, by their ids."""

from __future__ import annotations

from bandit_forest.errors import refuse
from bandit_forest.experiments.catalogue import default, readings, sensitivity, summaries, theory
from bandit_forest.experiments.catalogue.experiment import Experiment, Made, Published, Setting

__all__ = ["EXPERIMENTS", "Experiment", "Made", "Published", "Setting", "find"]

EXPERIMENTS = {
    experiment.id: experiment
    for group in (summaries, sensitivity, readings, default, theory)
    for experiment in group.EXPERIMENTS
}


def find(id: str) -> tuple[Experiment, tuple[Setting, ...]]:
    """Return an experiment, and the settings that an id means: all of them, or the one that it names.

    Examples
    --------
    >>> experiment, settings = find("paper/covtype/bandit-tree")
    >>> experiment.id, [setting.label for setting in settings]
    ('paper/covtype', ['Bandit Tree, depth 8'])
    """
    if id in EXPERIMENTS:
        return EXPERIMENTS[id], EXPERIMENTS[id].settings
    experiment, _, name = id.rpartition("/")
    if experiment in EXPERIMENTS:
        for setting in EXPERIMENTS[experiment].settings:
            if setting.name == name:
                return EXPERIMENTS[experiment], (setting,)
    refuse("id", "run", f"one of {', '.join(EXPERIMENTS)}, or one of them with the name of a setting", id)
