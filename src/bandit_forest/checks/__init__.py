"""Checks of the requirements of every policy, to run on a policy of your own.

Examples
--------
>>> from bandit_forest.baselines import Uniform
>>> from bandit_forest.checks import check_policy
>>> check_policy(Uniform, learns=False)
"""

from bandit_forest.checks.pairs import MakePairPolicy, PairPolicy, PairSubject, all_pair_checks, check_pair_policy
from bandit_forest.checks.subject import Check, CheckFailedError, MakePolicy, Subject
from bandit_forest.checks.suite import all_checks, cases, check_policy

__all__ = [
    "Check",
    "CheckFailedError",
    "MakePairPolicy",
    "MakePolicy",
    "PairPolicy",
    "PairSubject",
    "Subject",
    "all_checks",
    "all_pair_checks",
    "cases",
    "check_pair_policy",
    "check_policy",
]
