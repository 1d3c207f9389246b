"""What an experiment is: values with ids, which name a run on the command line, in files and in plots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Experiment", "Made", "Published", "Setting"]


@dataclass(frozen=True, kw_only=True)
class Made:
    """Something to be made, as data: its name, and its parameters."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Published:
    """Numbers of the paper's summary of results, for ten million events."""

    regret: float
    """Against its own comparator, mean of ten trials."""
    interval: float
    """Half the width of the 95 % interval of the regret."""
    rate: float
    """Average reward of the last 100,000 events."""
    minutes: float
    """Running time."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One line of a table, one curve of a figure: a policy in a world."""

    name: str
    """The last part of its id. It never changes, since result files know the setting by it."""
    label: str
    """Its name in tables and figures."""
    world: Made
    """A data set by its name, or a synthetic world."""
    policy: Made
    """The policy, without its sizes and its seed: those come from the world and the trial."""
    family: str = ""
    """Beginning of the label that it shares with other settings; families are drawn side by side."""
    published: Published | None = None
    """The paper's numbers for it."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Settings that are compared with one another; the first is the smoke test of all."""

    id: str
    """A group and a name, 'paper/covtype'; its settings are 'paper/covtype/uniform' and so on."""
    title: str
    """Subject of the comparison, in a few words."""
    shows: str
    """Which table or figure of the paper it makes again, or what is to be seen."""
    settings: tuple[Setting, ...]
    beside: str = ""
    """Id of another experiment on the same streams, whose results are shown below."""
    chart: Literal["policies", "levels", "dots"] = "policies"
    """Kind of figure: curves of policies, curves of levels from low to high, or one dot per setting."""
    n_events: int = 10_000_000
    """Events of a trial, unless told otherwise."""
    n_trials: int = 10
    """Trials of a setting, unless told otherwise."""

    def setting_id(self, setting: Setting) -> str:
        """Return the id of a setting."""
        return f"{self.id}/{setting.name}"
