"""LinUCB: ridge regression for each action, and upper confidence bounds."""

from __future__ import annotations

import math
import sys

from bandit_forest import _core
from bandit_forest.compiled import CompiledPolicy
from bandit_forest.parameters import MOST_ACTIONS, MOST_CELLS, check_parameter, check_size
from bandit_forest.validation import check_int

__all__ = ["LinUCB"]

_UPDATES_PER_INPUT = 16  # between two exact inversions, which then cost a sixteenth of the updates themselves


class LinUCB(CompiledPolicy):
    """Play the action whose upper confidence bound under its own linear model is highest (disjoint LinUCB).

    The model of an action is a ridge regression on the variables and a constant. Its inverse Gram matrix is updated by
    the Sherman-Morrison formula. After every 16 updates per input it is computed anew from the Gram matrix, whose
    entries are whole numbers plus the ridge and therefore free of rounding errors. The choice is deterministic, so its
    propensity is 1; ties go to the lowest action. All methods may be called from several threads.

    Parameters
    ----------
    n_variables
        Number of binary variables of a context.
    n_actions
        Number of actions.
    width
        Number of standard deviations that are added to a prediction, α in the article.
    ridge
        Number that is added to the diagonal of each Gram matrix, at least 1e-6.

    Examples
    --------
    >>> policy = LinUCB(n_variables=2, n_actions=2)
    >>> for _ in range(20):
    ...     decision = policy.decide([1, 0])
    ...     policy.learn([1, 0], decision.action, decision.action, propensity=decision.propensity)
    >>> policy.decide([1, 0])
    Decision(action=1, propensity=1.0)

    References
    ----------
    Li, Chu, Langford and Schapire, *A contextual-bandit approach to personalized news article recommendation*,
    WWW 2010.
    """

    def __init__(self, *, n_variables: int, n_actions: int, width: float = 0.2, ridge: float = 1.0) -> None:
        super().__init__(n_variables=n_variables, n_actions=n_actions)
        largest = sys.float_info.max
        self._width = check_parameter(width, "width", "LinUCB", "a finite number of at least 0", 0.0, largest)
        self._ridge = check_parameter(ridge, "ridge", "LinUCB", "a finite number of at least 1e-6", 1e-6, largest)
        check_int(n_actions, "n_actions", "LinUCB", high=MOST_ACTIONS)
        most = _largest_triangle(MOST_CELLS // self._n_actions) - 1  # beside the constant input
        check_size(self._n_variables, most, "n_variables", "LinUCB", f"{self._n_actions} actions")
        self._core = _core.LinUcb(
            n_variables=self._n_variables,
            n_actions=self._n_actions,
            width=self._width,
            ridge=self._ridge,
            refresh_every=_refresh_every(self._n_variables + 1),
        )


def _largest_triangle(n_cells: int) -> int:
    """Return the number of rows of the largest triangle (1, 2, 3, ... cells) that has at most `n_cells` cells.

    Examples
    --------
    >>> _largest_triangle(10), _largest_triangle(14)
    (4, 4)
    """
    return (math.isqrt(8 * n_cells + 1) - 1) // 2


def _refresh_every(n_inputs: int) -> int:
    """Return the number of updates of an action after which its regression is solved anew."""
    return _UPDATES_PER_INPUT * n_inputs
