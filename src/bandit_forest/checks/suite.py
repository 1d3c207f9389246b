"""All checks, and the ways to run them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import signature

from bandit_forest.checks import batches, deciding, inputs, keeping, learning, propensity, refusals
from bandit_forest.checks.pairs import PairSubject, all_pair_checks
from bandit_forest.checks.subject import Check, MakePolicy, Subject, checked_name, run_all
from bandit_forest.errors import refuse
from bandit_forest.policy import Policy, missing_names
from bandit_forest.validation import check_int

__all__ = ["all_checks", "cases", "check_policy"]

_MODULES = (deciding, propensity, learning, batches, inputs, keeping, refusals)


def all_checks() -> tuple[Check, ...]:
    """Return every check; each has a `name` and is called with a `Subject`.

    Examples
    --------
    >>> [check.name for check in all_checks() if "seed" in check.name]
    ['same_seed_same_decisions', 'certain_decisions_do_not_depend_on_the_seed']
    """
    return tuple(Check(name, getattr(module, name)) for module in _MODULES for name in module.__all__)


def cases(*subjects: Subject | PairSubject) -> Iterator[tuple[str, Subject | PairSubject, Check]]:
    """Return every subject with every check of its kind, and the id `policy:check` of both, for a parametrised test.

    Examples
    --------
    >>> from bandit_forest.baselines import Uniform
    >>> next(cases(Subject(make=Uniform, name="Uniform", learns=False)))[0]
    'Uniform:available_actions_are_respected'
    """
    for subject in subjects:
        for check in all_pair_checks() if isinstance(subject, PairSubject) else all_checks():
            yield f"{subject.name}:{check.name}", subject, check


def check_policy(
    make: Callable[..., Policy],
    *,
    name: str | None = None,
    learns: bool = True,
    uses_contexts: bool = True,
    n_events: int = 4000,
) -> None:
    """Run every check on a policy, and raise one `CheckFailedError` with all failures.

    Parameters
    ----------
    make
        Makes a fresh policy, as `make(n_variables=..., n_actions=..., seed=...)`: often its class. The seed is left out
        where there is no such parameter.
    name
        Its name in the message; that of its class when None.
    learns
        Whether its reward must exceed the reward of uniform draws in the end.
    uses_contexts
        Whether it must learn a world in which the best action depends on the context.
    n_events
        Number of events after which it must have learned an easy world, and its memory must not grow.
    """
    if not callable(make):
        refuse("make", "check_policy", "a function that makes a policy", make)
    n_events = check_int(n_events, "n_events", "check_policy")
    make = _with_seed(make)
    named = checked_name(name, lambda: make(n_variables=1, n_actions=2, seed=0), "check_policy")
    subject = Subject(make=make, name=named, learns=learns, uses_contexts=uses_contexts, n_events=n_events)
    is_whole = not missing_names(subject.fresh())
    run_all(all_checks() if is_whole else [Check("follows_the_protocol", deciding.follows_the_protocol)], subject)


def _with_seed(make: Callable[..., Policy]) -> MakePolicy:
    """Return a function that makes a policy and leaves the seed alone where the policy takes none."""
    parameters = signature(make).parameters
    if "seed" in parameters or any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return make
    return lambda *, n_variables, n_actions, seed: make(n_variables=n_variables, n_actions=n_actions)  # noqa: ARG005
