"""Evaluation of policies on logs: estimated rewards, and findings about the quality of the log."""

from bandit_forest.evaluation.diagnostics import Finding, Level
from bandit_forest.evaluation.evaluate import Evaluation, evaluate
from bandit_forest.evaluation.log import Log, Offered, Source
from bandit_forest.evaluation.models import Means
from bandit_forest.evaluation.progressive import Progressive, Replay, learn_along, replay
from bandit_forest.evaluation.statistics.estimate import Estimate
from bandit_forest.evaluation.statistics.estimators import direct, doubly_robust, ips, snips
from bandit_forest.evaluation.statistics.sequences import Interval, confidence_sequence
from bandit_forest.evaluation.targets import Target, always, as_it_stands, column, logged_probabilities, uniform

__all__ = [
    "Estimate",
    "Evaluation",
    "Finding",
    "Interval",
    "Level",
    "Log",
    "Means",
    "Offered",
    "Progressive",
    "Replay",
    "Source",
    "Target",
    "always",
    "as_it_stands",
    "column",
    "confidence_sequence",
    "direct",
    "doubly_robust",
    "evaluate",
    "ips",
    "learn_along",
    "logged_probabilities",
    "replay",
    "snips",
    "uniform",
]
