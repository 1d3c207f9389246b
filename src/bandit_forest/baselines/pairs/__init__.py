"""Policies to compare with, for actions that have features; these are numbers as they are."""

from bandit_forest.baselines.pairs.hybrid_lin_ucb import HybridLinUCB
from bandit_forest.baselines.pairs.shared_lin_ucb import SharedLinUCB

__all__ = ["HybridLinUCB", "SharedLinUCB"]
