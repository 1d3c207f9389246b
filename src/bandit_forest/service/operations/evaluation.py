"""Estimated rewards of other policies: uniform play, and in shadow mode the forest."""

from __future__ import annotations

import math
from collections.abc import Callable

from bandit_forest.evaluation.statistics.comparison import DECIDED, POLICY
from bandit_forest.evaluation.statistics.linear import LEAST_SAMPLE
from bandit_forest.evaluation.statistics.sequences import ValueSequence
from bandit_forest.evaluation.statistics.sums import Sums
from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.operations.results import Evaluation, PolicyValue

__all__ = ["evaluation"]

_CONFIDENCE = 0.95
_MOST_ERRORS = 4.0  # standard errors that the mean weight may be away from 1


def evaluation(service: ServiceContext) -> Callable[[], Evaluation]:
    """Return a function that makes the evaluation from the present state; it may be called in a thread."""
    statistics = service.state.statistics
    unscale, average = service.state.learner.rewards.unscale, statistics.total.average
    compared = {"uniform": statistics.uniform}
    if service.project.mode == "shadow":
        compared = {"forest": statistics.forest, **compared}
    known = [(name, *comparison.summary()) for name, comparison in compared.items()]
    decided = None if average is None else unscale(average)
    return lambda: Evaluation(average_reward=decided, policies=tuple(_policy_value(*one, unscale) for one in known))


def _policy_value(name: str, sums: Sums, sequence: ValueSequence, unscale: Callable[[float], float]) -> PolicyValue:
    """Return the value of a policy from what is known of it."""
    value = sums.estimate(POLICY, "snips", _CONFIDENCE)
    gain = sums.difference(POLICY, DECIDED, "snips", _CONFIDENCE)
    zero = unscale(0.0)
    low, high = (unscale(limit) - zero for limit in sequence.gain(_CONFIDENCE))
    return PolicyValue(
        policy=name,
        events=sums.n_events,
        effective_sample_size=sums.effective_sample_size(POLICY),
        **{part: _finite_or_none(unscale(getattr(value, part))) for part in ("value", "low", "high")},
        gain=_finite_or_none(unscale(gain.value) - zero),
        gain_low=_finite_or_none(unscale(gain.low) - zero),
        gain_high=_finite_or_none(unscale(gain.high) - zero),
        always_low=low,
        always_high=high,
        verdict=_verdict(name, sums, low, high),
    )


def _verdict(policy: str, sums: Sums, low: float, high: float) -> str:
    """Return the verdict on a policy, as one sentence; `low` and `high` are the limits of its gain at all times."""
    who, decided = _NAMES[policy]
    sample_size = sums.effective_sample_size(POLICY)
    if sample_size < LEAST_SAMPLE:
        return (
            f"No verdict about {who} yet: the {sums.n_events:,} events with a reward are worth {sample_size:,.0f} of "
            f"its own, and {LEAST_SAMPLE} are needed."
        )
    weight = sums.mean_weight(POLICY, _CONFIDENCE)
    if abs(weight.value - 1) > _MOST_ERRORS * weight.standard_error:
        return (
            f"No verdict about {who}: the propensities are not those with which actions were chosen, or some actions "
            "had no chance at all."
        )
    limits = f"{low:+.4g} to {high:+.4g} per decision, whenever one looks"
    if low > 0:
        return f"{who[0].upper()}{who[1:]} earns more than {decided}: {limits}."
    if high < 0:
        return f"{who[0].upper()}{who[1:]} earns less than {decided}: {limits}."
    return f"Between {who} and {decided} the events do not decide yet: {limits}."


_NAMES = {"uniform": ("uniform play", "what was decided"), "forest": ("the forest", "the application")}


def _finite_or_none(number: float) -> float | None:
    return number if math.isfinite(number) else None
