"""Vowpal Wabbit as a policy for simulations, and a reader and a writer of its text logs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.errors import MissingExtraError
from bandit_forest.evaluation.readers.vw import read_vw as from_vw
from bandit_forest.evaluation.writers.vw import write_vw as to_vw
from bandit_forest.policy import CheckedPolicy, Decision
from bandit_forest.randomness import DECISION, draw
from bandit_forest.validation import check_int

__all__ = ["VowpalWabbit", "from_vw", "to_vw"]


class VowpalWabbit(CheckedPolicy):
    """Vowpal Wabbit's contextual bandits: `--cb_explore` with further arguments.

    Variables that are 1 are features with texts as names, since Vowpal Wabbit uses whole numbers as indices and merges
    them. `--cb_explore` has no available actions; the probabilities of unavailable actions are removed.

    Parameters
    ----------
    n_variables
        Number of binary variables of a context.
    n_actions
        Number of actions.
    arguments
        Vowpal Wabbit's, such as '--squarecb --gamma_scale 1000 -l 0.1'.
    seed
        Seed of the draws, and Vowpal Wabbit's own.
    """

    def __init__(
        self,
        *,
        n_variables: int,
        n_actions: int,
        arguments: str = "--squarecb --gamma_scale 1000 -l 0.1",
        seed: int = 0,
    ) -> None:
        super().__init__(n_variables=n_variables, n_actions=n_actions)
        try:
            import vowpalwabbit
        except ImportError as error:
            raise MissingExtraError(f"The adapter needs {error.name}: pip install 'bandit-forest[peers]'.") from error
        self._seed = check_int(seed, "seed", "VowpalWabbit", low=0)
        self._n_decisions = 0
        self._workspace: Any = vowpalwabbit.Workspace(
            f"--cb_explore {self._n_actions} {arguments} --random_seed {self._seed} --quiet"
        )

    def propensities(self, context: Any, *, available_actions: Any = None) -> NDArray[np.float64]:
        """Return the probability with which `decide` would draw each action."""
        bits, available = self._checked(context, available_actions, "propensities")
        return self._table(bits, available)

    def _decide(self, context: NDArray[np.uint8], available: NDArray[np.bool_] | None) -> Decision:
        table = self._table(context, available)
        number = draw(self._seed, DECISION, self._n_decisions)
        self._n_decisions += 1
        action = min(int(np.searchsorted(np.cumsum(table), number, side="right")), self._n_actions - 1)
        return Decision(action, float(table[action]))

    def _learn(self, context: NDArray[np.uint8], action: int, reward: float, propensity: float) -> None:
        self._workspace.learn(f"{action + 1}:{0.0 - reward!r}:{propensity!r} {_features(context)}")

    def _table(self, context: NDArray[np.uint8], available: NDArray[np.bool_] | None) -> NDArray[np.float64]:
        """Return probabilities that sum to one, which Vowpal Wabbit's floats do not quite."""
        table = np.array(self._workspace.predict(_features(context)), dtype=np.float64)
        if available is not None:
            table = np.where(available, table, 0.0) if table[available].any() else available.astype(np.float64)
        shares: NDArray[np.float64] = table / table.sum()
        return shares


def _features(context: NDArray[np.uint8]) -> str:
    return "|x " + " ".join(f"v{place}" for place in np.flatnonzero(context).tolist())
