"""What an experiment is: values with ids, which name a run on the command line, in files and in plots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Experiment", "Made", "Published", "Setting"]


@dataclass(frozen=True, kw_only=True)
class Made:
    """Something to be made, as data: what it is called, and with which parameters."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Published:
    """What the paper reports for ten million events in its summary of results."""

    regret: float
    """Against its own reference forest, mean of ten trials."""
    interval: float
    """Half the width of the 95 % interval of the regret."""
    rate: float
    """Average reward of the last 100,000 events."""
    minutes: float
    """Running time."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One line of a table, one curve of a figure: a policy in a world."""

    label: str
    """How tables and figures call it."""
    world: Made
    """A data set by its name, or a synthetic world."""
    policy: Made
    """The policy, without its sizes and its seed: those come from the world and the trial."""
    family: str = ""
    """What it shares with the settings whose labels begin the same; families are drawn side by side."""
    published: Published | None = None
    """What the paper has for it."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Settings that are compared with one another; the first is the smoke test of all."""

    id: str
    """A group and a name, 'paper/covtype'; its settings are 'paper/covtype/0' and so on."""
    title: str
    """What is compared, in a few words."""
    shows: str
    """Which table or figure of the paper it makes again, or what is to be seen."""
    settings: tuple[Setting, ...]
    chart: Literal["policies", "levels", "dots"] = "policies"
    """How to draw it: as curves of policies, or of levels from low to high, or as a dot for each setting."""
    n_events: int = 10_000_000
    """Events of a trial, unless told otherwise."""
    n_trials: int = 10
    """Trials of a setting, unless told otherwise."""

    def setting_id(self, number: int) -> str:
        """Give the id of a setting."""
        return f"{self.id}/{number}"
