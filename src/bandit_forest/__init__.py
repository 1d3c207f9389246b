"""Random forests that learn which action to take in which context, from the reward of the chosen action alone."""

from bandit_forest.bandit import Bandit
from bandit_forest.bandit.pairs import PairBandit
from bandit_forest.baselines import LinUCB
from bandit_forest.checks import check_policy
from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import BanditForestError, DamagedFileError, InvalidArgumentError, MissingExtraError
from bandit_forest.forest import BanditForest, BanditTree
from bandit_forest.forest.explanation import Explanation
from bandit_forest.forest.pairs import PairForest
from bandit_forest.policy import CheckedPolicy, Decision, Decisions, Played, Policy
from bandit_forest.rules import Elimination, Greedy, InverseGap
from bandit_forest.simulation import simulate

__version__ = "0.2.0"

__all__ = [
    "Bandit",
    "BanditForest",
    "BanditForestError",
    "BanditTree",
    "CheckedPolicy",
    "ContextEncoder",
    "DamagedFileError",
    "Decision",
    "Decisions",
    "Elimination",
    "Explanation",
    "Greedy",
    "InvalidArgumentError",
    "InverseGap",
    "LinUCB",
    "MissingExtraError",
    "PairBandit",
    "PairForest",
    "Played",
    "Policy",
    "__version__",
    "check_policy",
    "simulate",
]
