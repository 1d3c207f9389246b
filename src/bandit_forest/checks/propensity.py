"""Checks of propensities: a policy must know with which probability it took an action."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bandit_forest.checks.comparing import require_same_decisions
from bandit_forest.checks.streams import decide_one_by_one, stream, trained
from bandit_forest.checks.subject import Subject, require
from bandit_forest.policy import Decisions

__all__ = [
    "certain_decisions_do_not_depend_on_the_seed",
    "frequencies_agree_with_propensities",
    "propensities_sum_to_one",
]

_SIGMAS = 6.0


def propensities_sum_to_one(subject: Subject) -> None:
    """Require propensities that sum to one, and from which `decide` draws, of a policy that tells those of all actions.

    Looking at them must not change what is decided.
    """
    policy, untouched = trained(subject), trained(subject)
    if not hasattr(policy, "propensities"):
        return
    contexts = stream(50, seed=5).contexts
    for available in (None, [0, 2]):
        decided = []
        for context in contexts:
            told = np.asarray(policy.propensities(context, available_actions=available))
            _require_distribution(told, policy.n_actions, available)
            decision = policy.decide(context, available_actions=available)
            close = math.isclose(told[decision.action], decision.propensity, rel_tol=1e-9)
            require(close, f"propensities tell {told} but decide drew {decision}")
            decided.append(decision)
        seen = Decisions(*(np.array(column) for column in zip(*decided, strict=True)))
        quiet = decide_one_by_one(untouched, contexts, available)
        require_same_decisions(seen, quiet, "looking at the propensities changes the decisions")


def frequencies_agree_with_propensities(subject: Subject) -> None:
    """Require actions to be as frequent as their propensities say, among decisions on one context without learning.

    A decision of propensity p < 1 stands for 1 / p decisions, so the weights of each action must sum to the number of
    decisions, up to six standard deviations.
    """
    for policy in (subject.fresh(), trained(subject)):
        for context in np.array([[0] * 5, [1] * 5], dtype=np.uint8):
            decisions = policy.decide_many(np.tile(context, (2000, 1)))
            for action in np.unique(decisions.actions).tolist():
                _require_frequency(action, decisions.propensities[decisions.actions == action], 2000)


def certain_decisions_do_not_depend_on_the_seed(subject: Subject) -> None:
    """Require decisions of propensity 1 to be constant, or the same for every seed, of policies that know nothing yet.

    Otherwise they draw, and their propensities do not tell.
    """
    contexts = np.zeros((60, 5), dtype=np.uint8)
    runs = [subject.fresh(seed=seed).decide_many(contexts) for seed in range(4)]
    if any((run.propensities < 1.0).any() for run in runs):
        return
    constant = all(len(set(run.actions.tolist())) == 1 for run in runs)
    equal = all(np.array_equal(run.actions, runs[0].actions) for run in runs)
    require(constant or equal, "decisions vary with the seed, and yet all have propensity 1")


def _require_distribution(told: NDArray[np.float64], n_actions: int, available: list[int] | None) -> None:
    require(told.shape == (n_actions,), f"propensities have shape {told.shape}, not {(n_actions,)}")
    require((told >= 0).all() and math.isclose(told.sum(), 1.0, rel_tol=1e-9), f"propensities {told} do not sum to one")
    if available is not None:
        unavailable = np.delete(told, available)
        require((unavailable == 0).all(), f"propensities {told} are not zero outside the available {available}")


def _require_frequency(action: int, propensities: NDArray[np.float64], n_decisions: int) -> None:
    """Compare the summed weights of an action with the number of decisions; a certain action has nothing to compare.

    The standard deviation is that of the propensity claimed, not of the weights seen: a rare action may be seen once.
    """
    if (propensities == 1.0).all():
        return
    weights = 1.0 / propensities
    deviation = math.sqrt(n_decisions * float(weights.mean() - 1.0))
    estimate = float(weights.sum())
    claim = float(propensities.mean())
    fault = f"action {action} was taken {len(weights)} times in {n_decisions} with a propensity of about {claim:.4g}"
    require(abs(estimate - n_decisions) <= _SIGMAS * deviation, fault)
