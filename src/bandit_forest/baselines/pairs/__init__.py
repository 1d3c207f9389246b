"""Policies to compare with, for actions that have features; these are numbers as they are."""

from bandit_forest.baselines.pairs.hybrid_lin_ucb import HybridLinUcb
from bandit_forest.baselines.pairs.shared_lin_ucb import SharedLinUcb

__all__ = ["HybridLinUcb", "SharedLinUcb"]
