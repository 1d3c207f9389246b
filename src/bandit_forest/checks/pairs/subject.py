"""Policies over pairs, and what may be asked of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from numpy.typing import ArrayLike

from bandit_forest.checks.pairs.offering import Offering
from bandit_forest.checks.subject import Subject
from bandit_forest.policy import Decision

__all__ = ["MakePairPolicy", "PairPolicy", "PairSubject"]


@runtime_checkable
class PairPolicy(Protocol):
    """A way to choose among offered actions by their features, which learns from the reward of the chosen one alone.

    `learn` may come late, out of order, never, or for an event that another policy decided. Checks look at these too,
    where a policy has them: `propensities(context, actions, names=)`; `rank(context, actions, names=)`, which returns a
    `Ranking`; a parameter `key=` of `decide` that names the draw; `decide_many` and `learn_many` as `PairForest` has
    them; `save` and `load`; `n_bytes`.
    """

    def decide(self, context: ArrayLike, actions: ArrayLike, *, names: Sequence[Any]) -> Decision:
        """Choose one of the offered actions, one row of features each, whose names are ints or texts.

        The action of the decision is its row.
        """

    def learn(self, context: ArrayLike, action: ArrayLike, reward: float, *, propensity: float, name: Any) -> None:
        """Learn from the reward of the action that was taken, given by its features and its name."""


class MakePairPolicy(Protocol):
    """Makes a fresh policy over pairs of the sizes and seed that a check asks for."""

    def __call__(self, *, n_context_variables: int, n_action_variables: int, seed: int) -> PairPolicy:
        """Make a policy for zeros and ones as features; one without randomness leaves the seed alone."""


@dataclass(frozen=True, kw_only=True)
class PairSubject:
    """A policy over pairs to check, and its requirements.

    Parameters
    ----------
    make
        Makes a fresh policy, as `make(n_context_variables=..., n_action_variables=..., seed=...)`.
    name
        Its name in messages and test ids.
    learns
        Whether its reward must exceed the reward of uniform draws in the end.
    knows_names
        Whether it must learn which of several actions with the same features is the best, by their names.
    is_bounded
        Whether its memory must not grow although each event offers new actions.
    n_events
        Number of events after which it must have learned an easy world, and its memory must not grow.
    """

    make: MakePairPolicy
    name: str
    learns: bool = True
    knows_names: bool = True
    is_bounded: bool = True
    n_events: int = 4000

    def fresh(self, *, n_context_variables: int = 5, n_action_variables: int = 3, seed: int = 1) -> PairPolicy:
        """Make a policy that has seen nothing."""
        return self.make(n_context_variables=n_context_variables, n_action_variables=n_action_variables, seed=seed)

    @property
    def as_fixed(self) -> Subject:
        """The same policy over fixed actions, each of which has a variable of its own."""

        def make(*, n_variables: int, n_actions: int, seed: int) -> Offering:
            policy = self.fresh(n_context_variables=n_variables, n_action_variables=n_actions, seed=seed)
            return Offering(policy, n_variables=n_variables, n_actions=n_actions)

        return Subject(make=make, name=self.name, learns=self.learns, n_events=self.n_events)
