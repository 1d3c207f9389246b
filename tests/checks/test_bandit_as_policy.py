"""A Bandit passes the checks of policies behind an adapter: one boolean feature for each variable, actions by name."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np

from bandit_forest import Bandit, CheckedPolicy, Decision, Decisions, check_policy

FOREST = {"n_trees": 4, "max_nodes": 15, "growth": {"min_events": 20, "min_gain": 0.0, "log_capacity": 256}}


class BanditPolicy(CheckedPolicy):
    """A Bandit whose contexts and actions have numbers; the base class checks what it is given."""

    def __init__(self, *, n_variables: int, n_actions: int, seed: int, warm_up_events: int = 1) -> None:
        super().__init__(n_variables=n_variables, n_actions=n_actions)
        self.bandit = Bandit(
            actions=[f"action {number}" for number in range(n_actions)],
            features={f"variable {number}": "boolean" for number in range(n_variables)},
            warm_up_events=warm_up_events,
            forest=FOREST,
            seed=seed,
        )

    def propensities(self, context: Any, *, available_actions: Any = None) -> np.ndarray:
        bits, available = self._checked(context, available_actions, "propensities")
        shares = self.bandit.propensities(self.features(bits), available_actions=self.names(available))
        return np.array([shares.get(name, 0.0) for name in self.bandit.actions])

    def save(self, path: Any) -> None:
        self.bandit.save(path)

    @classmethod
    def load(cls, path: Any) -> Self:
        bandit = Bandit.load(path)
        policy = cls(n_variables=len(bandit.features), n_actions=len(bandit.actions), seed=0)
        policy.bandit = bandit
        return policy

    def _decide(self, context: Any, available: Any) -> Decision:
        decision = self.bandit.decide(self.features(context), available_actions=self.names(available))
        return Decision(self.number(decision.action), decision.propensity)

    def _learn(self, context: Any, action: int, reward: float, propensity: float) -> None:
        self.bandit.learn(self.features(context), self.name(action), reward, propensity=propensity)

    def _decide_many(self, contexts: Any, available: Any) -> Decisions:
        if available is not None and available.ndim == 1:
            available = np.tile(available, (len(contexts), 1))
        decisions = self.bandit.decide_many(self.columns(contexts), available_actions=available)
        return Decisions(np.array([*map(self.number, decisions.actions)], dtype=np.int64), decisions.propensities)

    def _learn_many(self, contexts: Any, actions: Any, rewards: Any, propensities: Any) -> None:
        names = [self.name(action) for action in actions]
        self.bandit.learn_many(self.columns(contexts), names, rewards, propensities=propensities)

    def features(self, context: Any) -> dict[str, bool]:
        return {f"variable {number}": bool(value) for number, value in enumerate(context)}

    def columns(self, contexts: Any) -> dict[str, list[bool]]:
        return {f"variable {number}": column.astype(bool).tolist() for number, column in enumerate(contexts.T)}

    def name(self, action: int) -> str:
        return f"action {action}"

    def number(self, name: str) -> int:
        return int(name.removeprefix("action "))

    def names(self, available: Any) -> list[str] | None:
        return None if available is None else [self.name(action) for action in np.flatnonzero(available)]


def test_a_bandit_passes_every_check_of_policies() -> None:
    check_policy(BanditPolicy)


def test_a_bandit_passes_every_check_of_policies_with_a_warm_up() -> None:
    check_policy(partial(BanditPolicy, warm_up_events=100))
