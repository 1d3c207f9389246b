"""What writers have in common."""

from __future__ import annotations

import numpy as np

from bandit_forest.errors import refuse
from bandit_forest.evaluation.log import Log

__all__ = ["of_fixed_actions", "rewarded"]


def rewarded(log: Log) -> Log:
    """Return the events with a reward."""
    return log[np.flatnonzero(~np.isnan(log.rewards))]


def of_fixed_actions(log: Log, owner: str) -> Log:
    """Return a log, or refuse it where its events offer actions with features, which the format cannot hold."""
    if log.offers is not None:
        refuse("log", owner, "one of fixed actions; write_vw and write_dsjson write offers", log)
    return log
