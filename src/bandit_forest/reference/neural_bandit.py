"""NeuralBandit in plain NumPy: every event computes every perceptron anew."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.policy import CheckedPolicy, Decision
from bandit_forest.randomness import DECISION, draw

__all__ = ["Exp3", "Perceptrons", "ReferenceNeuralBandit"]

Floats = NDArray[np.float32]


class Activity(NamedTuple):
    """Outputs of the perceptrons for one context."""

    inputs: NDArray[np.bool_]
    """The variables, and last the constant."""
    hidden: Floats
    """The values of the hidden units, (n_actions, units of all members)."""
    outputs: Floats
    """The log-odds of the reward, (n_actions, n_members)."""


class Perceptrons:
    """Perceptrons with one hidden layer, one for each action and member, computed side by side.

    The hidden units are rectified and the output is a logistic function; the loss is the cross-entropy of the reward,
    which may be a fraction.

    Parameters
    ----------
    n_variables
        Number of binary inputs, next to a constant one.
    n_actions
        Number of actions.
    members
        Number of hidden units and learning rate of each member of the committee.
    seed
        Seed of the first weights.
    """

    def __init__(self, n_variables: int, n_actions: int, members: Sequence[tuple[int, float]], seed: int) -> None:
        sizes = np.array([size for size, _ in members])
        generator = np.random.default_rng(seed)
        n_units, n_inputs = int(sizes.sum()), n_variables + 1
        self._member_of_unit = np.repeat(np.arange(len(members)), sizes)
        self._units_of_member = np.equal.outer(self._member_of_unit, np.arange(len(members))).astype(np.float32)
        self._learning_rates = np.array([rate for _, rate in members], dtype=np.float32)
        self._weights = _normal(generator, (n_inputs, n_actions, n_units), 1.0 / np.sqrt(n_inputs))
        self._output_weights = _normal(generator, (n_actions, n_units), 1.0 / np.sqrt(sizes[self._member_of_unit]))
        self._output_biases = np.zeros((n_actions, len(members)), dtype=np.float32)

    def activity(self, context: NDArray[np.uint8]) -> Activity:
        """Compute the outputs of all perceptrons for a context."""
        inputs = np.append(context, 1).astype(np.bool_)
        hidden = np.maximum(self._weights[inputs].sum(axis=0), 0.0)
        outputs = (hidden * self._output_weights) @ self._units_of_member + self._output_biases
        return Activity(inputs, hidden, outputs)

    def step(self, activity: Activity, action: int, reward: float) -> None:
        """Move the weights of an action one step down the gradient of the loss, each member at its own rate."""
        hidden, weights = activity.hidden[action], self._output_weights[action]
        steps = self._learning_rates * (logistic(activity.outputs[action]) - reward)
        unit_steps = steps[self._member_of_unit]
        self._weights[activity.inputs, action] -= unit_steps * weights * (hidden > 0.0)
        weights -= unit_steps * hidden
        self._output_biases[action] -= steps


class Exp3:
    """Exponential weights over the members of a committee (Auer, Cesa-Bianchi, Freund and Schapire 2002).

    Parameters
    ----------
    n_members
        Number of members.
    exploration_rate
        Probability with which a member is drawn uniformly instead of by its weight; γ in the article.
    """

    def __init__(self, n_members: int, exploration_rate: float) -> None:
        self._exploration_rate = exploration_rate
        self._log_weights = np.zeros(n_members)
        self.probabilities = np.full(n_members, 1.0 / n_members)

    def learn(self, rewards: NDArray[np.float64]) -> None:
        """Multiply each weight by exp(γ / n_members · estimated reward)."""
        share = self._exploration_rate / rewards.size
        # A member that is followed with probability p has estimates of at most 1 / p <= 1 / share; those of foreign
        # propensities may be larger, and one of them must not decide for ever.
        self._log_weights += np.minimum(share * rewards, 1.0)
        self._log_weights -= self._log_weights.max()
        weights = np.exp(self._log_weights)
        self.probabilities = (1.0 - self._exploration_rate) / weights.sum() * weights + share


class ReferenceNeuralBandit(CheckedPolicy):
    """A committee of perceptrons for each action, followed by Exp3 (Allesiardo, Féraud and Bouneffouf, ICONIP 2014).

    Parameters
    ----------
    n_variables, n_actions, hidden_sizes, learning_rates, exploration_rate, member_exploration_rate, seed
        As in `bandit_forest.baselines.NeuralBandit`.

    Examples
    --------
    >>> policy = ReferenceNeuralBandit(n_variables=2, n_actions=2, hidden_sizes=[4], learning_rates=[0.1])
    >>> policy.decide([1, 0]).propensity
    0.9975
    """

    def __init__(
        self,
        *,
        n_variables: int,
        n_actions: int,
        hidden_sizes: Sequence[int] = (16, 64),
        learning_rates: Sequence[float] = (0.003, 0.01, 0.03),
        exploration_rate: float = 0.005,
        member_exploration_rate: float = 0.05,
        seed: int = 0,
    ) -> None:
        super().__init__(n_variables=n_variables, n_actions=n_actions)
        members = list(product(hidden_sizes, learning_rates))
        self.committee = Exp3(len(members), member_exploration_rate)
        self.perceptrons = Perceptrons(n_variables, n_actions, members, seed)
        self._exploration_rate = exploration_rate
        self._seed = seed
        self._n_decisions = 0

    def _decide(self, context: NDArray[np.uint8], available: NDArray[np.bool_] | None) -> Decision:
        mask = np.ones(self._n_actions, dtype=np.bool_) if available is None else available
        outputs = np.where(mask[:, None], self.perceptrons.activity(context).outputs, -np.inf)
        followed = np.bincount(outputs.argmax(axis=0), self.committee.probabilities, self._n_actions)
        probabilities = (1.0 - self._exploration_rate) * followed + self._exploration_rate * mask / mask.sum()
        totals = probabilities.cumsum()
        drawn = draw(self._seed, DECISION, self._n_decisions)
        self._n_decisions += 1
        action = int(totals.searchsorted(drawn * totals[-1], side="right"))
        return Decision(action, float(probabilities[action] / totals[-1]))

    def _learn(self, context: NDArray[np.uint8], action: int, reward: float, propensity: float) -> None:
        activity = self.perceptrons.activity(context)
        if reward > 0.0:
            agree = activity.outputs.argmax(axis=0) == action
            plays = (1.0 - self._exploration_rate) * agree + self._exploration_rate / self._n_actions
            self.committee.learn(plays * (reward / propensity))
        self.perceptrons.step(activity, action, reward)


def logistic(values: Floats) -> Floats:
    """Return 1 / (1 + exp(-values)), without overflow.

    Examples
    --------
    >>> logistic(np.array([-1000.0, 0.0, 1000.0], dtype=np.float32))
    array([0. , 0.5, 1. ], dtype=float32)
    """
    halves: Floats = 0.5 * np.tanh(0.5 * values)
    return halves + np.float32(0.5)


def _normal(generator: np.random.Generator, shape: tuple[int, ...], spread: float | NDArray[np.float64]) -> Floats:
    """Draw first weights."""
    return (generator.standard_normal(shape, dtype=np.float32) * spread).astype(np.float32)
