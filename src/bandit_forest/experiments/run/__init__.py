"""Experiments are run here: from names to policies, from trials to rows in a results file."""

from bandit_forest.experiments.run.runner import run_experiment

__all__ = ["run_experiment"]
