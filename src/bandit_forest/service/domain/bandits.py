"""The bandit of a project: with fixed actions, or with actions that each event offers."""

from __future__ import annotations

from dataclasses import replace

from bandit_forest.bandit import Bandit
from bandit_forest.bandit.pairs import PairBandit
from bandit_forest.bandit.pairs.settings import PairBanditSettings
from bandit_forest.bandit.settings import BanditSettings
from bandit_forest.forest import BanditForest
from bandit_forest.forest.pairs import PairForest
from bandit_forest.service.config.project import Project

__all__ = ["bandit_from_bytes", "forest_of", "new_bandit", "settings_of"]


def new_bandit(settings: BanditSettings | PairBanditSettings) -> Bandit | PairBandit:
    """Return a bandit that has learned nothing."""
    if isinstance(settings, PairBanditSettings):
        return PairBandit.from_settings(settings)
    return Bandit.from_settings(settings)


def bandit_from_bytes(project: Project, data: bytes, name: str) -> Bandit | PairBandit:
    """Return the saved bandit of a project, or refuse it."""
    return (PairBandit if project.is_offered else Bandit).from_bytes(data, name)


def forest_of(bandit: Bandit | PairBandit) -> BanditForest | PairForest | None:
    """Return the forest of a bandit; None while features are learned."""
    forest = bandit.forest if isinstance(bandit, PairBandit) else bandit.policy
    assert forest is None or isinstance(forest, BanditForest | PairForest)
    return forest


def settings_of(bandit: Bandit | PairBandit) -> BanditSettings | PairBanditSettings:
    """Return the settings of a bandit, with the features that it has learned where none were declared."""
    return bandit.settings if isinstance(bandit, PairBandit) else replace(bandit.settings, features=bandit.features)
