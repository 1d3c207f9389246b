"""A bandit whose actions have features: it chooses among the actions that an event offers."""

from bandit_forest.bandit.pairs.decisions import PairDecision, PairDecisions, PairRanking
from bandit_forest.bandit.pairs.explanation import PairExplanation
from bandit_forest.bandit.pairs.pair_bandit import PairBandit

__all__ = ["PairBandit", "PairDecision", "PairDecisions", "PairExplanation", "PairRanking"]
