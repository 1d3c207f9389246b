"""The paper's experiments as values with ids, the runner that plays them, and reports of their results."""

from bandit_forest.experiments.catalogue import EXPERIMENTS, Experiment, Made, Published, Setting, find

__all__ = ["EXPERIMENTS", "Experiment", "Made", "Published", "Setting", "find"]
