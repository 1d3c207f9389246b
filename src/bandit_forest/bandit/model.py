"""The model: schema and policy. Until the schema is learned, decisions are uniform and lessons wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from itertools import count
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.action_registry import Available
from bandit_forest.bandit.errors import FeatureError
from bandit_forest.bandit.features.kinds import Feature
from bandit_forest.bandit.features.learned_kinds import LearnedKinds
from bandit_forest.bandit.features.schema import Schema
from bandit_forest.bandit.features.values import as_context
from bandit_forest.compiled import CompiledPolicy
from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import refuse
from bandit_forest.forest import BanditForest
from bandit_forest.policy import Policy
from bandit_forest.randomness import DECISION, KEY, draw
from bandit_forest.validation import key_number

__all__ = ["EncodedContext", "Lesson", "Model", "WarmUpRule", "different_names"]

EncodedContext = bytes | dict[str, Any]
"""A checked context: its variables, one byte each, or as it came while the schema is learned."""
WarmUpRule = Literal["lessons", "events"]
Matrix = NDArray[np.uint8]


class Lesson(NamedTuple):
    """A lesson: a context, the action taken, its reward in [0, 1] and its propensity."""

    context: EncodedContext
    action: int
    reward: float
    propensity: float


class Model:
    """Decide and learn from the first event on; the schema and the policy are a function of the lessons in their order.

    Parameters
    ----------
    features
        What a context may hold; None: names and kinds are learned too.
    warm_up_events
        Number of lessons from which the schema is learned, where the features leave it open.
    make_policy
        Makes the policy from the fitted encoder and the names of its variables.
    seed
        Seed of the uniform draws while the schema is learned.
    warm_up_rule
        "lessons", or "events" as in storage folders of version 0.1: contexts count as soon as they are decided, and are
        told by `see`.
    ordered
        Whether the policy takes ordered variables: it decides what becomes of numbers that nobody has declared.
    """

    def __init__(
        self,
        *,
        features: Mapping[str, Feature] | None,
        warm_up_events: int,
        make_policy: Callable[[ContextEncoder, list[str]], Policy],
        seed: int,
        warm_up_rule: WarmUpRule = "lessons",
        ordered: bool = True,
    ) -> None:
        self.policy: Policy | None = None
        self.version = 0
        """Number of lessons learned; asking the policy itself would let go of the interpreter's lock."""
        self.warm_up_contexts: list[dict[str, Any]] = []
        self.warm_up_lessons: list[Lesson] = []
        self.warm_up_draws = 0
        self.kinds = LearnedKinds()
        """Kinds of the features, where they are not declared."""
        self._declared = features is not None
        self._warm_up_events = warm_up_events
        self._warm_up_rule = warm_up_rule
        self._ordered = ordered
        self._make_policy = make_policy
        self._seed = seed
        self.schema = Schema(features or {}, None)
        if features is not None and not any(feature.is_learned for feature in features.values()):
            self.fit([])

    @property
    def warm_up_left(self) -> int:
        """Number of lessons still to come before the policy is made."""
        return 0 if self.policy is not None else self._warm_up_events - len(self.warm_up_contexts)

    @property
    def feature_names(self) -> Set[str]:
        """The names of the features that are declared, or that the lessons have told so far."""
        return self.schema.features.keys() if self._declared or self.policy is not None else self.kinds.names

    def n_waiting(self, n_lessons: int) -> int:
        """Return how many of the next lessons are to wait until the schema is learned."""
        if self.policy is None and self._warm_up_rule == "events":
            return n_lessons
        return min(n_lessons, self.warm_up_left)

    def schema_after(self, contexts: Sequence[EncodedContext]) -> Schema:
        """Return the schema when lessons with these contexts wait, or refuse one with its row; nothing changes."""
        if not contexts:
            return self.schema
        kinds, waiting = self._noted(contexts)
        is_due = self._warm_up_rule == "lessons" and len(contexts) >= self.warm_up_left
        return self._fitted(kinds, self.warm_up_contexts + waiting) if is_due else self.schema

    def checked(self, contexts: Sequence[EncodedContext]) -> list[EncodedContext]:
        """Return contexts that can be learned in this order, or refuse one with its row; nothing changes."""
        n_first = self.n_waiting(len(contexts))
        for row, context in enumerate(contexts):
            if isinstance(context, bytes) and (row < n_first or not self.schema.holds(context)):
                refuse("decisions", "Bandit.learn_many", f"decisions of this bandit; row {row} is wrong", context)
        checked = list(contexts)
        for row, context in enumerate(contexts[:n_first]):  # it may be that of another bandit
            try:
                checked[row] = self.read(context)
            except FeatureError as error:
                raise error.at(row=row) from None
        schema = self.schema_after(checked[:n_first])
        for row in range(n_first, len(contexts)):
            if isinstance(context := checked[row], dict):
                try:
                    checked[row] = schema.encode(context)
                except FeatureError as error:
                    raise error.at(row=row) from None
        return checked

    def checked_one(self, context: EncodedContext) -> EncodedContext:
        """Return the context of a decision, or refuse one that this bandit cannot have read."""
        if isinstance(context, dict):
            return self.read(context)
        if not self.schema.holds(context):
            refuse("decision", "Bandit.learn", "a decision of this bandit: another one has other features", context)
        return context

    def read(self, context: Any) -> EncodedContext:
        """Check a context and return what is to be remembered of it."""
        if self.policy is not None:
            return self.schema.encode(context)
        return self.schema.check(context) if self._declared else self.kinds.check(as_context(context))

    def decide(self, context: EncodedContext, available: Available) -> tuple[int, float]:
        """Draw an action from those that are available."""
        if self.policy is None:
            number, self.warm_up_draws = self.warm_up_draws, self.warm_up_draws + 1
            n_available = len(available.indices)
            turn = int(n_available * draw(self._seed, DECISION, number))
            return int(available.indices[turn]), 1.0 / n_available
        if isinstance(self.policy, CompiledPolicy):  # which takes bytes, and both are known to be right
            return self.policy._decide(self.encoded(context), available.packed)
        return self.policy.decide(self.variables(context), available_actions=available.indices)

    def decide_by_key(self, context: EncodedContext, available: Available, key: str) -> tuple[int, float]:
        """Draw an action: the same for the same version, context, available actions and key, whoever asks."""
        if self.policy is None:
            n_available = len(available.indices)
            turn = int(n_available * draw(self._seed, KEY, key_number(key, "decide_by_key")))
            return int(available.indices[turn]), 1.0 / n_available
        assert isinstance(self.policy, BanditForest)
        return self.policy._decide_by_key(self.encoded(context), available.packed, key)

    def decide_many_by_key(
        self, contexts: Sequence[EncodedContext], available: Available, keys: Sequence[str]
    ) -> list[tuple[int, float]]:
        """Decide a batch by keys: the same as one after the other."""
        if self.policy is None:
            return [self.decide_by_key(context, available, key) for context, key in zip(contexts, keys, strict=True)]
        assert isinstance(self.policy, BanditForest)
        decided = self.policy.decide_many(self.matrix(contexts), available_actions=available.indices, keys=keys)
        return list(zip(decided.actions.tolist(), decided.propensities.tolist(), strict=True))

    def decide_many(self, contexts: Sequence[EncodedContext], available: Available) -> list[tuple[int, float]]:
        """Decide a batch: the same as one after the other."""
        if self.policy is None:
            return [self.decide(context, available) for context in contexts]
        decided = self.policy.decide_many(self.matrix(contexts), available_actions=available.indices)
        return list(zip(decided.actions.tolist(), decided.propensities.tolist(), strict=True))

    def learn(self, lesson: Lesson) -> None:
        """Learn one lesson; while the schema is learned it waits."""
        if self.policy is None:
            self.schema_after([lesson.context])  # what is refused is refused before anything is learned
            if self._warm_up_rule == "lessons":
                self.warm_up_contexts.append(self._warm_up_context(lesson.context))
            self.warm_up_lessons.append(lesson)
            self._fit_if_due()
        elif isinstance(self.policy, CompiledPolicy):
            self.policy._learn(self.encoded(lesson.context), lesson.action, lesson.reward, lesson.propensity)
            self.version += 1
        else:
            self.policy.learn(
                self.variables(lesson.context), lesson.action, lesson.reward, propensity=lesson.propensity
            )
            self.version += 1

    def learn_many(self, lessons: Sequence[Lesson]) -> None:
        """Learn lessons in their order: the same as one after the other."""
        while lessons and (self.policy is None or len(lessons) == 1):
            self.learn(lessons[0])
            lessons = lessons[1:]
        if lessons:
            contexts, actions, rewards, propensities = zip(*lessons, strict=True)
            self.learn_matrix(self.matrix(contexts), actions, rewards, propensities)

    def learn_matrix(self, contexts: Matrix, actions: Any, rewards: Any, propensities: Any) -> None:
        """Learn encoded contexts in their order."""
        assert self.policy is not None
        self.policy.learn_many(contexts, actions, rewards, propensities=propensities)
        self.version += len(contexts)

    def see(self, context: EncodedContext) -> None:
        """Count a context of the warm-up by the rule of version 0.1."""
        if self.policy is None and self._warm_up_rule == "events":
            self.warm_up_contexts.append(self._warm_up_context(context))
            self._fit_if_due()

    def fit(self, contexts: list[dict[str, Any]]) -> None:
        """Learn the schema from checked contexts, make the policy, and learn the lessons that have waited."""
        self._adopt(self._fitted(self.kinds, contexts))
        lessons, self.warm_up_lessons, self.warm_up_contexts = self.warm_up_lessons, [], []
        self.learn_many(lessons)

    def fit_rows(self, contexts: Sequence[EncodedContext]) -> None:
        """Learn the schema from contexts that are not lessons, or refuse one with its row."""
        self.kinds, rows = self._noted(contexts)
        self.fit(rows)

    def restore(self, policy: Policy, schema: Schema, version: int) -> None:
        """Take over the policy and the schema of a file."""
        self.policy, self.schema, self.version = policy, schema, version

    def encoded(self, context: EncodedContext) -> bytes:
        """Return the variables of a checked context, one byte each."""
        return context if isinstance(context, bytes) else self.schema.encode(context)

    def variables(self, context: EncodedContext) -> Matrix:
        """Return the variables of a checked context."""
        return np.frombuffer(self.encoded(context), dtype=np.uint8)

    def matrix(self, contexts: Sequence[EncodedContext]) -> Matrix:
        """Return the variables of checked contexts, one row each."""
        assert self.schema.encoder is not None
        codes = np.frombuffer(b"".join(map(self.encoded, contexts)), dtype=np.uint8)
        return codes.reshape(len(contexts), self.schema.encoder.n_variables)

    def _noted(self, contexts: Sequence[EncodedContext]) -> tuple[LearnedKinds, list[dict[str, Any]]]:
        """Return the kinds with what contexts of the warm-up tell, and these contexts, or refuse one with its row."""
        kinds, rows = self.kinds.copy(), []
        for row, context in enumerate(contexts):
            assert isinstance(context, dict)
            rows.append(context)
            try:
                if not self._declared:
                    kinds.note(context)
            except FeatureError as error:
                raise error.at(row=row) from None
        return kinds, rows

    def _fitted(self, kinds: LearnedKinds, contexts: list[dict[str, Any]]) -> Schema:
        features = self.schema.features if self._declared else kinds.features(ordered=self._ordered)
        return Schema.fit(features, contexts, never_seen=kinds.never_seen)

    def _adopt(self, schema: Schema) -> None:
        assert schema.encoder is not None
        self.schema = schema
        self.policy = self._make_policy(schema.encoder, different_names(schema.encoder.variable_names))

    def _fit_if_due(self) -> None:
        if len(self.warm_up_contexts) >= self._warm_up_events:
            self.fit(self.warm_up_contexts)

    def _warm_up_context(self, context: EncodedContext) -> dict[str, Any]:
        assert isinstance(context, dict)
        if not self._declared:  # what the last lessons have told may contradict it
            self.kinds.note(context)
        return context


def different_names(names: Sequence[str]) -> list[str]:
    """Return names that are all different: one that was there before is numbered.

    A value that is learned may make the name of a variable that another feature has.

    Examples
    --------
    >>> different_names(["a = x", "a = y", "a = x", "a = x (2)"])
    ['a = x', 'a = y', 'a = x (3)', 'a = x (2)']
    """
    taken = set(names)
    given: dict[str, None] = {}
    for name in names:
        numbered = (f"{name} ({number})" for number in count(2))
        new = name if name not in given else next(other for other in numbered if other not in taken)
        taken.add(new)
        given[new] = None
    return list(given)
