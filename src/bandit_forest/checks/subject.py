"""Subjects of checks, checks, and their failures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from bandit_forest.errors import BanditForestError, refuse
from bandit_forest.policy import Policy

__all__ = ["Check", "CheckFailedError", "MakePolicy", "Named", "Subject", "checked_name", "require", "run_all"]


class CheckFailedError(BanditForestError, AssertionError):
    """A policy fails a requirement of every policy; the message is `policy:check: what happened`."""


def require(condition: object, fault: str) -> None:
    """Raise a `CheckFailedError` unless the condition holds; `Check` adds the names of the policy and of the check."""
    if not condition:
        raise CheckFailedError(fault)


class Named(Protocol):
    """What is checked, of whatever kind."""

    @property
    def name(self) -> str:
        """Its name in messages."""


class MakePolicy(Protocol):
    """Makes a fresh policy of the sizes and seed that a check asks for."""

    def __call__(self, *, n_variables: int, n_actions: int, seed: int) -> Policy:
        """Make a policy; one without randomness leaves the seed alone."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A policy to check, and its requirements.

    Parameters
    ----------
    make
        Makes a fresh policy, as `make(n_variables=..., n_actions=..., seed=...)`.
    name
        Its name in messages and test ids.
    learns
        Whether its reward must exceed the reward of uniform draws in the end.
    uses_contexts
        Whether it must learn a world in which the best action depends on the context.
    n_events
        Number of events after which it must have learned an easy world, and its memory must not grow.
    """

    make: MakePolicy
    name: str
    learns: bool = True
    uses_contexts: bool = True
    n_events: int = 4000

    def fresh(self, *, n_variables: int = 5, n_actions: int = 3, seed: int = 1) -> Policy:
        """Make a policy that has seen nothing."""
        return self.make(n_variables=n_variables, n_actions=n_actions, seed=seed)


@dataclass(frozen=True)
class Check:
    """One thing that every policy must do; call it with a subject."""

    name: str
    run: Callable[[Any], None]

    def __call__(self, subject: Named) -> None:
        """Raise a `CheckFailedError` if the subject gives a wrong answer or raises an exception."""
        try:
            self.run(subject)
        except Exception as error:
            fault = str(error) if isinstance(error, CheckFailedError) else f"{type(error).__name__}: {error}"
            raise CheckFailedError(f"{subject.name}:{self.name}: {fault}") from error


def checked_name(name: str | None, policy: Callable[[], object], owner: str) -> str:
    """Return the name of a policy: that of its class when None."""
    if name is not None and not isinstance(name, str):
        refuse("name", owner, "a string or None", name)
    return type(policy()).__name__ if name is None else name


def run_all(checks: Iterable[Check], subject: Named) -> None:
    """Run checks on a subject, and raise one `CheckFailedError` with all failures."""
    faults = []
    for check in checks:
        try:
            check(subject)
        except CheckFailedError as failure:
            faults.append(str(failure))
    if faults:
        raise CheckFailedError("\n".join(faults))
