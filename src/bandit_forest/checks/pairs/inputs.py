"""Checks of what a policy over pairs is given: every form means the same, and it stays the caller's."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.checks.comparing import require_same_decisions, require_same_state
from bandit_forest.checks.inputs import ONE_OR_MANY
from bandit_forest.checks.pairs.events import as_fixed, events, play, trained
from bandit_forest.checks.pairs.subject import PairSubject
from bandit_forest.checks.subject import require

__all__ = ["accepts_every_form_of_features", "offers_are_left_alone", "offers_are_not_kept"]

_FORMS: dict[str, Callable[[NDArray[np.uint8]], Any]] = ONE_OR_MANY | {
    "strided": lambda bits: np.repeat(bits, 2, axis=-1)[..., ::2]
}


def accepts_every_form_of_features(subject: PairSubject) -> None:
    """Require bools, numbers, lists and strided arrays to mean the same as bytes."""
    stream = list(events(30, seed=6, noise=0.2))
    for form, convert in _FORMS.items():
        policy, plain = trained(subject), trained(subject)
        converted = [event._replace(context=convert(event.context), actions=convert(event.actions)) for event in stream]
        played = play(policy, iter(converted))
        require_same_decisions(played, play(plain, iter(stream)), f"features given as {form} are something else")
        what = f"features given as {form} are learned as something else"
        require_same_state(as_fixed(policy), as_fixed(plain), what)


def offers_are_left_alone(subject: PairSubject) -> None:
    """Require that no call writes into what it is given."""
    policy = trained(subject)
    stream = list(events(30, seed=8, noise=0.2))
    kept = copy.deepcopy(stream)
    play(policy, iter(stream))
    for before, after in zip(kept, stream, strict=True):
        for part in before._fields:
            same = np.array_equal(getattr(before, part), getattr(after, part))
            require(same, f"the caller's {part} were changed")


def offers_are_not_kept(subject: PairSubject) -> None:
    """Require that a policy keeps no reference to features: callers may use one buffer for all of them."""
    policy, plain = subject.fresh(), subject.fresh()
    for number, (context, actions, names, rewards) in enumerate(events(20, seed=9, noise=0.2)):
        for learner, given in ((plain, (context, actions[0])), (policy, (context.copy(), actions[0].copy()))):
            learner.learn(*given, float(rewards[0]), propensity=0.5, name=names[0])
        given[number % 2][:] ^= 1
    what = "features that the caller changes after learn are learned as changed"
    require_same_state(as_fixed(policy), as_fixed(plain), what)
