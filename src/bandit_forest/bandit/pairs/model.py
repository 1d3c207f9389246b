"""The model: the features of both sides and a forest. Until the features are learned, decisions are uniform."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.features.kinds import Feature
from bandit_forest.bandit.forests import forest_arguments
from bandit_forest.bandit.model import different_names
from bandit_forest.bandit.pairs.decisions import Read
from bandit_forest.bandit.pairs.offer import Offer
from bandit_forest.bandit.pairs.side import Side
from bandit_forest.errors import InvalidArgumentError
from bandit_forest.forest.pairs import PairForest
from bandit_forest.forest.rule_codec import rule_to_json, rules_to_json
from bandit_forest.randomness import DECISION, KEY, draw, mix
from bandit_forest.validation import key_number

__all__ = ["ID", "PairLesson", "PairModel"]

ID = "id"
"""The key under which an action has its id."""
Codes = NDArray[np.uint8]
Key = int | str | bytes


class PairLesson(NamedTuple):
    """What is learned from: a context, the action taken, its id, its reward in [0, 1] and its propensity."""

    context: Read
    features: Read
    action: str | int
    reward: float
    propensity: float


class PairModel:
    """Decide and learn from the first event on; everything is a function of the lessons in their order.

    Parameters
    ----------
    context_features, action_features
        Declared features of both sides; None where they are learned.
    warm_up_events
        Number of lessons from which features are learned.
    forest
        Parameters of the forest, as JSON can hold them.
    """

    def __init__(
        self,
        *,
        context_features: Mapping[str, Feature] | None,
        action_features: Mapping[str, Feature] | None,
        warm_up_events: int,
        forest: Mapping[str, Any],
    ) -> None:
        self.context, self.action = Side("context", context_features), Side("action", action_features, ignored=ID)
        self.warm_up_events = warm_up_events
        self.parameters = _all_parameters(forest)
        self.forest: PairForest | None = None
        self.lessons: list[PairLesson] = []
        self.n_draws = 0
        if not self.context.is_open and not self.action.is_open:
            self.fit([], [])

    @property
    def version(self) -> int:
        """The number of lessons learned."""
        return len(self.lessons) if self.forest is None else self.forest.n_events

    @property
    def warm_up_left(self) -> int:
        """Number of lessons still to come before the forest is made."""
        return 0 if self.forest is not None else self.warm_up_events - len(self.lessons)

    def known_forest(self, owner: str) -> PairForest:
        """Return the forest, or refuse while there is none."""
        if self.forest is None:
            raise InvalidArgumentError(f"{owner} must wait for {self.warm_up_left} more lessons: features are learned.")
        return self.forest

    def encoded(self, offer: Offer) -> Offer:
        """Return an event as it is to be remembered now: the features of an earlier one may have been learned since."""
        if self.forest is None:
            return offer
        actions: list[Read] = [self.action.encode(action) for action in offer.actions]
        return offer._replace(context=self.context.encode(offer.context), actions=actions)

    def decide(self, offer: Offer, key: Key | None) -> tuple[int, float]:
        """Draw one of the offered actions."""
        if self.forest is not None:
            return self.forest.decide(*self._codes(offer), names=offer.names, key=key)
        place = self._draw(*self._address(key), turn=0)
        return int(len(offer.ids) * place), 1.0 / len(offer.ids)

    def rank(self, offer: Offer, key: Key | None) -> tuple[list[int], list[float]]:
        """Order the offered actions; the propensities are those of the first rank."""
        if self.forest is not None:
            ranking = self.forest.rank(*self._codes(offer), names=offer.names, key=key)
            return ranking.order.tolist(), ranking.propensities.tolist()
        purpose, number = self._address(key)
        left = list(range(len(offer.ids)))
        order = [left.pop(int(len(left) * self._draw(purpose, number, turn=turn))) for turn in range(len(left))]
        return order, self.propensities(offer)

    def propensities(self, offer: Offer) -> list[float]:
        """Return the probability of each offered action."""
        if self.forest is None:
            return [1.0 / len(offer.ids)] * len(offer.ids)
        shares: list[float] = self.forest.propensities(*self._codes(offer), names=offer.names).tolist()
        return shares

    def mean_rewards(self, offer: Offer) -> list[float] | list[None]:
        """Return the estimated mean reward of each offered action, in [0, 1]; None while nothing is known."""
        if self.forest is None:
            return [None] * len(offer.ids)
        means: list[float] = self.forest.mean_rewards(*self._codes(offer), names=offer.names).tolist()
        return means

    def learn(self, lesson: PairLesson) -> None:
        """Learn one lesson."""
        self.learn_many([lesson])

    def learn_many(self, lessons: Sequence[PairLesson]) -> None:
        """Learn lessons in their order; while the features are learned they wait."""
        if self.forest is not None:
            self._learn(lessons)
            return
        for number, lesson in enumerate(lessons):
            self.action.check_kinds(lesson.features)  # before anything is noted
            self.context.note(lesson.context)
            self.action.note(lesson.features)
            self.lessons.append(lesson)
            if len(self.lessons) >= self.warm_up_events:
                contexts = [waiting.context for waiting in self.lessons]
                self.fit(contexts, [waiting.features for waiting in self.lessons])
                self.learn_many(lessons[number + 1 :])
                return

    def checked(self, lessons: Sequence[PairLesson]) -> list[PairLesson]:
        """Return lessons that can be learned in this order, or refuse one with its number; nothing changes."""
        n_first = min(len(lessons), self.warm_up_left)
        contexts = self.context.checked(
            [lesson.context for lesson in lessons],
            n_first=n_first,
            waiting=[lesson.context for lesson in self.lessons],
        )
        features = self.action.checked(
            [lesson.features for lesson in lessons],
            n_first=n_first,
            waiting=[lesson.features for lesson in self.lessons],
        )
        return [
            lesson._replace(context=context, features=action)
            for lesson, context, action in zip(lessons, contexts, features, strict=True)
        ]

    def fit(self, contexts: Sequence[Read], actions: Sequence[Read]) -> None:
        """Learn the features from checked rows, make the forest, and learn the lessons that have waited."""
        self.context.fit(contexts)
        self.action.fit(actions)
        self.forest = self._make_forest()
        lessons, self.lessons = self.lessons, []
        self._learn(lessons)

    def restore(self, header: Mapping[str, Any], arrays: bytes, name: str) -> None:
        """Take over the forest of a file, after the sides were restored."""
        self.forest = PairForest.from_parts(dict(header), arrays, name=name)

    def _learn(self, lessons: Sequence[PairLesson]) -> None:
        if not lessons:
            return
        assert self.forest is not None
        self.forest.learn_many(
            _matrix([self.context.encode(lesson.context) for lesson in lessons]),
            _matrix([self.action.encode(lesson.features) for lesson in lessons]),
            [lesson.reward for lesson in lessons],
            propensities=[lesson.propensity for lesson in lessons],
            names=[lesson.action for lesson in lessons],
        )

    def _make_forest(self) -> PairForest:
        encoders = [self.context.schema.encoder, self.action.schema.encoder]
        assert encoders[0] is not None
        assert encoders[1] is not None
        n_context = encoders[0].n_variables
        behind = {n_context + variable: numbers for variable, numbers in encoders[1].thresholds.items()}
        return PairForest(
            n_context_variables=n_context,
            n_action_variables=encoders[1].n_variables,
            thresholds=encoders[0].thresholds | behind,
            variable_names=different_names([*encoders[0].variable_names, *encoders[1].variable_names]),
            **forest_arguments(self.parameters),
        )

    def _codes(self, offer: Offer) -> tuple[Codes, Codes]:
        context = np.frombuffer(self.context.encode(offer.context), dtype=np.uint8)
        return context, _matrix([self.action.encode(action) for action in offer.actions])

    def _address(self, key: Key | None) -> tuple[int, int]:
        """Return purpose and number of a draw while the features are learned."""
        if key is not None:
            return KEY, key_number(key, "PairBandit.decide")
        self.n_draws += 1
        return DECISION, self.n_draws - 1

    def _draw(self, purpose: int, number: int, *, turn: int) -> float:
        seed = self.parameters["seed"]
        return draw(seed if turn == 0 else mix(seed, turn), purpose, number)


def _matrix(rows: Sequence[bytes]) -> Codes:
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), -1)


def _all_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters of a forest as JSON has them; refuse those that no forest over pairs has."""
    try:
        whole = forest_arguments({name: _whole_rule(name, value) for name, value in given.items()})
        forest = PairForest(n_context_variables=1, n_action_variables=1, **whole)
    except TypeError as error:  # an unknown parameter
        known = "n_trees, max_depth, variable_share, max_nodes, n_names, n_named_actions, seed, growth and exploration"
        raise InvalidArgumentError(f"The parameters of the forest must be among {known}: {error}.") from None
    own = ("n_context_variables", "n_action_variables", "thresholds")  # these come from the features
    return rules_to_json({name: value for name, value in forest.parameters.items() if name not in own})


def _whole_rule(name: str, value: Any) -> Any:
    """Return a parameter of the forest; a table of a rule has the rest of the forest's own rule."""
    if not isinstance(value, Mapping) or name not in ("growth", "exploration"):
        return value
    own = rule_to_json(inspect.signature(PairForest).parameters[name].default)
    return {**own, **value} if value.get("rule", own["rule"]) == own["rule"] else value
