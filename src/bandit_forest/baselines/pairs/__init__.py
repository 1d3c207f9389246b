"""Baseline policies for actions with features; the features are plain numbers."""

from bandit_forest.baselines.pairs.hybrid_lin_ucb import HybridLinUCB
from bandit_forest.baselines.pairs.shared_lin_ucb import SharedLinUCB

__all__ = ["HybridLinUCB", "SharedLinUCB"]
