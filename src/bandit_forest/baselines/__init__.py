"""Baseline policies for comparison, one per file."""

from bandit_forest.baselines.banditron import Banditron
from bandit_forest.baselines.lin_ucb import LinUCB
from bandit_forest.baselines.neural_bandit import NeuralBandit
from bandit_forest.baselines.successive_elimination import SuccessiveElimination
from bandit_forest.baselines.ucb import UCB
from bandit_forest.baselines.uniform import Uniform

__all__ = ["UCB", "Banditron", "LinUCB", "NeuralBandit", "SuccessiveElimination", "Uniform"]
