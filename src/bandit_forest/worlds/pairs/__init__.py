"""Worlds in which actions have features: some are offered at each event, and they come and go."""

from bandit_forest.worlds.pairs.bilinear import BilinearPairs
from bandit_forest.worlds.pairs.tree import TreePairs
from bandit_forest.worlds.pairs.world import Offer, PairWorld

__all__ = ["BilinearPairs", "Offer", "PairWorld", "TreePairs"]
