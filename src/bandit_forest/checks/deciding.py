"""Checks of decisions: their form, their repeatability, the actions they may take."""

from __future__ import annotations

import numpy as np

from bandit_forest.checks.comparing import require_same_decisions
from bandit_forest.checks.streams import decide_one_by_one, play_one_by_one, stream, trained
from bandit_forest.checks.subject import Subject, require
from bandit_forest.policy import Decision, Decisions, Played, missing_names

__all__ = [
    "available_actions_are_respected",
    "decides_before_any_learn",
    "follows_the_protocol",
    "same_seed_same_decisions",
    "works_with_one_variable_and_two_actions",
]


def follows_the_protocol(subject: Subject) -> None:
    """Require the methods and sizes of the protocol, and of each method its one type."""
    policy = subject.fresh(n_variables=5, n_actions=3)
    missing = ", ".join(missing_names(policy))
    require(not missing, f"{type(policy).__name__} lacks {missing}, which every Policy has: subclass CheckedPolicy")
    require((policy.n_variables, policy.n_actions) == (5, 3), "it has not the sizes that it was made with")
    events = stream(20)
    require_decision(policy.decide(events.contexts[0]), policy.n_actions)
    policy.learn(events.contexts[0], 0, 1.0, propensity=0.5)
    _require_decisions(policy.decide_many(events.contexts), Decisions, 20, policy.n_actions)
    played = policy.play(*events)
    _require_decisions(played, Played, 20, policy.n_actions)
    earned = events.rewards[np.arange(20), played.actions]
    require(np.array_equal(played.rewards, earned), "play gives back other rewards than those of its actions")


def same_seed_same_decisions(subject: Subject) -> None:
    """Require two policies of one seed to decide alike, whatever else draws random numbers meanwhile."""
    first, second = subject.fresh(seed=3), subject.fresh(seed=3)
    events = stream(300)
    required = play_one_by_one(first, events)
    np.random.random(10)  # noqa: NPY002 - the global generator is what a policy must not depend on
    require_same_decisions(required, play_one_by_one(second, events), "two policies of one seed differ")


def decides_before_any_learn(subject: Subject) -> None:
    """Require decisions before anything was learned."""
    policy = subject.fresh()
    for context in stream(50).contexts:
        require_decision(policy.decide(context), policy.n_actions)


def works_with_one_variable_and_two_actions(subject: Subject) -> None:
    """Require the smallest sizes to work like any other."""
    policy = subject.fresh(n_variables=1, n_actions=2)
    events = stream(100, n_variables=1, n_actions=2)
    play_one_by_one(policy, events)
    _require_decisions(policy.play(*events), Played, 100, 2)
    require_decision(policy.decide([1]), 2)


def available_actions_are_respected(subject: Subject) -> None:
    """Require that only available actions are taken, whatever was learned, and a single one for certain."""
    for policy, state in ((subject.fresh(n_actions=4), "fresh"), (trained(subject, n_actions=4), "trained")):
        for available in ([0, 1, 2, 3], [2, 0], [1, 3], [3], [0]):
            contexts = stream(25, n_actions=4).contexts
            many = policy.decide_many(contexts, available_actions=available)
            for decisions in (decide_one_by_one(policy, contexts, available), many):
                taken = sorted(set(decisions.actions.tolist()))
                require(set(taken) <= set(available), f"a {state} policy took {taken} when {available} were available")
                certain = len(available) > 1 or bool((decisions.propensities == 1.0).all())
                require(certain, f"the only available action {available} was not taken with propensity 1")


def require_decision(decision: Decision, n_actions: int) -> None:
    """Require a `Decision` for one of the actions, with a probability."""
    require(isinstance(decision, Decision), f"decide gives {decision!r}, not a Decision")
    action, propensity = decision
    require(isinstance(action, int) and 0 <= action < n_actions, f"decide takes action {action!r} of {n_actions}")
    require(isinstance(propensity, float) and 0.0 < propensity <= 1.0, f"decide has propensity {propensity!r}")


def _require_decisions(
    decisions: Decisions | Played, kind: type[Decisions] | type[Played], n_events: int, n_actions: int
) -> None:
    name = kind.__name__
    require(isinstance(decisions, kind), f"got {type(decisions).__name__}, not {name}")
    actions, propensities = decisions.actions, decisions.propensities
    require(actions.shape == (n_events,) and actions.dtype == np.int64, f"{name}.actions are not {n_events} int64")
    require(propensities.shape == (n_events,), f"{name}.propensities are not {n_events} numbers")
    require(((actions >= 0) & (actions < n_actions)).all(), f"{name} takes unknown actions")
    require(((propensities > 0) & (propensities <= 1)).all(), f"{name}.propensities are not all in (0, 1]")
