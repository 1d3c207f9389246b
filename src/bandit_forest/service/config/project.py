"""A project: the complete configuration of a decision service."""

from __future__ import annotations

from typing import Any

from msgspec import field

from bandit_forest.bandit.features.kinds import Feature
from bandit_forest.bandit.pairs import PairBandit
from bandit_forest.bandit.pairs.model import ID
from bandit_forest.bandit.pairs.settings import PairBanditSettings
from bandit_forest.bandit.settings import BanditSettings
from bandit_forest.errors import refuse
from bandit_forest.service.config.access import Keys, Server
from bandit_forest.service.config.tables import Actions, General, Limits, RewardRule, Storage

__all__ = ["Project"]


class Project(General, frozen=True, kw_only=True):
    """A project, made of the tables of its file.

    Parameters
    ----------
    context
        The features of a context.
    actions
        The fixed actions; None where each event offers its own.
    offered
        The features of an offered action; None where the actions are fixed.
    forest
        Parameters of `BanditForest`, or with offered actions of `PairForest`, without numbers of variables and names.
    name, mode, warm_up_events
        See `General`.
    reward, storage, keys, limits, server
        See `RewardRule`, `Storage`, `Keys`, `Limits` and `Server`.
    """

    context: dict[str, Feature]
    actions: Actions | None = None
    offered: dict[str, Feature] | None = None
    reward: RewardRule = RewardRule()
    forest: dict[str, Any] = field(default_factory=dict)
    storage: Storage = Storage()
    keys: Keys = Keys()
    limits: Limits = Limits()
    server: Server = Server()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.context:
            rule = "at least one feature, such as [context.age] with kind = 'numeric'"
            refuse("context", "[project]", rule, self.context)
        self._check_actions()
        if not self.server.is_loopback and not (self.keys.decide and self.keys.admin):
            rule = "a loopback address such as '127.0.0.1', unless [keys] has both 'decide' and 'admin' keys"
            refuse("host", "[server]", rule, self.server.host)

    @property
    def is_offered(self) -> bool:
        """Whether each event offers its own actions."""
        return self.offered is not None

    @property
    def action_names(self) -> tuple[str, ...]:
        """The names of the fixed actions; none where actions are offered."""
        return () if self.actions is None else self.actions.names

    @property
    def settings(self) -> BanditSettings | PairBanditSettings:
        """The settings of its bandit when a storage folder is made."""
        if self.offered is not None:
            bandit = PairBandit(
                reward_range=(self.reward.low, self.reward.high),
                context_features=self.context,
                action_features=self.offered,
                warm_up_events=self.warm_up_events,
                forest=self.forest,
            )
            return bandit.settings
        assert self.actions is not None
        return BanditSettings.of(
            n_actions=len(self.actions.names),
            features=self.context,
            reward_range=(self.reward.low, self.reward.high),
            capacity=self.actions.capacity,
            warm_up_events=self.warm_up_events,
            forest=self.forest,
            owner="the project",
        )

    def _check_actions(self) -> None:
        """Refuse both kinds of actions, none, and what offered actions do not have."""
        if (self.actions is None) == (self.offered is None):
            rule = "either fixed, by [actions], or offered by each event, by [offered.NAME] tables of their features"
            refuse("actions", "the project", rule, "neither" if self.actions is None else "both")
        if self.offered is None:
            return
        if not self.offered:
            rule = "at least one feature, such as [offered.price] with kind = 'numeric'"
            refuse("offered", "[project]", rule, self.offered)
        if ID in self.offered:
            refuse(ID, "[offered]", "left out: it names an offered action and is not a feature", self.offered[ID].kind)
        if self.mode != "decide":
            refuse("mode", "[project]", "'decide' where actions are offered", self.mode)
        if self.storage.is_shared:  # what stands there may hold a password: it is not shown
            rule = "'sqlite' where actions are offered: replicas have fixed actions only"
            refuse("journal", "[storage]", rule, "...")
