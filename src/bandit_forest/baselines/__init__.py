"""Policies to compare with, one a file."""

from bandit_forest.baselines.successive_elimination import SuccessiveElimination
from bandit_forest.baselines.ucb import Ucb
from bandit_forest.baselines.uniform import Uniform

__all__ = ["SuccessiveElimination", "Ucb", "Uniform"]
