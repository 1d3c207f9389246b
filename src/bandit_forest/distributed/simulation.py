"""A simulation with trees on several machines: estimates in batches, sums in order, one draw per decision.

Every message carries the position in the log, the number of lessons so far. A shard that stands elsewhere, since it
came back from a failure with an older state, refuses it, and is taught what it has missed before it answers.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.distributed.shards import Lessons, cut, sections_of
from bandit_forest.errors import BanditForestError
from bandit_forest.forest import BanditForest
from bandit_forest.forest.parts import ForestParts
from bandit_forest.policy import Played

__all__ = ["LocalShards", "OutOfPlaceError", "RayShards", "Shard", "ShardedSimulation", "Shards"]

_PATIENCE = 60.0


class OutOfPlaceError(BanditForestError, RuntimeError):
    """A message is for another moment than the one at which a shard stands."""


class Shard:
    """Some parts of a forest, on one machine.

    Parameters
    ----------
    forest
        The forest as it was at the beginning.
    parts
        One of the ranges of `cut`.
    """

    def __init__(self, forest: BanditForest, parts: range) -> None:
        self._forest = copy(forest)
        self._whole = ForestParts(self._forest, "Shard")
        self._parts = parts
        self._last: tuple[int, NDArray[np.float64]] | None = None  # position and notes of the last batch learned

    def position(self) -> int:
        """Return the number of lessons learned."""
        return self._forest.n_events

    def estimate(self, position: int, contexts: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return what these parts estimate, one row per context."""
        self._check(position)
        return self._whole.estimate(contexts, self._parts)

    def learn(self, position: int, lessons: Lessons) -> NDArray[np.float64]:
        """Learn lessons and return the notes; for a batch that was learned last, the same notes again."""
        if self._last is not None and self._last[0] == position and len(self._last[1]) == len(lessons.rewards):
            return self._last[1]
        self._check(position)
        notes = self._whole.learn(*lessons, parts=self._parts)
        self._last = position, notes
        return notes

    def sections(self, position: int) -> dict[int, bytes]:
        """Return the pieces of a saved forest that these parts have made."""
        self._check(position)
        sections = self._whole.sections()
        return {number: sections[number] for number in sections_of(self._parts, self._whole.n_groups) if number > 0}

    def _check(self, position: int) -> None:
        if position != self._forest.n_events:
            raise OutOfPlaceError(f"A message for position {position} came to a shard at {self._forest.n_events}.")


class Shards(ABC):
    """All shards of a forest, wherever they are.

    Parameters
    ----------
    forest
        The forest as it was at the beginning.
    n_shards
        Number of shards of trees.
    """

    def __init__(self, forest: BanditForest, n_shards: int) -> None:
        self.shards = [self._made(forest, parts) for parts in cut(forest, n_shards)]

    @abstractmethod
    def _made(self, forest: BanditForest, parts: range) -> Any:
        """Return a new shard, or the way to it."""

    @abstractmethod
    def ask(self, method: str, *arguments: Any) -> list[Any]:
        """Return what each shard answers, in order; `OutOfPlaceError` in place of an answer where one refuses."""

    @abstractmethod
    def ask_one(self, number: int, method: str, *arguments: Any) -> Any:
        """Return what one shard answers."""


class LocalShards(Shards):
    """Shards in this process."""

    def _made(self, forest: BanditForest, parts: range) -> Shard:
        return Shard(forest, parts)

    def ask(self, method: str, *arguments: Any) -> list[Any]:
        """Return what each shard answers."""
        return [self._answer(number, method, *arguments) for number in range(len(self.shards))]

    def ask_one(self, number: int, method: str, *arguments: Any) -> Any:
        """Return what one shard answers."""
        return getattr(self.shards[number], method)(*arguments)

    def _answer(self, number: int, method: str, *arguments: Any) -> Any:
        try:
            return self.ask_one(number, method, *arguments)
        except OutOfPlaceError as error:
            return error


class RayShards(Shards):
    """Shards as actors of a Ray cluster; one that dies comes back as it was at the beginning."""

    def __init__(self, forest: BanditForest, n_shards: int) -> None:
        import ray

        self._ray: Any = ray
        self._actor = ray.remote(num_cpus=0, max_restarts=-1)(Shard)
        super().__init__(forest, n_shards)

    def _made(self, forest: BanditForest, parts: range) -> Any:
        return self._actor.remote(forest, parts)

    def ask(self, method: str, *arguments: Any) -> list[Any]:
        """Return what each shard answers."""
        given = [self._ray.put(argument) for argument in arguments]
        asked = [getattr(actor, method).remote(*given) for actor in self.shards]
        return [self._answer(number, one, method, arguments) for number, one in enumerate(asked)]

    def ask_one(self, number: int, method: str, *arguments: Any) -> Any:
        """Return what one shard answers; while it comes back from a failure it is asked again."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                return self._ray.get(getattr(self.shards[number], method).remote(*arguments))
            except self._ray.exceptions.RayActorError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def _answer(self, number: int, asked: Any, method: str, arguments: Sequence[Any]) -> Any:
        try:
            try:
                return self._ray.get(asked)
            except self._ray.exceptions.RayActorError:
                return self.ask_one(number, method, *arguments)
        except OutOfPlaceError as error:  # Ray raises an error that is of the class of its cause, too
            return error


class ShardedSimulation:
    """Plays batches with a forest whose parts are elsewhere.

    The same actions, propensities and forest as `decide_many` and `learn_many` of one forest with the same batches.

    Parameters
    ----------
    forest
        The forest as it was at the beginning, which it stays.
    shards
        Its parts.

    Examples
    --------
    >>> forest = BanditForest(n_variables=2, n_actions=2, n_trees=8)
    >>> simulation = ShardedSimulation(forest, LocalShards(forest, 2))
    >>> played = simulation.play(np.zeros((3, 2), np.uint8), np.ones((3, 2)))
    >>> simulation.forest().n_events
    3
    """

    def __init__(self, forest: BanditForest, shards: Shards) -> None:
        self._forest = copy(forest)  # its log, counts and weights
        self._whole = ForestParts(self._forest, "ShardedSimulation")
        self._first = forest.n_events
        self._shards = shards
        self._batches: list[Lessons] = []

    def play(self, contexts: NDArray[np.uint8], rewards: NDArray[np.float64]) -> Played:
        """Decide a batch with the forest as it is, then learn it.

        Parameters
        ----------
        contexts
            Codes of the variables, one row per event.
        rewards
            Reward that each action would earn, one row per event.
        """
        position = self._forest.n_events
        estimates = np.concatenate(self._ask("estimate", position, contexts), axis=1)
        actions, propensities = self._whole.decide_by(estimates)
        lessons = Lessons(contexts, actions, np.ascontiguousarray(rewards[np.arange(len(actions)), actions]))
        notes = np.concatenate(self._ask("learn", position, lessons), axis=1)
        self._whole.learn(*lessons, parts=range(0))
        self._whole.learn_weights(np.ascontiguousarray(notes), lessons.rewards)
        self._batches.append(lessons)
        return Played(actions, propensities, lessons.rewards)

    def forest(self) -> BanditForest:
        """Return the whole forest."""
        sections = self._whole.sections()
        for pieces in self._ask("sections", self._forest.n_events):
            for number, piece in pieces.items():
                sections[number] = piece
        return self._whole.joined(sections)

    def _ask(self, method: str, *arguments: Any) -> list[Any]:
        """Return what each shard answers; one that is out of place is taught first."""
        answers = self._shards.ask(method, *arguments)
        for number, answer in enumerate(answers):
            if isinstance(answer, OutOfPlaceError):
                self._teach(number)
                answers[number] = self._shards.ask_one(number, method, *arguments)
        return answers

    def _teach(self, number: int) -> None:
        """Let a shard learn the lessons that it has missed."""
        start = self._shards.ask_one(number, "position")
        position = self._first
        for lessons in self._batches:
            if position >= start:
                self._shards.ask_one(number, "learn", position, lessons)
            position += len(lessons.rewards)
