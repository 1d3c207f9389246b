"""NeuralBandit: perceptrons that predict the reward of each action, in a committee that learns whom to follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bandit_forest.errors import InvalidArgumentError, refuse
from bandit_forest.policy import CheckedPolicy, Decision
from bandit_forest.randomness import DECISION, draw
from bandit_forest.validation import check_int, check_number

__all__ = ["NeuralBandit"]

Floats = NDArray[np.float32]
Number = TypeVar("Number", int, float)


class Activity(NamedTuple):
    """What the perceptrons make of one context."""

    positions: NDArray[np.intp]
    """The inputs that are one: set variables, and last the constant."""
    hidden: Floats
    """The values of the hidden units, (n_actions, units of all members)."""
    outputs: Floats
    """The log-odds of the reward, (n_actions, n_members)."""


class Perceptrons:
    """Perceptrons with one hidden layer, one for each action and member, computed side by side.

    The hidden units are rectified and the output is a logistic function; the loss is the cross-entropy of the reward,
    which may be a fraction. Inputs are zeros and ones, so only the weights of set inputs are read and changed.

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
        self._n_actions = n_actions
        self._member_of_unit = np.repeat(np.arange(len(members)), sizes)
        self._units_of_member = np.equal.outer(self._member_of_unit, np.arange(len(members))).astype(np.float32)
        self._learning_rates = np.array([rate for _, rate in members], dtype=np.float32)
        self._input = np.ones(n_inputs, dtype=np.uint8)
        # The weights of an input lie together: for all actions to be read at once, for one action to be changed.
        self._weights = _normal(generator, (n_inputs * n_actions, n_units), 1.0 / np.sqrt(n_inputs))
        self._output_weights = _normal(generator, (n_actions, n_units), 1.0 / np.sqrt(sizes[self._member_of_unit]))
        self._output_biases = np.zeros((n_actions, len(members)), dtype=np.float32)

    def activity(self, context: NDArray[np.uint8]) -> Activity:
        """Compute the outputs of all perceptrons for a context."""
        self._input[:-1] = context
        positions = self._input.nonzero()[0]
        rows = self._weights.reshape(self._input.size, -1).take(positions, axis=0)
        hidden = np.maximum(np.add.reduce(rows, axis=0), 0.0).reshape(self._n_actions, -1)
        outputs = (hidden * self._output_weights) @ self._units_of_member + self._output_biases
        return Activity(positions, hidden, outputs)

    def step(self, activity: Activity, action: int, reward: float) -> None:
        """Move the weights of an action one step down the gradient of the loss, each member at its own rate."""
        hidden, weights = activity.hidden[action], self._output_weights[action]
        steps = self._learning_rates * (logistic(activity.outputs[action]) - reward)
        unit_steps = steps.take(self._member_of_unit)
        rows = activity.positions * self._n_actions + action
        self._weights[rows] = self._weights.take(rows, axis=0) - unit_steps * weights * (hidden > 0.0)
        weights -= unit_steps * hidden
        self._output_biases[action] -= steps


class Exp3:
    """Exponential weights over the members of a committee (Auer, Cesa-Bianchi, Freund and Schapire 2002).

    Parameters
    ----------
    n_members
        Number of members.
    exploration
        Probability with which a member is drawn uniformly instead of by its weight; γ in the article.
    """

    def __init__(self, n_members: int, exploration: float) -> None:
        self._exploration = exploration
        self._log_weights = np.zeros(n_members)
        self.probabilities = np.full(n_members, 1.0 / n_members)

    def learn(self, rewards: NDArray[np.float64]) -> None:
        """Multiply each weight by exp(γ / n_members · estimated reward)."""
        share = self._exploration / rewards.size
        # A member that is followed with probability p has estimates of at most 1 / p <= 1 / share; those of foreign
        # propensities may be larger, and one of them must not decide for ever.
        self._log_weights += np.minimum(share * rewards, 1.0)
        self._log_weights -= self._log_weights.max()
        weights = np.exp(self._log_weights)
        self.probabilities = (1.0 - self._exploration) / weights.sum() * weights + share


class NeuralBandit(CheckedPolicy):
    """Predict the reward of each action by perceptrons, and follow the member of a committee of them that earns most.

    A member of the committee is a number of hidden units and a learning rate, with one perceptron for each action that
    learns by back-propagation from the rewards of that action. The member to follow is drawn by Exp3; it plays its best
    action, or any with a small probability. All members learn from every event.

    The propensity of an action is its probability over both draws. When a reward comes, what each member would earn is
    estimated without bias as reward · (probability that this member plays the action) / propensity: Exp3 whose arms
    give advice, that is Exp4. What the members play is computed anew then, with all actions available, so a reward may
    come at any time, never, or from another policy.

    Parameters
    ----------
    n_variables
        Number of binary variables of a context.
    n_actions
        Number of actions.
    hidden_sizes
        Numbers of hidden units; the committee has a member for each of them and each learning rate.
    learning_rates
        Learning rates.
    exploration
        Probability with which a member draws any action instead of its best.
    member_exploration
        Probability with which any member is followed, γ of Exp3.
    seed
        Seed of the first weights and of the draws.

    Examples
    --------
    >>> policy = NeuralBandit(n_variables=2, n_actions=2, hidden_sizes=[4], learning_rates=[0.1, 0.3])
    >>> for _ in range(300):
    ...     decision = policy.decide([1, 0])
    ...     policy.learn([1, 0], decision.action, decision.action, propensity=decision.propensity)
    >>> decision = policy.decide([1, 0])
    >>> decision.action, round(decision.propensity, 4)
    (1, 0.9975)

    References
    ----------
    Allesiardo, Féraud and Bouneffouf, *A neural networks committee for the contextual bandit problem*, ICONIP 2014.
    """

    def __init__(
        self,
        *,
        n_variables: int,
        n_actions: int,
        hidden_sizes: Sequence[int] = (16, 64),
        learning_rates: Sequence[float] = (0.003, 0.01, 0.03),
        exploration: float = 0.005,
        member_exploration: float = 0.05,
        seed: int = 0,
    ) -> None:
        super().__init__(n_variables=n_variables, n_actions=n_actions)
        members = list(product(_check_sizes(hidden_sizes), _check_rates(learning_rates)))
        self._exploration = _check_probability(exploration, "exploration")
        self._seed = check_int(seed, "seed", "NeuralBandit", low=0)
        self._committee = Exp3(len(members), _check_probability(member_exploration, "member_exploration"))
        self._perceptrons = Perceptrons(self.n_variables, self.n_actions, members, self._seed)
        self._n_decisions = 0
        self._last: tuple[bytes, Activity] | None = None  # most rewards come right after their decision

    def _decide(self, context: NDArray[np.uint8], available: NDArray[np.bool_] | None) -> Decision:
        outputs = self._activity(context).outputs
        if available is not None:
            outputs = np.where(available[:, None], outputs, -np.inf)
        followed = np.bincount(outputs.argmax(axis=0), self._committee.probabilities, self._n_actions)
        probabilities = (1.0 - self._exploration) * followed + self._uniform(available)
        drawn = draw(self._seed, DECISION, self._n_decisions)
        self._n_decisions += 1
        totals = probabilities.cumsum()
        action = int(totals.searchsorted(drawn * totals[-1], side="right"))
        return Decision(action, float(probabilities[action] / totals[-1]))

    def _learn(self, context: NDArray[np.uint8], action: int, reward: float, propensity: float) -> None:
        activity = self._activity(context)
        if reward > 0.0:
            agree = activity.outputs.argmax(axis=0) == action
            plays = (1.0 - self._exploration) * agree + self._exploration / self._n_actions
            self._committee.learn(plays * (reward / propensity))
        self._perceptrons.step(activity, action, reward)
        self._last = None

    def _activity(self, context: NDArray[np.uint8]) -> Activity:
        """Compute the perceptrons' activity, unless nothing was learned since it was computed for the same context."""
        key = context.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, self._perceptrons.activity(context)
        return self._last[1]

    def _uniform(self, available: NDArray[np.bool_] | None) -> float | NDArray[np.float64]:
        """Give each available action its share of the exploration."""
        if available is None:
            return self._exploration / self._n_actions
        return available * (self._exploration / np.count_nonzero(available))


def logistic(values: Floats) -> Floats:
    """Give 1 / (1 + exp(-values)), without overflow.

    Examples
    --------
    >>> logistic(np.array([-1000.0, 0.0, 1000.0], dtype=np.float32))
    array([0. , 0.5, 1. ], dtype=float32)
    """
    halves: Floats = 0.5 * np.tanh(0.5 * values)
    return halves + np.float32(0.5)


def _normal(generator: np.random.Generator, shape: tuple[int, int], spread: float | NDArray[np.float64]) -> Floats:
    """Draw first weights."""
    return (generator.standard_normal(shape, dtype=np.float32) * spread).astype(np.float32)


def _check_sizes(sizes: Sequence[int]) -> list[int]:
    """Give back the hidden sizes, at least one."""
    rule = "a non-empty list of ints of at least 1"
    return _check_list(sizes, "hidden_sizes", rule, lambda size: check_int(size, "hidden_sizes", "NeuralBandit"))


def _check_rates(rates: Sequence[float]) -> list[float]:
    """Give back the learning rates, at least one."""
    rule = "a non-empty list of numbers in (0, 1]"
    return _check_list(rates, "learning_rates", rule, lambda rate: _check_probability(rate, "learning_rates"))


def _check_list(values: Sequence[Number], name: str, rule: str, check: Callable[[Number], Number]) -> list[Number]:
    """Give back a checked list that is not empty; the refusal shows it whole."""
    try:
        checked = [check(value) for value in values]
    except (InvalidArgumentError, TypeError):
        checked = []
    return checked or refuse(name, "NeuralBandit", rule, values)


def _check_probability(value: float, name: str) -> float:
    """Give back a number in (0, 1]."""
    return check_number(value, name, "NeuralBandit", "a number in (0, 1]", 0.0, 1.0, open_low=True)
