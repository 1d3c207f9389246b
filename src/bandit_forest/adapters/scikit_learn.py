"""A forest as an estimator in the style of scikit-learn."""

from __future__ import annotations

import inspect
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import refuse
from bandit_forest.forest import BanditForest
from bandit_forest.validation import check_contexts

__all__ = ["ForestEstimator"]


class ForestEstimator:
    """A forest with `partial_fit`, `predict` and `predict_proba` as in scikit-learn, which is not needed.

    Labels are the actions that were taken; their rewards are a further argument. Attributes that end with an underscore
    are learned: `forest_`, `classes_` (the actions), `encoder_` (None if rows are zeros and ones already).

    Parameters
    ----------
    n_trees
        Number of trees.
    n_bins
        Number of bins of a numeric column; None keeps numbers in order, as `ContextEncoder` does.
    reward_range
        The least and the largest possible reward.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> estimator = ForestEstimator(n_trees=5)
    >>> estimator = estimator.partial_fit([[0, 1], [1, 1]], ["go", "stay"], rewards=[1, 0], propensities=[0.5, 0.5])
    >>> estimator.classes_
    array(['go', 'stay'], dtype='<U4')
    """

    def __init__(
        self,
        *,
        n_trees: int = 32,
        n_bins: int | None = None,
        reward_range: tuple[float, float] = (0.0, 1.0),
        seed: int = 0,
    ) -> None:
        self.n_trees = n_trees
        self.n_bins = n_bins
        self.reward_range = reward_range
        self.seed = seed

    def fit(self, X: Any, y: ArrayLike, *, rewards: ArrayLike, propensities: ArrayLike) -> Self:
        """Forget all earlier events, and learn from these events."""
        vars(self).pop("forest_", None)
        return self.partial_fit(X, y, rewards=rewards, propensities=propensities)

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        rewards: ArrayLike,
        propensities: ArrayLike,
        classes: ArrayLike | None = None,
    ) -> Self:
        """Learn from more events.

        Parameters
        ----------
        X
            Rows of zeros and ones; or raw features in any form that `ContextEncoder` takes, which is then fitted to the
            first rows.
        y
            The actions that were taken.
        rewards
            Rewards of these actions.
        propensities
            The probabilities with which these actions were taken.
        classes
            All actions, at the first call; those in `y` when None.
        """
        taken = np.asarray(y)
        if not hasattr(self, "forest_"):
            self._begin(X, taken if classes is None else np.asarray(classes))
        numbers = np.searchsorted(self.classes_, taken)
        if not np.array_equal(self.classes_[np.minimum(numbers, len(self.classes_) - 1)], taken):
            refuse("y", "ForestEstimator.partial_fit", f"actions among {self.classes_.tolist()}", y)
        low, high = self.reward_range
        shares = (np.asarray(rewards, dtype=np.float64) - low) / (high - low)
        self.forest_.learn_many(self._contexts(X), numbers, shares, propensities=propensities)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the action with the largest estimated mean reward, one per row."""
        means = self.decision_function(X)
        best: NDArray[Any] = self.classes_[means.argmax(axis=1)]
        return best

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability with which the forest would draw each action, one row per context."""
        self._check_fitted()
        return self.forest_.propensities_many(self._contexts(X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the estimated mean reward of each action, one row per context."""
        self._check_fitted()
        low, high = self.reward_range
        means: NDArray[np.float64] = low + (high - low) * self.forest_.mean_rewards_many(self._contexts(X))
        return means

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the parameters of the constructor."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the constructor; the next `fit` uses them."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                refuse("name of a parameter", "ForestEstimator.set_params", f"one of {', '.join(known)}", name)
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "forest_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator  # only scikit-learn asks

        return BaseEstimator().__sklearn_tags__()

    def _begin(self, rows: Any, actions: NDArray[Any]) -> None:
        self.classes_ = np.unique(actions)
        array = rows if isinstance(rows, np.ndarray) else np.asarray(rows) if isinstance(rows, list) else None
        binary = array is not None and array.ndim == 2 and bool(np.isin(array, (0, 1)).all())
        self.encoder_ = None if binary else ContextEncoder(n_bins=self.n_bins).fit(rows)
        self.n_features_in_ = array.shape[1] if binary and array is not None else len(self._columns())
        self.forest_ = BanditForest(
            n_variables=self.n_features_in_ if self.encoder_ is None else self.encoder_.n_variables,
            n_actions=len(self.classes_),
            thresholds=None if self.encoder_ is None else self.encoder_.thresholds,
            n_trees=self.n_trees,
            seed=self.seed,
            variable_names=None if self.encoder_ is None else self.encoder_.variable_names,
            action_names=[str(name) for name in self.classes_.tolist()],
        )

    def _columns(self) -> Any:
        return () if self.encoder_ is None else self.encoder_.columns_

    def _contexts(self, rows: Any) -> NDArray[np.uint8]:
        if self.encoder_ is not None:
            return self.encoder_.transform(rows)
        return check_contexts(rows, "ForestEstimator", self.forest_.n_variables)

    def _check_fitted(self) -> None:
        if not hasattr(self, "forest_"):
            refuse("estimator", "ForestEstimator", "fitted first", "one that is not")
