"""Reasons for the best offered action, and changes that would make another action the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.pairs.model import PairModel
from bandit_forest.bandit.pairs.offer import Offer
from bandit_forest.bandit.rewards import RewardRange

__all__ = ["Change", "PairExplanation", "Reason", "explain", "importance_by_side"]

Codes = NDArray[np.uint8]

_MOST_LEVELS = 16
"""Codes of an ordered variable that are tried, evenly spaced."""


class Reason(NamedTuple):
    """A feature in which the best action differs from the second best."""

    feature: str
    difference: float
    """Estimate of the best action less that with the second best's value of the feature."""


class Change(NamedTuple):
    """A test of one variable whose other outcome makes another action the best."""

    side: str
    """"context", or "action": the variable is that of the context, or of the best action."""
    test: str
    """Test that would hold instead, such as 'price >= 12'."""
    action: str | int
    """The action that would be the best."""


@dataclass(frozen=True)
class PairExplanation:
    """Estimates of the actions that an event offers, with reasons."""

    best: str | int
    """The offered action with the highest estimate."""
    mean_rewards: dict[str | int, float]
    """The estimated mean reward of each offered action, in the range of rewards, highest first."""
    propensities: dict[str | int, float]
    """The probability with which each is drawn."""
    reasons: tuple[Reason, ...]
    """Features of the best action that put it before the second best, the most telling first."""
    changes: tuple[Change, ...]
    """Changes of the decision: other values of single variables with which another action is the best."""

    def as_dict(self) -> dict[str, Any]:
        """Return everything as dicts, lists, texts and numbers, ready for JSON; ids that are keys are texts."""
        return {
            "best": self.best,
            "mean_rewards": {str(name): mean for name, mean in self.mean_rewards.items()},
            "propensities": {str(name): propensity for name, propensity in self.propensities.items()},
            "reasons": [reason._asdict() for reason in self.reasons],
            "changes": [change._asdict() for change in self.changes],
        }

    def to_text(self) -> str:
        """Return the explanation as a few lines of text."""
        lines = [
            f"{action}: mean reward {mean:.3f}, drawn with probability {self.propensities[action]:.3f}"
            for action, mean in self.mean_rewards.items()
        ]
        drawn = max(self.propensities, key=self.propensities.__getitem__)
        if self.propensities[drawn] > self.propensities[self.best]:
            lines.append(f"{drawn} is drawn most, because fewer rewards of actions like it are known")
        lines += [
            f"{self.best} is ahead by its {r.feature}: {r.difference:+.3f}" for r in self.reasons if r.difference > 0
        ]
        lines += [f"with {c.test} of the {c.side}, {c.action} would be the best" for c in self.changes]
        return "\n".join(lines)


def explain(model: PairModel, offer: Offer, rewards: RewardRange) -> PairExplanation:
    """Return the explanation of a checked event."""
    model.known_forest("PairBandit.explain")
    means = np.array(model.mean_rewards(offer), dtype=np.float64)
    order = np.argsort(-means, kind="stable")
    best = int(order[0])
    scale = rewards.high - rewards.low
    reasons = _reasons(model, offer, best, int(order[1])) if len(order) > 1 else ()
    return PairExplanation(
        best=offer.ids[best],
        mean_rewards={offer.ids[index]: rewards.unscale(float(means[index])) for index in order},
        propensities=dict(zip(offer.ids, model.propensities(offer), strict=True)),
        reasons=tuple(reason._replace(difference=reason.difference * scale) for reason in reasons),
        changes=tuple(_changes(model, offer, best)) if len(order) > 1 else (),
    )


def importance_by_side(estimates: NDArray[np.float64]) -> dict[str, float]:
    """Return the shares of context, action and pair in the variance of estimates, one row per context.

    Examples
    --------
    >>> importance_by_side(np.array([[0.0, 1.0], [0.0, 1.0]]))
    {'context': 0.0, 'action': 1.0, 'pair': 0.0}
    """
    centred = estimates - estimates.mean()
    by_context, by_action = centred.mean(axis=1), centred.mean(axis=0)
    left = centred - by_context[:, np.newaxis] - by_action[np.newaxis]
    parts = np.array([np.square(part).mean() for part in (by_context, by_action, left)])
    shares = parts / parts.sum() if parts.sum() > 0.0 else parts
    return dict(zip(("context", "action", "pair"), shares.tolist(), strict=True))


def _reasons(model: PairModel, offer: Offer, best: int, second: int) -> tuple[Reason, ...]:
    """Return what each feature of the best action adds: its estimate less that with the second best's value."""
    forest = model.known_forest("PairBandit.explain")
    context, actions = _codes(model, offer)
    features = model.action.schema.feature_of_variables()
    different = [name for name in dict.fromkeys(features) if _differ(actions, features, name, best, second)]
    if not different:
        return ()
    tried = np.repeat(actions[[best]], len(different) + 1, axis=0)
    for row, name in enumerate(different, 1):
        own = [variable for variable, feature in enumerate(features) if feature == name]
        tried[row, own] = actions[second, own]
    means = forest.mean_rewards(context, tried)
    reasons = [Reason(name, float(means[0] - mean)) for name, mean in zip(different, means[1:], strict=True)]
    return tuple(sorted(reasons, key=lambda reason: -reason.difference))


def _differ(actions: Codes, features: list[str], name: str, first: int, second: int) -> bool:
    own = [variable for variable, feature in enumerate(features) if feature == name]
    return bool((actions[first, own] != actions[second, own]).any())


def _changes(model: PairModel, offer: Offer, best: int) -> list[Change]:
    """Return single codes of the context, or of the best action, with which another action is the best."""
    forest = model.known_forest("PairBandit.explain")
    context, actions = _codes(model, offer)
    encoders = (model.context.schema.encoder, model.action.schema.encoder)
    changes = []
    for side, encoder in zip(("context", "action"), encoders, strict=True):
        assert encoder is not None
        before = context if side == "context" else actions[best]
        for variable, own in enumerate(encoder.variable_names):
            thresholds = encoder.thresholds.get(variable, (1.0,))
            for code in _other_codes(int(before[variable]), len(thresholds)):
                after, offered = context.copy(), actions.copy()
                (after if side == "context" else offered[best])[variable] = code
                winner = int(forest.mean_rewards(after, offered, names=offer.names).argmax())
                if winner != best:
                    test = _test(own, variable in encoder.thresholds, thresholds, int(before[variable]), code)
                    changes.append(Change(side, test, offer.ids[winner]))
                    break
    return changes


def _other_codes(code: int, largest: int) -> list[int]:
    """Return some other codes, the nearest first."""
    tried = np.unique(np.linspace(0, largest, min(largest + 1, _MOST_LEVELS)).round().astype(int))
    return sorted((int(other) for other in tried if other != code), key=lambda other: abs(other - code))


def _test(name: str, ordered: bool, thresholds: tuple[float, ...], before: int, after: int) -> str:
    if not ordered:
        return name if after else f"not {name}"
    return f"{name} >= {thresholds[after - 1]:g}" if after > before else f"{name} < {thresholds[after]:g}"


def _codes(model: PairModel, offer: Offer) -> tuple[Codes, Codes]:
    context = np.frombuffer(model.context.encode(offer.context), dtype=np.uint8).copy()
    rows = [np.frombuffer(model.action.encode(action), dtype=np.uint8) for action in offer.actions]
    return context, np.array(rows)
