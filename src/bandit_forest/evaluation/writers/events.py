"""What writers have in common."""

from __future__ import annotations

import numpy as np

from bandit_forest.evaluation.log import Log

__all__ = ["rewarded"]


def rewarded(log: Log) -> Log:
    """Return the events with a reward."""
    return log[np.flatnonzero(~np.isnan(log.rewards))]
