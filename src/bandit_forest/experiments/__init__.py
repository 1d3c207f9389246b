"""The paper's experiments as values with ids, the runner that plays them, and reports of what came out."""

from bandit_forest.experiments.catalogue import EXPERIMENTS, find
from bandit_forest.experiments.experiment import Experiment, Made, Published, Setting

__all__ = ["EXPERIMENTS", "Experiment", "Made", "Published", "Setting", "find"]
