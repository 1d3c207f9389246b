"""Every check passes a healthy policy and finds the one that breaks what it looks at."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bandit_forest.baselines import LinUCB
from bandit_forest.checks import CheckFailedError, Subject, all_checks, cases, check_policy
from bandit_forest.errors import InvalidArgumentError
from bandit_forest.policy import CheckedPolicy, Decision
from bandit_forest.randomness import DECISION, draw
from bandit_forest.validation import check_available, check_context

EXPLORED = 0.2


class Healthy(CheckedPolicy):
    """Epsilon-greedy on the first variable: small, and right in every respect."""

    def __init__(self, *, n_variables: int, n_actions: int, seed: int) -> None:
        super().__init__(n_variables=n_variables, n_actions=n_actions)
        self.seed = seed
        self.n_decisions = 0
        self.counts = [[0] * n_actions for _ in range(2)]
        self.sums = [[0.0] * n_actions for _ in range(2)]

    def propensities(self, context, *, available_actions=None):
        bits = check_context(context, "Healthy.propensities", self.n_variables)
        available = check_available(available_actions, "Healthy.propensities", self.n_actions)
        told = self.distribution(bits, available)
        return np.array([told.get(action, 0.0) for action in range(self.n_actions)])

    def distribution(self, context, available):
        """Return the propensity of each usable action."""
        usable = [action for action in range(self.n_actions) if available is None or available[action]]
        counts, sums = self.counts[context[0]], self.sums[context[0]]
        best = max(usable, key=lambda action: sums[action] / max(counts[action], 1))
        explored = EXPLORED / len(usable) if len(usable) > 1 else 0.0
        return {action: 1.0 - explored * (len(usable) - 1) if action == best else explored for action in usable}

    def draw(self):
        self.n_decisions += 1
        return draw(self.seed, DECISION, self.n_decisions)

    def _decide(self, context, available):
        rest = self.draw()
        told = self.distribution(context, available)
        for action, propensity in told.items():
            rest -= propensity
            if rest < 0:
                return Decision(action, propensity)
        return Decision(action, propensity)  # rounding left a little

    def _learn(self, context, action, reward, propensity):
        self.counts[context[0]][action] += 1
        self.sums[context[0]][action] += reward

    def save(self, path):
        state = {"counts": self.counts, "sums": self.sums, "n_decisions": self.n_decisions}
        sizes = {"n_variables": self.n_variables, "n_actions": self.n_actions, "seed": self.seed}
        Path(path).write_text(json.dumps({"sizes": sizes, "state": state}))

    @classmethod
    def load(cls, path):
        saved = json.loads(Path(path).read_text())
        policy = cls(**saved["sizes"])
        vars(policy).update(saved["state"])
        return policy


class IgnoresAvailable(Healthy):
    def _decide(self, context, available):
        return super()._decide(context, None)


class UncertainOfTheOnlyAction(Healthy):
    def _decide(self, context, available):
        action, propensity = super()._decide(context, available)
        return Decision(action, propensity * 0.999)


class NeedsALesson(Healthy):
    def _decide(self, context, available):
        if not any(map(any, self.counts)):
            raise RuntimeError("nothing is known yet")
        return super()._decide(context, available)


class GivesATuple(Healthy):
    def decide(self, context, *, available_actions=None):
        return tuple(super().decide(context, available_actions=available_actions))


class GivesFloatActions(Healthy):
    def decide_many(self, contexts, *, available_actions=None):
        decisions = super().decide_many(contexts, available_actions=available_actions)
        return decisions._replace(actions=decisions.actions.astype(float))


class EarnsWhatItDidNot(Healthy):
    def play(self, contexts, rewards):
        played = super().play(contexts, rewards)
        return played._replace(rewards=np.ones(len(played.rewards)))


class HasNoPlay(Healthy):
    play = None  # type: ignore[assignment]

    def __getattribute__(self, name):
        if name == "play":
            raise AttributeError(name)
        return super().__getattribute__(name)


class MisstatesItsSizes(Healthy):
    @property
    def n_variables(self):
        return super().n_variables + 1


class DrawsGlobally(Healthy):
    def draw(self):
        return np.random.random()  # noqa: NPY002 - this is what is wrong with it


class LooksAtTheSecondVariable(Healthy):
    def _learn(self, context, action, reward, propensity):
        super()._learn(context, action, reward * (1 - 0.1 * context[1]), propensity)


class HidesItsDraws(Healthy):
    def _decide(self, context, available):
        return Decision(super()._decide(context, available).action, 1.0)


class ClaimsUniformDraws(Healthy):
    def _decide(self, context, available):
        usable = self.n_actions if available is None else int(available.sum())
        return Decision(super()._decide(context, available).action, 1.0 / usable)


class TellsTooMuch(Healthy):
    def propensities(self, context, *, available_actions=None):
        return 1.1 * super().propensities(context, available_actions=available_actions)


class TellsSomethingElse(Healthy):
    def propensities(self, context, *, available_actions=None):
        return super().propensities(context, available_actions=available_actions)[::-1]


class CountsALookAsADecision(Healthy):
    def propensities(self, context, *, available_actions=None):
        self.n_decisions += 1
        return super().propensities(context, available_actions=available_actions)


class NeverLearns(Healthy):
    def _learn(self, context, action, reward, propensity):
        pass


class IgnoresContexts(Healthy):
    def _learn(self, context, action, reward, propensity):
        super()._learn(np.zeros(1, np.uint8), action, reward, propensity)
        super()._learn(np.ones(1, np.uint8), action, reward, propensity)


class Truncates(Healthy):
    def _learn(self, context, action, reward, propensity):
        super()._learn(context, action, int(reward), propensity)


class Rounds(Healthy):
    def _learn(self, context, action, reward, propensity):
        super()._learn(context, action, round(reward), propensity)


class CreditsTheLastDecision(Healthy):
    last = 0

    def _decide(self, context, available):
        decision = super()._decide(context, available)
        self.last = decision.action
        return decision

    def _learn(self, context, action, reward, propensity):
        super()._learn(context, self.last, reward, propensity)


class ExpectsRewardsInOrder(Healthy):
    def __init__(self, **sizes):
        super().__init__(**sizes)
        self.pending: list[Any] = []

    def _decide(self, context, available):
        decision = super()._decide(context, available)
        self.pending.append((context, decision.action))
        return decision

    def _learn(self, context, action, reward, propensity):
        context, action = self.pending.pop(0) if self.pending else (context, action)
        super()._learn(context, action, reward, propensity)


class LearnsItsOwnDecisionsOnly(Healthy):
    pending = 0

    def _decide(self, context, available):
        self.pending += 1
        return super()._decide(context, available)

    def _learn(self, context, action, reward, propensity):
        if self.pending:
            self.pending -= 1
            super()._learn(context, action, reward, propensity)


class DrawsOnceABatch(Healthy):
    def decide_many(self, contexts, *, available_actions=None):
        first = self.n_decisions
        decisions = []
        for context in contexts:
            self.n_decisions = first
            decisions.append(self.decide(context, available_actions=available_actions))
        decided = super().decide_many(contexts, available_actions=available_actions)
        return type(decided)(*(np.array(column) for column in zip(*decisions, strict=True)))


class ForgetsHowManyItDecided(Healthy):
    def decide_many(self, contexts, *, available_actions=None):
        before = self.n_decisions
        decisions = super().decide_many(contexts, available_actions=available_actions)
        self.n_decisions = before
        return decisions


class CountsEmptyBatches(Healthy):
    def decide_many(self, contexts, *, available_actions=None):
        self.n_decisions += len(contexts) == 0
        return super().decide_many(contexts, available_actions=available_actions)


class SkipsTheLastEvent(Healthy):
    def learn_many(self, contexts, actions, rewards, *, propensities):
        super().learn_many(contexts[:-1], actions[:-1], rewards[:-1], propensities=propensities[:-1])


class PlaysWithoutLearning(Healthy):
    def play(self, contexts, rewards):
        counts, sums = deepcopy(self.counts), deepcopy(self.sums)
        played = super().play(contexts, rewards)
        self.counts, self.sums = counts, sums
        return played


class TakesArraysOnly(Healthy):
    def decide_many(self, contexts, *, available_actions=None):
        return super().decide_many(contexts.astype(np.uint8), available_actions=available_actions)


class ReadsWordsAsRows(Healthy):
    def learn_many(self, contexts, actions, rewards, *, propensities):
        if getattr(contexts, "dtype", None) == np.uint64:
            contexts = np.zeros((len(contexts), self.n_variables), np.uint8)
        super().learn_many(contexts, actions, rewards, propensities=propensities)


class ReadsMemoryInItsOrder(Healthy):
    def learn_many(self, contexts, actions, rewards, *, propensities):
        if isinstance(contexts, np.ndarray):
            contexts = contexts.ravel(order="K").reshape(contexts.shape)
        super().learn_many(contexts, actions, rewards, propensities=propensities)


class WritesIntoContexts(Healthy):
    def _decide(self, context, available):
        decision = super()._decide(context, available)
        if context.flags.writeable:
            context[-1] = 1
        return decision


class KeepsTheContext(Healthy):
    """Learns an event when the next one comes, from the array that it was given."""

    late: Any = None

    def _learn(self, context, action, reward, propensity):
        if self.late is not None:
            super()._learn(*self.late)
        self.late = (context, action, reward, propensity)


class IsItsOwnCopy(Healthy):
    def __deepcopy__(self, memo):
        return self


class SharesWithItsCopy(Healthy):
    def __deepcopy__(self, memo):
        twin = type(self)(n_variables=self.n_variables, n_actions=self.n_actions, seed=self.seed)
        twin.n_decisions, twin.counts, twin.sums = self.n_decisions, self.counts, self.sums
        return twin


class RemembersEveryEvent(Healthy):
    def __init__(self, **sizes):
        super().__init__(**sizes)
        self.history: list[bytes] = []

    def _learn(self, context, action, reward, propensity):
        super()._learn(context, action, reward, propensity)
        self.history.append(context.tobytes())


class WaitsForEveryReward(Healthy):
    def __init__(self, **sizes):
        super().__init__(**sizes)
        self.pending: set[int] = set()

    def _decide(self, context, available):
        self.pending.add(self.n_decisions)
        return super()._decide(context, available)


class GrowsInTheCore(Healthy):
    @property
    def n_bytes(self):
        return sum(map(sum, self.counts))


class SavesItsWholeLife(Healthy):
    def save(self, path):
        super().save(path)
        Path(path).write_text(Path(path).read_text() + " " * sum(map(sum, self.counts)))


class ForgetsItsNumber(Healthy):
    @classmethod
    def load(cls, path):
        policy = super().load(path)
        policy.n_decisions = 0
        return policy


class ForgetsWhatItLearned(Healthy):
    @classmethod
    def load(cls, path):
        policy = super().load(path)
        policy.sums = [[0.0] * policy.n_actions for _ in range(2)]
        return policy


class LoadsAnotherClass(Healthy):
    @classmethod
    def load(cls, path):
        return Healthy.load(path)


class DecidesBeforeItLooks(Healthy):
    def decide(self, context, *, available_actions=None):
        self.n_decisions += 1
        return super().decide(context, available_actions=available_actions)


class LearnsUntilTheBadEvent(Healthy):
    def learn_many(self, contexts, actions, rewards, *, propensities):
        if np.ndim(contexts) == 2 and np.ndim(rewards) == np.ndim(actions) == np.ndim(propensities) == 1:
            for event in zip(contexts, actions, rewards, propensities, strict=True):
                self.learn(*event[:3], propensity=event[3])
        super().learn_many(contexts, actions, rewards, propensities=propensities)


class TakesAnyReward(Healthy):
    def learn(self, context, action, reward, *, propensity):
        super().learn(context, action, min(max(reward, 0.0), 1.0), propensity=propensity)


class RefusesInItsOwnWords(Healthy):
    def decide(self, context, *, available_actions=None):
        try:
            return super().decide(context, available_actions=available_actions)
        except InvalidArgumentError as error:
            raise InvalidArgumentError("this will not do") from error


class RefusesWithAnotherError(Healthy):
    def decide(self, context, *, available_actions=None):
        try:
            return super().decide(context, available_actions=available_actions)
        except InvalidArgumentError as error:
            raise TypeError(str(error)) from error


class TakesAnySize(Healthy):
    def __init__(self, *, n_variables, n_actions, seed):
        usable = isinstance(n_actions, int) and n_actions > 0
        super().__init__(n_variables=n_variables, n_actions=n_actions if usable else 2, seed=seed)


BROKEN: dict[str, tuple[type[Healthy], ...]] = {
    "available_actions_are_respected": (IgnoresAvailable, UncertainOfTheOnlyAction),
    "decides_before_any_learn": (NeedsALesson, GivesATuple),
    "follows_the_protocol": (GivesATuple, GivesFloatActions, EarnsWhatItDidNot, HasNoPlay, MisstatesItsSizes),
    "same_seed_same_decisions": (DrawsGlobally,),
    "works_with_one_variable_and_two_actions": (LooksAtTheSecondVariable,),
    "certain_decisions_do_not_depend_on_the_seed": (HidesItsDraws,),
    "frequencies_agree_with_propensities": (ClaimsUniformDraws,),
    "propensities_sum_to_one": (TellsTooMuch, TellsSomethingElse, CountsALookAsADecision),
    "beats_uniform_on_an_easy_stream": (NeverLearns, IgnoresContexts),
    "learns_from_fractional_rewards": (Truncates, Rounds),
    "learns_from_late_lost_and_reordered_rewards": (ExpectsRewardsInOrder,),
    "learns_without_decide": (LearnsItsOwnDecisionsOnly, CreditsTheLastDecision),
    "decide_many_equals_decide": (DrawsOnceABatch, ForgetsHowManyItDecided),
    "empty_batches_change_nothing": (CountsEmptyBatches,),
    "learn_many_equals_learn": (SkipsTheLastEvent,),
    "play_equals_decide_and_learn": (PlaysWithoutLearning, EarnsWhatItDidNot),
    "accepts_every_form_of_contexts": (TakesArraysOnly, ReadsWordsAsRows),
    "accepts_strided_input": (ReadsMemoryInItsOrder,),
    "input_is_left_alone": (WritesIntoContexts,),
    "input_is_not_kept": (KeepsTheContext,),
    "copy_is_independent": (IsItsOwnCopy, SharesWithItsCopy),
    "memory_is_bounded": (RemembersEveryEvent, WaitsForEveryReward, GrowsInTheCore, SavesItsWholeLife),
    "save_and_load_continues": (ForgetsItsNumber, ForgetsWhatItLearned, LoadsAnotherClass),
    "bad_arguments_are_refused": (
        *(DecidesBeforeItLooks, LearnsUntilTheBadEvent, TakesAnyReward, RefusesInItsOwnWords, RefusesWithAnotherError),
    ),
    "bad_sizes_are_refused": (TakesAnySize,),
}
CHECKS = {check.name: check for check in all_checks()}


def subject(policy: type[Healthy], **flags: bool) -> Subject:
    return Subject(make=policy, name=policy.__name__, n_events=1000, **flags)


@pytest.mark.parametrize(
    ("healthy", "check"), [pytest.param(*case[1:], id=case[0]) for case in cases(subject(Healthy))]
)
def test_a_healthy_policy_passes(healthy, check):
    check(healthy)


@pytest.mark.parametrize(
    ("name", "broken"),
    [pytest.param(name, broken, id=f"{broken.__name__}:{name}") for name, all in BROKEN.items() for broken in all],
)
def test_a_broken_policy_fails(name, broken):
    with pytest.raises(CheckFailedError, match=rf"^{broken.__name__}:{name}: ."):
        CHECKS[name](subject(broken))


def test_every_check_is_seen_to_fail():
    assert set(BROKEN) == set(CHECKS)


def test_check_policy_tells_all_that_is_wrong():
    with pytest.raises(CheckFailedError) as raised:
        check_policy(NeverLearns, n_events=400)
    failed = {line.split(": ")[0] for line in str(raised.value).splitlines()}
    assert failed == {
        "NeverLearns:beats_uniform_on_an_easy_stream",
        "NeverLearns:learns_from_fractional_rewards",
        "NeverLearns:learns_from_late_lost_and_reordered_rewards",
        "NeverLearns:learns_without_decide",
    }


def test_check_policy_asks_no_more_than_it_is_told_to():
    check_policy(NeverLearns, name="quiet", learns=False, n_events=400)


@pytest.mark.parametrize("name", [name for name in CHECKS if "learn" in name or "beats" in name])
def test_a_policy_without_contexts_is_asked_to_learn_the_best_action(name):
    CHECKS[name](subject(IgnoresContexts, uses_contexts=False))


def test_a_policy_without_contexts_can_fail_too():
    with pytest.raises(CheckFailedError, match="NeverLearns:beats_uniform"):
        CHECKS["beats_uniform_on_an_easy_stream"](subject(NeverLearns, uses_contexts=False))


def test_a_failure_says_what_happened():
    with pytest.raises(CheckFailedError, match=r"a fresh policy took \[0, 1, 2, 3\] when \[2, 0\] were available"):
        CHECKS["available_actions_are_respected"](subject(IgnoresAvailable))


def test_an_exception_of_the_policy_is_told_and_kept():
    with pytest.raises(CheckFailedError, match="RuntimeError: nothing is known yet") as raised:
        CHECKS["decides_before_any_learn"](subject(NeedsALesson))
    assert isinstance(raised.value.__cause__, RuntimeError)


def test_what_is_no_policy_is_told_by_the_names_that_it_lacks():
    class Half:
        def __init__(self, *, n_variables, n_actions, seed):
            self.n_variables, self.n_actions = n_variables, n_actions

        def decide(self, context, *, available_actions=None): ...

    with pytest.raises(
        CheckFailedError, match="Half lacks learn, decide_many, learn_many, play, which every"
    ) as raised:
        check_policy(Half)
    assert "\n" not in str(raised.value)


def test_a_policy_without_a_seed_is_made_without_one():
    check_policy(LinUCB, n_events=400)
