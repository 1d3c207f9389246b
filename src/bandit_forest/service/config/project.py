"""A project: everything that a decision service is told."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from bandit_forest.bandit.features.kinds import Feature
from bandit_forest.bandit.settings import BanditSettings
from bandit_forest.errors import refuse
from bandit_forest.service.config.access import Keys, Server
from bandit_forest.service.config.tables import Actions, General, Limits, RewardRule, Storage

__all__ = ["Project"]


class Project(Struct, frozen=True, kw_only=True):
    """A project, made of the tables of its file.

    Parameters
    ----------
    context
        The features of a context.
    forest
        Parameters of `BanditForest`, without `n_variables`, `n_actions` and names.
    name, mode, warm_up_events
        See `General`.
    actions, reward, storage, keys, limits, server
        See there.
    """

    actions: Actions
    context: dict[str, Feature]
    name: str = "bandit-forest"
    mode: str = "decide"
    warm_up_events: int = 1000
    reward: RewardRule = RewardRule()
    forest: dict[str, Any] = field(default_factory=dict)
    storage: Storage = Storage()
    keys: Keys = Keys()
    limits: Limits = Limits()
    server: Server = Server()

    def __post_init__(self) -> None:
        General(name=self.name, mode=self.mode, warm_up_events=self.warm_up_events)
        if not self.context:
            rule = "at least one feature, such as [context.age] with kind = 'numeric'"
            refuse("context", "[project]", rule, self.context)
        if not self.server.is_loopback and not (self.keys.decide and self.keys.admin):
            rule = "a loopback address such as '127.0.0.1', unless [keys] has both 'decide' and 'admin' keys"
            refuse("host", "[server]", rule, self.server.host)

    @property
    def settings(self) -> BanditSettings:
        """The settings of its bandit when a storage folder is made."""
        return BanditSettings.of(
            n_actions=len(self.actions.names),
            features=self.context,
            reward_range=(self.reward.low, self.reward.high),
            capacity=self.actions.capacity,
            warm_up_events=self.warm_up_events,
            forest=self.forest,
            owner="the project",
        )
