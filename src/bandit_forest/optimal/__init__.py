"""Optimal policies with full information: gains, the θ-optimal greedy tree and the optimal random forest."""

from bandit_forest.optimal.distribution import expected_gains
from bandit_forest.optimal.forest import OptimalForest
from bandit_forest.optimal.tree import OptimalNode, OptimalTree

__all__ = ["OptimalForest", "OptimalNode", "OptimalTree", "expected_gains"]
