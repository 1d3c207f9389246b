"""A policy as a contextual policy of River."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from bandit_forest.adapters.contexts import ContextReader
from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import MissingExtraError, refuse
from bandit_forest.forest import BanditForest

try:
    from river.bandit.base import ContextualPolicy
except ImportError:
    ContextualPolicy = None

__all__ = ["RiverPolicy"]

_MOST_WAITING = 100_000


class RiverPolicy(ContextualPolicy or object):  # type: ignore[misc]
    """A contextual policy of River: pull and update.

    River has no place for the propensity of a pull, so the policy keeps it until the update of the same arm and
    context. An update without a pull gets the present probability of the arm. `river.bandit.evaluate` passes no
    contexts to policies; all contexts are then the same.

    Parameters
    ----------
    arms
        All arms that may ever be pulled.
    features
        A fitted `ContextEncoder` for raw features; or the names of features that are 0 or 1; 0 without contexts.
    make
        Callable that makes the policy, as `make(n_variables=..., n_actions=..., seed=...)`, with `thresholds` if the
        encoder has ordered variables; a forest by default.
    reward_range
        The least and the largest possible reward.
    seed
        Seed of the policy.
    """

    def __init__(
        self,
        arms: Sequence[Any],
        features: ContextEncoder | Sequence[str] | int = 0,
        make: Callable[..., Any] = BanditForest,
        reward_range: tuple[float, float] = (0.0, 1.0),
        seed: int = 0,
    ) -> None:
        if ContextualPolicy is None:
            raise MissingExtraError("The adapter needs river: pip install 'bandit-forest[peers]'.")
        super().__init__()
        self.arms, self.features, self.make, self.reward_range, self.seed = arms, features, make, reward_range, seed
        self._contexts = ContextReader(features, "RiverPolicy")
        self._numbers = {arm: number for number, arm in enumerate(arms)}
        self._policy = make(**self._contexts.arguments, n_actions=len(arms), seed=seed)
        self._waiting: OrderedDict[tuple[bytes, int], list[float]] = OrderedDict()

    def _pull(self, arm_ids: Sequence[Any], context: dict[str, Any] | None = None) -> Any:
        bits = self._contexts.read(context)
        numbers = [self._number(arm) for arm in arm_ids]
        available = None if len(numbers) == len(self._numbers) else numbers
        decision = self._policy.decide(bits, available_actions=available)
        self._waiting.setdefault((bits.tobytes(), decision.action), []).append(decision.propensity)
        if len(self._waiting) > _MOST_WAITING:
            self._waiting.popitem(last=False)
        return arm_ids[numbers.index(decision.action)]

    def update(self, arm_id: Any, context: Any, *reward_args: Any, **reward_kwargs: Any) -> None:
        """Learn from the reward of an arm: `update(arm, context, reward)`, or `update(arm, reward)`."""
        if not reward_args:
            context, reward_args = None, (context,)
        super().update(arm_id, context, *reward_args, **reward_kwargs)
        low, high = self.reward_range
        bits, number = self._contexts.read(context), self._number(arm_id)
        share = (float(reward_args[0]) - low) / (high - low)
        self._policy.learn(bits, number, share, propensity=self._propensity(bits, number))

    def _propensity(self, bits: Any, number: int) -> float:
        key = (bits.tobytes(), number)
        kept = self._waiting.get(key)
        if kept is None:
            return float(self._policy.propensities(bits)[number])
        propensity = kept.pop(0)
        if not kept:
            del self._waiting[key]
        return propensity

    def _number(self, arm: Any) -> int:
        if arm not in self._numbers:
            refuse("arm", "RiverPolicy", f"one of {list(self._numbers)[:20]}", arm)
        return self._numbers[arm]
