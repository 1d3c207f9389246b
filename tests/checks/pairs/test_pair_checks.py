"""Every check of policies over pairs passes a healthy one and finds the one that breaks what it looks at."""

from __future__ import annotations

import numpy as np
import pytest

from bandit_forest.checks import CheckFailedError, PairSubject, all_checks, all_pair_checks, cases, check_pair_policy
from bandit_forest.errors import InvalidArgumentError, refuse
from bandit_forest.forest.pairs import Ranking
from bandit_forest.policy import Decision
from bandit_forest.randomness import DECISION, KEY, draw
from bandit_forest.validation import check_codes, check_int, check_propensity, check_reward, key_number

EXPLORED = 0.2
MOST_NAMES = 16


class Healthy:
    """Epsilon-greedy on whether the first variables are equal, and on names: small, and right in every respect."""

    def __init__(self, *, n_context_variables: int, n_action_variables: int, seed: int) -> None:
        self.sizes = (
            check_int(n_context_variables, "n_context_variables", "Healthy"),
            check_int(n_action_variables, "n_action_variables", "Healthy"),
        )
        self.seed, self.n_decisions = seed, 0
        self.matches = {True: [0, 0.0], False: [0, 0.0]}
        self.names: dict[object, list] = {}

    def means(self, context, actions, names):
        parts = [
            (self.matches[bool(action[0] == context[0])], self.names.get(name, (0, 0.0)))
            for action, name in zip(actions, names, strict=True)
        ]
        return [match[1] / (match[0] + 1) + name[1] / (name[0] + 1) for match, name in parts]

    def propensities(self, context, actions, *, names):
        means = self.means(context, actions, names)
        table = np.full(len(means), EXPLORED / len(means))
        table[np.isclose(means, max(means))] += (1 - EXPLORED) / np.isclose(means, max(means)).sum()
        return table / table.sum()

    def decide(self, context, actions, *, names, key=None):
        order, table = self.rank(context, actions, names=names, key=key)
        return Decision(int(order[0]), 1.0 if len(order) == 1 else float(table[order[0]]))

    def rank(self, context, actions, *, names, key=None):
        (context,) = check_codes(context, "context", "Healthy.decide", self.sizes[0], None, ndim=1)
        actions = check_codes(actions, "actions", "Healthy.decide", self.sizes[1], None, ndim=2)
        if not len(actions):
            refuse("actions", "Healthy.decide", "at least one row", actions)
        if len(names) != len(actions):
            refuse("names", "Healthy.decide", "one for each action", names)
        table = self.propensities(context, actions, names=names)
        first = min(int((table.cumsum() <= self.draw(key)).sum()), len(table) - 1)
        return Ranking(np.array([first, *(row for row in range(len(table)) if row != first)]), table)

    def draw(self, key):
        self.n_decisions += key is None
        purpose, number = (DECISION, self.n_decisions) if key is None else (KEY, key_number(key, "Healthy.decide"))
        return draw(self.seed, purpose, number)

    def learn(self, context, action, reward, *, propensity, name):
        (context,) = check_codes(context, "context", "Healthy.learn", self.sizes[0], None, ndim=1)
        (action,) = check_codes(action, "action", "Healthy.learn", self.sizes[1], None, ndim=1)
        check_propensity(propensity, "Healthy.learn")
        self._learn(context, action, check_reward(reward, "Healthy.learn"), name)

    def _learn(self, context, action, reward, name):
        for entry in (self.matches[bool(action[0] == context[0])], self.names.setdefault(name, [0, 0.0])):
            entry[0] += 1
            entry[1] += reward
        if len(self.names) > MOST_NAMES:
            del self.names[next(iter(self.names))]


class HasNoLearn(Healthy):
    learn = None  # type: ignore[assignment]

    def __getattribute__(self, name):
        if name == "learn":
            raise AttributeError(name)
        return super().__getattribute__(name)


class GivesATuple(Healthy):
    def decide(self, context, actions, *, names, key=None):
        return tuple(super().decide(context, actions, names=names, key=key))


class UncertainOfTheOnlyAction(Healthy):
    def decide(self, context, actions, *, names, key=None):
        action, propensity = super().decide(context, actions, names=names, key=key)
        return Decision(action, propensity * 0.999)


class NumbersKeyedDraws(Healthy):
    def draw(self, key):
        return super().draw(None)


class PrefersTheFirst(Healthy):
    def propensities(self, context, actions, *, names):
        table = super().propensities(context, actions, names=names)
        table[0] += 0.1
        return table / table.sum()


class RanksAnActionTwice(Healthy):
    def rank(self, context, actions, *, names, key=None):
        order, table = super().rank(context, actions, names=names, key=key)
        return Ranking(np.append(order[:-1], order[0]), table)


class RanksByPropensity(Healthy):
    def decide(self, context, actions, *, names, key=None):
        order, table = Healthy.rank(self, context, actions, names=names, key=key)
        return Decision(int(order[0]), 1.0 if len(order) == 1 else float(table[order[0]]))

    def rank(self, context, actions, *, names, key=None):
        table = super().rank(context, actions, names=names, key=key).propensities
        return Ranking(np.argsort(-table), table)


class KnowsNamesOnly(Healthy):
    def means(self, context, actions, names):
        return [total / (count + 1) for count, total in (self.names.get(name, (0, 0.0)) for name in names)]


class KnowsFeaturesOnly(Healthy):
    def _learn(self, context, action, reward, name):
        super()._learn(context, action, reward, None)


class TakesBytesOnly(Healthy):
    def learn(self, context, action, reward, *, propensity, name):
        super().learn(
            context, np.ascontiguousarray(action).view(np.uint8)[:3], reward, propensity=propensity, name=name
        )


class WritesIntoActions(Healthy):
    def decide(self, context, actions, *, names, key=None):
        decision = super().decide(context, actions, names=names, key=key)
        if isinstance(actions, np.ndarray) and actions.flags.writeable:
            actions[0, -1] = 1
        return decision


class KeepsTheAction(Healthy):
    """Learns an event when the next one comes, from the arrays that it was given."""

    late = None

    def learn(self, context, action, reward, *, propensity, name):
        if self.late is not None:
            super().learn(*self.late[:3], propensity=0.5, name=self.late[3])
        self.late = (context, action, reward, name)


class RemembersEveryName(Healthy):
    def __init__(self, **sizes):
        super().__init__(**sizes)
        self.seen: set[object] = set()

    def _learn(self, context, action, reward, name):
        super()._learn(context, action, reward, name)
        self.seen.add(name)


class DrawsBeforeItLooks(Healthy):
    def decide(self, context, actions, *, names, key=None):
        self.n_decisions += 1
        return super().decide(context, actions, names=names, key=key)


class TakesAnyReward(Healthy):
    def learn(self, context, action, reward, *, propensity, name):
        super().learn(context, action, min(max(reward, 0.0), 1.0), propensity=propensity, name=name)


class RefusesInItsOwnWords(Healthy):
    def decide(self, context, actions, *, names, key=None):
        try:
            return super().decide(context, actions, names=names, key=key)
        except InvalidArgumentError as error:
            raise InvalidArgumentError("this will not do") from error


class TakesAnySize(Healthy):
    def __init__(self, *, n_context_variables, n_action_variables, seed):
        usable = isinstance(n_action_variables, int) and n_action_variables > 0
        super().__init__(
            n_context_variables=n_context_variables, n_action_variables=n_action_variables if usable else 2, seed=seed
        )


class NeverLearns(Healthy):
    def _learn(self, context, action, reward, name):
        pass


OWN: dict[str, tuple[type[Healthy], ...]] = {
    "follows_the_protocol_of_pairs": (HasNoLearn, GivesATuple, UncertainOfTheOnlyAction),
    "keys_name_the_draws": (NumbersKeyedDraws,),
    "order_of_the_offer_does_not_matter": (PrefersTheFirst,),
    "rankings_begin_with_the_decision": (RanksAnActionTwice, RanksByPropensity),
    "knows_actions_by_their_names": (KnowsFeaturesOnly,),
    "new_actions_are_judged_by_their_features": (KnowsNamesOnly,),
    "accepts_every_form_of_features": (TakesBytesOnly,),
    "offers_are_left_alone": (WritesIntoActions,),
    "offers_are_not_kept": (KeepsTheAction,),
    "memory_is_bounded_although_actions_are_new": (RemembersEveryName,),
    "bad_offers_are_refused": (DrawsBeforeItLooks, TakesAnyReward, RefusesInItsOwnWords),
    "bad_sizes_of_pairs_are_refused": (TakesAnySize,),
}
OF_FIXED_ACTIONS: dict[str, tuple[type[Healthy], ...]] = {
    "beats_uniform_on_an_easy_stream": (NeverLearns,),
    "learns_without_decide": (NeverLearns,),
    "available_actions_are_respected": (UncertainOfTheOnlyAction,),
}
CHECKS = {check.name: check for check in all_pair_checks()}


def subject(policy: type[Healthy], **flags: bool) -> PairSubject:
    return PairSubject(make=policy, name=policy.__name__, n_events=1000, **flags)


@pytest.mark.parametrize(
    ("healthy", "check"), [pytest.param(*case[1:], id=case[0]) for case in cases(subject(Healthy))]
)
def test_a_healthy_policy_passes(healthy, check):
    check(healthy)


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        pytest.param(name, broken, id=f"{broken.__name__}:{name}")
        for name, all in (OWN | OF_FIXED_ACTIONS).items()
        for broken in all
    ],
)
def test_a_broken_policy_fails(name, broken):
    with pytest.raises(CheckFailedError, match=rf"^{broken.__name__}:{name}: ."):
        CHECKS[name](subject(broken))


def test_every_check_is_seen_to_fail():
    """Those that are not here are checks of fixed actions, which are seen to fail among these."""
    assert set(OWN) == set(CHECKS) - {check.name for check in all_checks()}
    assert len(CHECKS) == len(all_pair_checks())


def test_check_pair_policy_asks_no_more_than_it_is_told_to():
    check_pair_policy(NeverLearns, name="quiet", learns=False, n_events=400)
    check_pair_policy(KnowsFeaturesOnly, knows_names=False, n_events=400, learns=False)
    check_pair_policy(RemembersEveryName, is_bounded=False, n_events=400)


def test_check_pair_policy_tells_all_that_is_wrong():
    with pytest.raises(CheckFailedError) as raised:
        check_pair_policy(NeverLearns, n_events=400)
    failed = {line.split(": ")[0] for line in str(raised.value).splitlines()}
    learning = {"knows_actions_by_their_names", "new_actions_are_judged_by_their_features"}
    learning |= {name for name in CHECKS if name.startswith(("learns_", "beats_"))}
    assert failed == {f"NeverLearns:{name}" for name in learning}
    with pytest.raises(InvalidArgumentError, match="'make' of check_pair_policy"):
        check_pair_policy(None)
