"""What every policy must do, as checks that anyone can run on a policy of their own.

Examples
--------
>>> from bandit_forest.baselines import Uniform
>>> from bandit_forest.checks import check_policy
>>> check_policy(Uniform, learns=False)
"""

from bandit_forest.checks.subject import Check, CheckFailedError, MakePolicy, Subject
from bandit_forest.checks.suite import all_checks, cases, check_policy

__all__ = ["Check", "CheckFailedError", "MakePolicy", "Subject", "all_checks", "cases", "check_policy"]
