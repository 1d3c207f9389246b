"""NeuralBandit: a committee of perceptrons that predict the reward of each action, and Exp3 over its members."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bandit_forest import _core
from bandit_forest.compiled import CompiledPolicy
from bandit_forest.errors import InvalidArgumentError, refuse
from bandit_forest.parameters import MOST_ACTIONS, MOST_CELLS, check_share, check_size
from bandit_forest.validation import check_int

__all__ = ["NeuralBandit"]

Floats = NDArray[np.float32]
Number = TypeVar("Number", int, float)


class NeuralBandit(CompiledPolicy):
    """Predict the reward of each action by perceptrons, and follow the member of a committee of them that earns most.

    A member of the committee has a number of hidden units, a learning rate, and one perceptron for each action, which
    learns by back-propagation from the rewards of that action. Exp3 draws the member to follow. This member plays its
    best action, or any action with a small probability. All members learn from every event.

    The propensity of an action is its probability over both draws. When a reward arrives, the reward of each member is
    estimated without bias as reward · (probability that this member plays the action) / propensity: this is Exp3 whose
    arms give advice, that is Exp4. The actions of the members are then computed anew, with all actions available, so a
    reward may arrive at any time, never, or from another policy. All methods may be called from several threads.

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
    exploration_rate
        Probability with which a member draws any action instead of its best.
    member_exploration_rate
        Probability with which any member is followed, γ of Exp3.
    seed
        Seed of the first weights and of all random draws.

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
        exploration_rate: float = 0.005,
        member_exploration_rate: float = 0.05,
        seed: int = 0,
    ) -> None:
        super().__init__(n_variables=n_variables, n_actions=n_actions)
        check_int(n_actions, "n_actions", "NeuralBandit", high=MOST_ACTIONS)
        members = list(product(_check_sizes(hidden_sizes), _check_rates(learning_rates)))
        _check_weights(self._n_variables, self._n_actions, sum(size for size, _ in members))
        self._exploration_rate = check_share(exploration_rate, "exploration_rate", "NeuralBandit")
        self._member_exploration_rate = check_share(member_exploration_rate, "member_exploration_rate", "NeuralBandit")
        self._seed = check_int(seed, "seed", "NeuralBandit", low=0)
        sizes = np.array([size for size, _ in members], dtype=np.uint64)
        weights, output_weights = _first_weights(self._n_variables + 1, self._n_actions, sizes, self._seed)
        self._core = _core.NeuralBandit(
            n_variables=self._n_variables,
            n_actions=self._n_actions,
            sizes=sizes,
            learning_rates=np.array([rate for _, rate in members], dtype=np.float32),
            exploration=self._exploration_rate,
            member_exploration=self._member_exploration_rate,
            seed=self._seed % 2**64,
            weights=weights,
            output_weights=output_weights,
        )


def _first_weights(n_inputs: int, n_actions: int, sizes: NDArray[np.uint64], seed: int) -> tuple[Floats, Floats]:
    """Draw the weights of the inputs, (n_inputs * n_actions, units of all members), and of the outputs."""
    generator = np.random.default_rng(seed)
    size_of_unit = np.repeat(sizes, sizes.astype(np.intp))
    weights = _normal(generator, (n_inputs * n_actions, size_of_unit.size), 1.0 / np.sqrt(n_inputs))
    return weights, _normal(generator, (n_actions, size_of_unit.size), 1.0 / np.sqrt(size_of_unit))


def _normal(generator: np.random.Generator, shape: tuple[int, int], spread: float | NDArray[np.float64]) -> Floats:
    """Draw first weights."""
    return (generator.standard_normal(shape, dtype=np.float32) * spread).astype(np.float32)


def _check_sizes(sizes: Sequence[int]) -> list[int]:
    """Return the hidden sizes, at least one."""
    rule = "a non-empty list of ints of at least 1"
    return _check_list(sizes, "hidden_sizes", rule, lambda size: check_int(size, "hidden_sizes", "NeuralBandit"))


def _check_rates(rates: Sequence[float]) -> list[float]:
    """Return the learning rates, at least one."""
    rule = "a non-empty list of numbers in (0, 1]"
    return _check_list(rates, "learning_rates", rule, lambda rate: check_share(rate, "learning_rates", "NeuralBandit"))


def _check_list(values: Sequence[Number], name: str, rule: str, check: Callable[[Number], Number]) -> list[Number]:
    """Return a checked list that is not empty; the refusal shows it whole."""
    try:
        checked = [check(value) for value in values]
    except (InvalidArgumentError, TypeError):
        checked = []
    return checked or refuse(name, "NeuralBandit", rule, values)


def _check_weights(n_variables: int, n_actions: int, n_units: int) -> None:
    """Refuse hidden units that memory does not hold even with one variable, else variables that it does not hold."""
    most_units = MOST_CELLS // (2 * n_actions)
    if n_units > most_units:
        rule = f"at most {most_units} units in all members with {n_actions} actions"
        refuse("hidden_sizes", "NeuralBandit", rule, n_units)
    most = MOST_CELLS // (n_units * n_actions) - 1  # beside the constant input
    check_size(n_variables, most, "n_variables", "NeuralBandit", f"{n_actions} actions and {n_units} hidden units")
