"""Evaluation of policies on a log, with a verdict in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import refuse
from bandit_forest.evaluation.balance import Balance
from bandit_forest.evaluation.diagnostics import Finding, Level, Weights, log_findings, policy_findings
from bandit_forest.evaluation.log import Source
from bandit_forest.evaluation.models import Means
from bandit_forest.evaluation.passing import Part, Pass
from bandit_forest.evaluation.statistics.estimate import Estimate
from bandit_forest.evaluation.statistics.linear import ESTIMATORS
from bandit_forest.evaluation.statistics.sequences import Interval
from bandit_forest.evaluation.statistics.sums import Sums
from bandit_forest.evaluation.targets import Target
from bandit_forest.parameters import check_parameter

__all__ = ["LOGGED", "Evaluation", "Moment", "evaluate", "shown"]

Floats = NDArray[np.float64]

LOGGED = "logged"
"""Name of the policy that made the log."""


class Moment(NamedTuple):
    """One part of the log, for figures of what changes over time."""

    n_events: int
    """Events from the first of the log up to the last of this part."""
    time: float | None
    """Time of its last event, in seconds since 1970."""
    estimates: dict[str, Estimate]
    """Value of each policy in this part alone, by SNIPS."""
    sequences: dict[str, Interval]
    """Confidence sequence of each policy at its end."""
    effective: dict[str, float]
    """Effective sample size of each policy in this part alone."""


@dataclass(frozen=True)
class Evaluation:
    """Estimated rewards of policies on a log, with findings about the log.

    Examples
    --------
    >>> import numpy as np
    >>> from bandit_forest.evaluation import Log, always, evaluate
    >>> rng = np.random.default_rng(0)
    >>> actions = rng.integers(0, 2, 2000)
    >>> rewards = (rng.random(2000) < np.where(actions == 1, 0.6, 0.4)).astype(float)
    >>> log = Log(actions=actions, rewards=rewards, propensities=np.full(2000, 0.5), action_names=["stay", "go"])
    >>> evaluation = evaluate(log, [always("go", name="go")])
    >>> evaluation
    <Evaluation: 2,000 events, go beside logged>
    >>> print(evaluation.to_text())
    go is better than logged: +0.0917 per event (95% interval +0.0707 to +0.1127).
    <BLANKLINE>
    policy  effective                      SNIPS           gain over logged              doubly robust        sequence
    ------------------------------------------------------------------------------------------------------------------
    logged      2,000  0.5315 (0.5096 to 0.5534)
    go          1,043  0.6232 (0.5937 to 0.6527)  0.0917 (0.0707 to 0.1127)  0.6232 (0.5937 to 0.6527)  0.569 to 0.675
    <BLANKLINE>
    2,000 events. Looks without a fault: 12 of 12.
    """

    confidence: float
    n_events: int
    """Number of events."""
    n_rewarded: int
    """Number of events with a reward; estimates are of these."""
    names: tuple[str, ...]
    """The logging policy, then the policies that were evaluated."""
    findings: tuple[Finding, ...]
    """What the log shows about itself."""
    policy_findings: dict[str, tuple[Finding, ...]]
    """What the log shows about each policy."""
    moments: tuple[Moment, ...]
    sequences: dict[str, Interval]
    """Confidence sequence of each policy's value, at the end of the log."""
    gains: dict[str, Interval]
    """Confidence sequence of each policy's gain over the logging policy, at the end of the log."""
    balance: Balance
    """Sums that the findings rest on."""
    weight_sums: dict[str, Floats]
    """Sum of each policy's weights, by their size: up to the first of `WEIGHT_EDGES`, up to the second, and so on."""
    _sums: Sums

    def estimate(self, name: str, estimator: str = "snips") -> Estimate:
        """Return the value of a policy: by 'snips', 'dr', 'ips' or, as a diagnostic only, 'dm'."""
        return self._sums.estimate(self._place(name), _checked_estimator(estimator), self.confidence)

    def difference(self, name: str, other: str = LOGGED, estimator: str = "snips") -> Estimate:
        """Return the value of a policy minus the value of another policy, on the same events."""
        kind = _checked_estimator(estimator)
        return self._sums.difference(self._place(name), self._place(other), kind, self.confidence)

    def effective_sample_size(self, name: str) -> float:
        """Return the effective sample size: the squared sum of the weights, divided by the sum of their squares."""
        return self._sums.effective_sample_size(self._place(name))

    @property
    def faults(self) -> tuple[Finding, ...]:
        """The findings that forbid a verdict about any policy."""
        return tuple(finding for finding in self.findings if finding.level is Level.STOP)

    def is_judged(self, name: str) -> bool:
        """Return whether the log allows a verdict about a policy."""
        own = self.policy_findings.get(name, ())
        return not self.faults and all(finding.level is not Level.STOP for finding in own)

    def is_better(self, name: str, other: str = LOGGED) -> bool:
        """Return whether the log shows that a policy is better: the whole interval of the difference is above 0."""
        return self.is_judged(name) and self.is_judged(other) and self.difference(name, other).low > 0

    def verdict(self, name: str, other: str = LOGGED) -> str:
        """Return the verdict on a policy compared with another policy, in one sentence."""
        if self.faults:
            return f"No verdict about {name}: the log is at fault ({self.faults[0].name}: {self.faults[0].value})."
        for policy in (name, other):
            for finding in self.policy_findings.get(policy, ()):
                if finding.level is Level.STOP:
                    return f"No verdict about {name}: {finding.name} is {finding.value}."
        gain = self.difference(name, other)
        limits = f"{self.confidence:.0%} interval {gain.low:+.4f} to {gain.high:+.4f}"
        if gain.low > 0:
            return f"{name} is better than {other}: {gain.value:+.4f} per event ({limits})."
        if gain.high < 0:
            return f"{name} is worse than {other}: {gain.value:+.4f} per event ({limits})."
        return f"Between {name} and {other} the log does not decide: {gain.value:+.4f} per event ({limits})."

    @property
    def table(self) -> list[tuple[str, ...]]:
        """The rows of the table of `to_text`, the first one with its heads: texts."""
        rows: list[tuple[str, ...]] = [
            ("policy", "effective", "SNIPS", "gain over logged", "doubly robust", "sequence")
        ]
        for name in self.names:
            size, value = f"{self.effective_sample_size(name):,.0f}", shown(self.estimate(name))
            if name == LOGGED:
                rows.append((name, size, value, "", "", ""))
            else:
                low, high = self.sequences[name]
                gain, robust = self.difference(name), self.estimate(name, "dr")
                rows.append((name, size, value, shown(gain), shown(robust), f"{low:.3f} to {high:.3f}"))
        return rows

    @property
    def remarks(self) -> list[str]:
        """The findings that are not sound, one per line, and how many are."""
        found = [*self.findings, *(one for own in self.policy_findings.values() for one in own)]
        doubts = [one for one in found if one.level is not Level.SOUND]
        lines = [f"[{one.level}] {one.name}: {one.value}. {one.meaning}" for one in doubts]
        n_sound = len(found) - len(doubts)
        return [*lines, f"{self.n_events:,} events. Looks without a fault: {n_sound} of {len(found)}."]

    def to_text(self) -> str:
        """Return what `bandit-forest evaluate` prints: verdicts, a table of all policies, and what is not sound."""
        verdicts = [self.verdict(name) for name in self.names if name != LOGGED]
        widths = [max(map(len, column)) for column in zip(*self.table, strict=True)]
        lines = [_aligned(row, widths) for row in self.table]
        return "\n".join([*verdicts, "", lines[0], "-" * len(lines[0]), *lines[1:], "", *self.remarks])

    def __repr__(self) -> str:
        return f"<Evaluation: {self.n_events:,} events, {', '.join(self.names[1:])} beside {LOGGED}>"

    def to_json(self) -> dict[str, Any]:
        """Return all numbers and verdicts as values for JSON."""
        policies = [name for name in self.names if name != LOGGED]
        return {
            "confidence": self.confidence,
            "n_events": self.n_events,
            "n_rewarded": self.n_rewarded,
            "verdicts": {name: self.verdict(name) for name in policies},
            "findings": [finding._asdict() for finding in self.findings],
            LOGGED: self.estimate(LOGGED)._asdict(),
            "policies": {name: self._policy_json(name) for name in policies},
        }

    def _policy_json(self, name: str) -> dict[str, Any]:
        return {
            "effective_sample_size": self.effective_sample_size(name),
            "estimates": {estimator: self.estimate(name, estimator)._asdict() for estimator in ESTIMATORS},
            "gains": {estimator: self.difference(name, LOGGED, estimator)._asdict() for estimator in ESTIMATORS},
            "sequence": self.sequences[name]._asdict(),
            "gain_sequence": self.gains[name]._asdict(),
            "findings": [finding._asdict() for finding in self.policy_findings[name]],
        }

    def _place(self, name: str) -> int:
        if name not in self.names:
            refuse("name", "Evaluation", f"one of {', '.join(self.names)}", name)
        return self.names.index(name)


def evaluate(
    log: Source,
    policies: Sequence[Target],
    *,
    confidence: float = 0.95,
    means: Means | None = None,
    encoder: ContextEncoder | None = None,
    progress: Callable[[int], object] | None = None,
) -> Evaluation:
    """Return the estimated rewards of policies on a log, with tests of the log.

    The log is read once, in batches.

    Parameters
    ----------
    log
        A `Log`, or a reader of a file.
    policies
        The policies, as `as_it_stands`, `always`, `uniform` and `column` make them.
    confidence
        Confidence level of all intervals.
    means
        Estimates of mean rewards for the doubly robust estimator. None: those of a fresh forest that learns the log.
    encoder
        Encoder of the log's features for that forest. None: one that is fitted on the first batch.
    progress
        Function that is called from time to time with the number of events read so far.

    Examples
    --------
    >>> import numpy as np
    >>> from bandit_forest.evaluation import Log, always, evaluate
    >>> rng = np.random.default_rng(0)
    >>> actions = rng.integers(0, 2, 2000)
    >>> rewards = (rng.random(2000) < np.where(actions == 1, 0.6, 0.4)).astype(float)
    >>> log = Log(actions=actions, rewards=rewards, propensities=np.full(2000, 0.5), action_names=["stay", "go"])
    >>> print(evaluate(log, [always("go")]).verdict("always go"))
    always go is better than logged: +0.0917 per event (95% interval +0.0707 to +0.1127).
    """
    if not isinstance(log, Source):
        refuse("log", "evaluate", "a Log, or a reader of a file", log)
    targets = _checked_targets(policies)
    rule = "a number between 0 and 1"
    level = check_parameter(confidence, "confidence", "evaluate", rule, 0.0, 1.0, open_low=True)
    if level == 1.0:
        refuse("confidence", "evaluate", rule, confidence)
    passed = Pass(log, targets, means=means, encoder=encoder, confidence=level)
    passed.run(progress)
    if not passed.parts:
        refuse("log", "evaluate", "one with at least one event", log)
    return _result(passed, log.action_names, (LOGGED, *(target.name for target in targets)), level)


def shown(estimate: Estimate) -> str:
    """Return an estimate with its interval.

    Examples
    --------
    >>> shown(Estimate.around(0.5, 0.1, 0.95))
    '0.5000 (0.3040 to 0.6960)'
    """
    return f"{estimate.value:.4f} ({estimate.low:.4f} to {estimate.high:.4f})"


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    """Return a row of a table as a line, its name on the left and all else on the right."""
    cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
    return "  ".join([row[0].ljust(widths[0]), *cells]).rstrip()


def _checked_estimator(estimator: str) -> str:
    if estimator not in ESTIMATORS:
        refuse("estimator", "Evaluation", f"one of {', '.join(ESTIMATORS)}", estimator)
    return estimator


def _checked_targets(policies: Sequence[Target]) -> list[Target]:
    targets = list(policies)
    if not targets or not all(isinstance(target, Target) for target in targets):
        refuse("policies", "evaluate", "a list of policies to evaluate, such as uniform()", policies)
    names = [target.name for target in targets]
    if len({*names, LOGGED}) != len(names) + 1:
        refuse("policies", "evaluate", f"policies with different names, none of them '{LOGGED}'", names)
    return targets


def _result(passed: Pass, action_names: tuple[str, ...], names: tuple[str, ...], confidence: float) -> Evaluation:
    whole = sum(passed.parts[1:], start=passed.parts[0])
    policies = dict(enumerate(names[1:], start=1))
    return Evaluation(
        confidence=confidence,
        n_events=whole.balance.n_events,
        n_rewarded=whole.balance.n_rewarded,
        names=names,
        findings=tuple(log_findings([part.balance for part in passed.parts], action_names)),
        policy_findings={
            name: tuple(policy_findings(name, _weights(place, whole, passed.parts, confidence)))
            for place, name in policies.items()
        },
        moments=_moments(passed.parts, names, confidence),
        sequences={name: passed.sequences[place - 1].value(confidence) for place, name in policies.items()},
        gains={name: passed.sequences[place - 1].gain(confidence) for place, name in policies.items()},
        balance=whole.balance,
        weight_sums={name: whole.weight_sums[place - 1] for place, name in policies.items()},
        _sums=whole.sums,
    )


def _weights(place: int, whole: Part, parts: Sequence[Part], confidence: float) -> Weights:
    sums = whole.sums
    mean = sums.mean_weight(place, confidence)
    total = mean.value * sums.n_events
    effective = sums.effective_sample_size(place)
    return Weights(
        n_events=sums.n_events,
        effective=effective,
        rare_rewards=effective * whole.rewards.rarity,
        effective_over_time=[part.sums.effective_sample_size(place) for part in parts],
        largest_share=float(whole.largest_weights[place]) / total if total > 0 else 0.0,
        mean=mean,
    )


def _moments(parts: Sequence[Part], names: tuple[str, ...], confidence: float) -> tuple[Moment, ...]:
    moments, n_events = [], 0
    for part in parts:
        n_events += part.balance.n_events
        sums = part.sums
        moments.append(
            Moment(
                n_events=n_events,
                time=part.end_time,
                estimates={name: sums.estimate(place, "snips", confidence) for place, name in enumerate(names)},
                sequences=dict(zip(names[1:], part.sequences, strict=True)),
                effective={name: sums.effective_sample_size(place) for place, name in enumerate(names)},
            )
        )
    return tuple(moments)
