"""A forest over pairs of a context and an action."""

from bandit_forest.forest.pairs.offers import Ranking
from bandit_forest.forest.pairs.pair_forest import PairForest

__all__ = ["PairForest", "Ranking"]
