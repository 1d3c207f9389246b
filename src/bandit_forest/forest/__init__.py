"""The forest and the tree over the compiled engine."""

from bandit_forest.forest.bandit_forest import BanditForest, BanditTree

__all__ = ["BanditForest", "BanditTree"]
