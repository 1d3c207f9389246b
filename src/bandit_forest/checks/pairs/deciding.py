"""Checks of decisions among offered actions: their form, their draws, rankings."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np

from bandit_forest.checks.comparing import require_same_decisions
from bandit_forest.checks.deciding import require_decision
from bandit_forest.checks.pairs.events import Event, decide_all, events, trained
from bandit_forest.checks.pairs.subject import PairPolicy, PairSubject
from bandit_forest.checks.subject import require
from bandit_forest.policy import Decisions

__all__ = [
    "follows_the_protocol_of_pairs",
    "keys_name_the_draws",
    "order_of_the_offer_does_not_matter",
    "rankings_begin_with_the_decision",
]


def follows_the_protocol_of_pairs(subject: PairSubject) -> None:
    """Require `decide` and `learn`, and a decision that is a row of the offer, of whatever length."""
    policy = subject.fresh()
    require(isinstance(policy, PairPolicy), f"{type(policy).__name__} lacks a method of PairPolicy")
    for number, (context, actions, names, rewards) in enumerate(events(30)):
        offered = 1 + number % len(actions)
        decision = policy.decide(context, actions[:offered], names=names[:offered])
        require_decision(decision, offered)
        require(offered > 1 or decision.propensity == 1.0, "the only offered action was not taken with propensity 1")
        policy.learn(context, actions[0], float(rewards[0]), propensity=0.5, name=names[0])


def keys_name_the_draws(subject: PairSubject) -> None:
    """Require of a policy whose `decide` takes a key that the same key draws the same action at any time."""
    policy = trained(subject)
    if not takes_keys(policy):
        return
    stream = list(events(50, seed=5))
    first = _decide_by_key(policy, stream)
    decide_all(policy, iter(stream))
    require_same_decisions(first, _decide_by_key(policy, stream), "a key draws another action when it comes again")
    if hasattr(policy, "decide_many"):
        contexts, actions = (np.array([event[part] for event in stream]) for part in (0, 1))
        names = [name for event in stream for name in event.names]
        n_offered = [len(event.actions) for event in stream]
        keys = [str(number) for number in range(len(stream))]
        many = policy.decide_many(contexts, np.concatenate(actions), n_offered=n_offered, names=names, keys=keys)
        require_same_decisions(first, many, "decide_many draws by keys otherwise than decide")


def order_of_the_offer_does_not_matter(subject: PairSubject) -> None:
    """Require of a policy that tells propensities that an action has the same one wherever it stands in the offer."""
    policy: Any = trained(subject)
    if not hasattr(policy, "propensities"):
        return
    for context, actions, names, _ in events(50, seed=5):
        told = policy.propensities(context, actions, names=names)
        turned = policy.propensities(context, actions[::-1], names=names[::-1])
        same = np.allclose(told, turned[::-1], rtol=1e-9, atol=0.0)
        require(same, f"propensities {told} are {turned} when the same actions are offered in the opposite order")


def rankings_begin_with_the_decision(subject: PairSubject) -> None:
    """Require of a policy that ranks that it ranks each action once, and first what `decide` would draw."""
    policy: Any = trained(subject)
    if not hasattr(policy, "rank"):
        return
    for context, actions, names, _ in events(50, seed=5):
        twin: Any = copy.deepcopy(policy)
        order, propensities = policy.rank(context, actions, names=names)
        require(sorted(order) == list(range(len(actions))), f"a ranking {order} has not each of {len(actions)} actions")
        action, propensity = twin.decide(context, actions, names=names)
        require(order[0] == action, f"a ranking begins with action {order[0]} where decide draws {action}")
        close = np.isclose(propensities[action], propensity, rtol=1e-9) and np.isclose(sum(propensities), 1.0)
        require(close, f"a ranking has propensities {propensities} where decide has {propensity} for action {action}")


def takes_keys(policy: PairPolicy) -> bool:
    """Return whether `decide` takes a key that names the draw."""
    return "key" in inspect.signature(policy.decide).parameters


def _decide_by_key(policy: Any, stream: list[Event]) -> Decisions:
    decisions = [
        policy.decide(event.context, event.actions, names=event.names, key=str(number))
        for number, event in enumerate(stream)
    ]
    return Decisions(*(np.array(column) for column in zip(*decisions, strict=True)))
