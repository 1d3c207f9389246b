"""All checks of policies over pairs: those of policies over fixed actions that apply, and their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bandit_forest.checks import batches, propensity
from bandit_forest.checks import deciding as fixed_deciding
from bandit_forest.checks import keeping as fixed_keeping
from bandit_forest.checks import learning as fixed_learning
from bandit_forest.checks.pairs import deciding, inputs, keeping, learning, refusals
from bandit_forest.checks.pairs.subject import MakePairPolicy, PairSubject
from bandit_forest.checks.subject import Check, Subject, checked_name, run_all
from bandit_forest.errors import refuse
from bandit_forest.validation import check_int

__all__ = ["all_pair_checks", "check_pair_policy"]

_FIXED_MODULES = (fixed_deciding, propensity, fixed_learning, batches, fixed_keeping)
_OF_FIXED_ACTIONS_ONLY = {"follows_the_protocol", "play_equals_decide_and_learn"}
_MODULES = (deciding, learning, inputs, keeping, refusals)


def all_pair_checks() -> tuple[Check, ...]:
    """Return every check of policies over pairs; each has a `name` and is called with a `PairSubject`.

    Those of policies over fixed actions look at the policy with the same actions offered at each event.

    Examples
    --------
    >>> [check.name for check in all_pair_checks() if "name" in check.name]
    ['keys_name_the_draws', 'knows_actions_by_their_names']
    """
    fixed = [
        Check(name, partial(_over_fixed_actions, getattr(module, name)))
        for module in _FIXED_MODULES
        for name in module.__all__
        if name not in _OF_FIXED_ACTIONS_ONLY
    ]
    return (*fixed, *(Check(name, getattr(module, name)) for module in _MODULES for name in module.__all__))


def check_pair_policy(
    make: MakePairPolicy,
    *,
    name: str | None = None,
    learns: bool = True,
    knows_names: bool = True,
    is_bounded: bool = True,
    n_events: int = 4000,
) -> None:
    """Run every check on a policy over pairs, and raise one `CheckFailedError` with all failures.

    Parameters
    ----------
    make
        Makes a fresh policy, as `make(n_context_variables=..., n_action_variables=..., seed=...)`: often its class.
    name
        Its name in the message; that of its class when None.
    learns, knows_names, is_bounded, n_events
        Requirements, as in `PairSubject`.

    Examples
    --------
    >>> from bandit_forest.baselines.pairs import SharedLinUCB
    >>> def make(n_context_variables, n_action_variables, seed):
    ...     return SharedLinUCB(n_context_features=n_context_variables, n_action_features=n_action_variables)
    >>> check_pair_policy(make, knows_names=False, n_events=400)
    """
    if not callable(make):
        refuse("make", "check_pair_policy", "a function that makes a policy", make)
    n_events = check_int(n_events, "n_events", "check_pair_policy")
    named = checked_name(name, lambda: make(n_context_variables=1, n_action_variables=1, seed=0), "check_pair_policy")
    flags = {"learns": learns, "knows_names": knows_names, "is_bounded": is_bounded}
    run_all(all_pair_checks(), PairSubject(make=make, name=named, n_events=n_events, **flags))


def _over_fixed_actions(check: Callable[[Subject], None], subject: PairSubject) -> None:
    check(subject.as_fixed)
