"""The forest and the tree over the compiled engine."""

from bandit_forest.forest.bandit_forest import BanditForest
from bandit_forest.forest.bandit_tree import BanditTree

__all__ = ["BanditForest", "BanditTree"]
