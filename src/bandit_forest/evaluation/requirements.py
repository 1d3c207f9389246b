"""Requirements of a pipeline, such as 'new > logged'."""

from __future__ import annotations

import re

from bandit_forest.errors import refuse
from bandit_forest.evaluation.evaluate import Evaluation

__all__ = ["is_met"]


def is_met(requirement: str, evaluation: Evaluation) -> bool:
    """Return whether a log meets a requirement: 'A > B' for two policies, or 'A > 0.3' for a policy and a value.

    The requirement is met if the whole interval is on the right side and the log allows a verdict.

    Parameters
    ----------
    requirement
        Requirement with '>' or '<' between its sides.
    evaluation
        Evaluation that `evaluate` returned.
    """
    parts = re.fullmatch(r"\s*(.+?)\s*([<>])\s*(.+?)\s*", requirement)
    if parts is None or parts[1] not in evaluation.names:
        rule = f"'A > B' or 'A < B' with a policy A, one of {', '.join(evaluation.names)}"
        refuse("require", "evaluate", rule, requirement)
    name, sign, other = parts.groups()
    if other in evaluation.names:
        return evaluation.is_better(name, other) if sign == ">" else evaluation.is_better(other, name)
    try:
        value = float(other)
    except ValueError:
        refuse("require", "evaluate", "a policy or a number after the sign", requirement)
    estimate = evaluation.estimate(name)
    return evaluation.is_judged(name) and (estimate.low > value if sign == ">" else estimate.high < value)
