"""The model: from contexts to decisions. Until bins and values are learned, decisions are uniform and contexts wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.encoding import ContextEncoder
from bandit_forest.forest import BanditForest
from bandit_forest.randomness import DECISION, draw
from bandit_forest.service.action_book import Available
from bandit_forest.service.contexts import ContextReader, different_names, fit_columns, is_learned
from bandit_forest.service.definition import make_forest
from bandit_forest.service.project import Project

__all__ = ["Lesson", "Model"]

Bits = NDArray[np.uint8]
Known = bytes | dict[str, Any]
"""A checked context: its bits, or as it came while bins are learned."""


class Lesson(NamedTuple):
    """What is learned from: a context, the action taken, its reward in [0, 1] and its propensity."""

    context: Known
    action: int
    reward: float
    propensity: float

    def to_json(self) -> list[Any]:
        """Give a list that JSON can hold; while lessons wait, their contexts are as they came."""
        return list(self)


class Model:
    """Decide and learn, from the first event on; a function of the calls in their order.

    Parameters
    ----------
    project
        With the context's fields, the forest's parameters and the number of places for actions.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._fields = project.context
        self.forest: BanditForest | None = None
        self.version = 0
        """How many events the forest has learned; asking the forest itself would let go of the interpreter's lock."""
        self.warm_up_contexts: list[dict[str, Any]] = []
        self.warm_up_lessons: list[Lesson] = []
        self.warm_up_draws = 0
        learned = any(map(is_learned, self._fields.values()))
        self.reader = ContextReader(self._fields, None if learned else fit_columns(self._fields, []))

    @property
    def warm_up_left(self) -> int:
        """How many contexts are still to come before the forest is made."""
        return 0 if self.reader.encoder else self._project.warm_up_events - len(self.warm_up_contexts)

    def begin(self, action_names: list[str]) -> None:
        """Make the forest, unless bins are to be learned first."""
        if self.forest is None and self.reader.encoder is not None:
            names = different_names(self.reader.encoder.variable_names)
            self.forest = make_forest(self._project, names, self.reader.encoder.thresholds, action_names)

    def read(self, context: Any, path: str) -> Known:
        """Check a context and give what is to be remembered of it."""
        bits = self.reader.encode(context, path)
        return dict(context) if self.forest is None else bits

    def decide(self, context: Known, available: Available) -> tuple[int, float]:
        """Draw an action from those that are available."""
        if self.forest is not None:
            return self.forest._decide(self._bytes(context), available.mask)  # both are known to be right
        number, self.warm_up_draws = self.warm_up_draws, self.warm_up_draws + 1
        n_available = len(available.places)
        turn = int(n_available * draw(self._project.forest["seed"], DECISION, number))
        return int(available.places[turn]), 1.0 / n_available

    def decide_many(self, contexts: Sequence[Known], available: Available) -> list[tuple[int, float]]:
        """Decide a batch: the same as one after the other."""
        if self.forest is None:
            return [self.decide(context, available) for context in contexts]
        actions, propensities = self.forest._decide_many(self._matrix(contexts), available.mask)
        return list(zip(actions.tolist(), propensities.tolist(), strict=True))

    def see(self, context: Known, action_names: list[str]) -> None:
        """Take note of a context of the warm-up; the last one makes the forest, which learns what has waited."""
        assert isinstance(context, dict)
        self.warm_up_contexts.append(context)
        if len(self.warm_up_contexts) < self._project.warm_up_events:
            return
        self.reader = ContextReader(self._fields, fit_columns(self._fields, self.warm_up_contexts))
        self.begin(action_names)
        lessons, self.warm_up_lessons, self.warm_up_contexts = self.warm_up_lessons, [], []
        self.learn_many(lessons)

    def learn(self, lesson: Lesson) -> None:
        """Learn one lesson; during the warm-up it waits for the forest."""
        if self.forest is None:
            self.warm_up_lessons.append(lesson)
        else:
            self.forest._learn(self._bytes(lesson.context), lesson.action, lesson.reward, lesson.propensity)
            self.version += 1

    def learn_many(self, lessons: Sequence[Lesson]) -> None:
        """Learn lessons in their order: the same as one after the other."""
        if self.forest is None or len(lessons) < 2:
            for lesson in lessons:
                self.learn(lesson)
            return
        contexts, actions, rewards, propensities = zip(*lessons, strict=True)
        self.forest.learn_many(self._matrix(contexts), actions, rewards, propensities=propensities)
        self.version += len(lessons)

    def bits(self, context: Known) -> Bits:
        """Give the bits of a checked context."""
        return np.frombuffer(self._bytes(context), dtype=np.uint8)

    def _matrix(self, contexts: Sequence[Known]) -> Bits:
        together = b"".join(map(self._bytes, contexts))
        return np.frombuffer(together, dtype=np.uint8).reshape(len(contexts), -1)

    def _bytes(self, context: Known) -> bytes:
        return context if isinstance(context, bytes) else self.reader.encode(context, "$.context")

    def restore(self, forest: BanditForest, encoder: ContextEncoder) -> None:
        """Take over the forest and the encoder of a snapshot."""
        self.forest, self.version = forest, forest.n_events
        self.reader = ContextReader(self._fields, encoder.columns_)
