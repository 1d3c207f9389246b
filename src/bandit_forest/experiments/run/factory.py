"""From the names in the catalogue to worlds and policies."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bandit_forest.baselines import UCB, Banditron, LinUCB, NeuralBandit, SuccessiveElimination, Uniform
from bandit_forest.experiments.catalogue import Made
from bandit_forest.experiments.comparator.models import GreedyForest, Model, RandomForest
from bandit_forest.experiments.comparator.routing import FlatForest
from bandit_forest.forest import BanditForest, BanditTree
from bandit_forest.policy import Played, Policy
from bandit_forest.worlds import HiddenTree, Linear, Stump, World, Xor
from bandit_forest.worlds.datasets import NAMES, Dataset, load

__all__ = ["Environment", "Player", "all_parameters", "make_environment", "make_model", "make_player"]

_WORLDS: dict[str, Callable[..., World]] = {"HiddenTree": HiddenTree, "Linear": Linear, "Stump": Stump, "Xor": Xor}
_MODELS: dict[str, Callable[..., Model]] = {"GreedyForest": GreedyForest, "RandomForest": RandomForest}
_POLICIES: dict[str, Callable[..., Policy]] = {
    "BanditForest": BanditForest,
    "BanditForest.paper": BanditForest.paper,
    "BanditTree": BanditTree,
    "Banditron": Banditron,
    "LinUcb": LinUCB,
    "NeuralBandit": NeuralBandit,
    "SuccessiveElimination": SuccessiveElimination,
    "Ucb": UCB,
    "Uniform": Uniform,
}


@dataclass(frozen=True, kw_only=True)
class Environment:
    """A world, and the data set that it plays if there is one."""

    world: World
    dataset: Dataset | None = None


class Player(Protocol):
    """Players of a stream: every policy, and forests that have nothing to learn."""

    def play(self, contexts: NDArray[np.uint8], rewards: NDArray[np.float64]) -> Played:
        """Decide and learn event by event on a stream whose rewards of all actions are known."""


class Fitted:
    """A forest that was fitted with full information: it plays and does not learn.

    Parameters
    ----------
    forest
        The fitted forest.
    """

    def __init__(self, forest: FlatForest) -> None:
        self._forest = forest

    def play(self, contexts: NDArray[np.uint8], rewards: NDArray[np.float64]) -> Played:
        """Play all events at once."""
        actions = self._forest.predict(contexts)
        return Played(actions, np.ones(len(actions)), rewards[np.arange(len(actions)), actions])


def make_environment(made: Made, data: str | os.PathLike[str] | None) -> Environment:
    """Return a world; a data set is read from the folder `data`."""
    if made.name in NAMES:
        dataset = load(made.name, data)
        return Environment(world=dataset.world(), dataset=dataset)
    return Environment(world=_WORLDS[made.name](**made.parameters))


def make_model(made: Made) -> Model | None:
    """Return the description of a forest with full information, or None where a bandit is meant."""
    return _MODELS[made.name](**made.parameters) if made.name in _MODELS else None


def make_player(made: Made, environment: Environment, *, seed: int, fitted: FlatForest | None = None) -> Player:
    """Return a policy for a world; a forest with full information must have been fitted."""
    if fitted is not None:
        return Fitted(fitted)
    maker = _POLICIES[made.name]
    sizes = {"n_variables": environment.world.n_variables, "n_actions": environment.world.n_actions}
    seeds = {"seed": seed} if "seed" in inspect.signature(maker).parameters else {}
    return maker(**sizes, **seeds, **made.parameters)


def all_parameters(made: Made) -> dict[str, Any]:
    """Return the parameters of a policy with their defaults, without its sizes and its seed.

    Examples
    --------
    >>> all_parameters(Made(name="Banditron", parameters={"exploration_rate": 0.1}))
    {'exploration_rate': 0.1}
    """
    maker = _MODELS.get(made.name) or _POLICIES[made.name]
    left_out = {"n_variables", "n_actions", "thresholds", "seed", "variable_names", "action_names"}
    parameters = {
        name: parameter.default
        for name, parameter in inspect.signature(maker).parameters.items()
        if name not in left_out
    }
    if made.name == "BanditForest.paper":  # what the preset sets is not among its parameters
        preset = BanditForest.paper(n_variables=1, n_actions=2).parameters
        parameters |= {name: value for name, value in preset.items() if name not in left_out}
    return parameters | dict(made.parameters)
