"""Checks of policies over pairs: those that choose among the actions that an event offers, by their features."""

from bandit_forest.checks.pairs.subject import MakePairPolicy, PairPolicy, PairSubject
from bandit_forest.checks.pairs.suite import all_pair_checks, check_pair_policy

__all__ = ["MakePairPolicy", "PairPolicy", "PairSubject", "all_pair_checks", "check_pair_policy"]
