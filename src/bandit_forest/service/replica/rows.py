"""Rows of the tables, as this package reads and writes them."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["DecisionRow", "LessonRow", "OutcomeRow"]


class DecisionRow(NamedTuple):
    """A decision; its time is the database's."""

    event_id: str
    kind: str
    version: int
    model_version: int
    action: str
    propensity: float
    n_available: int
    fingerprint: int
    context: str
    available: str | None = None
    forest_action: str | None = None
    forest_propensity: float | None = None
    forest_value: float | None = None


class OutcomeRow(NamedTuple):
    """The end of an event: its reward, its expiry, or that it was learned from elsewhere."""

    event_id: str
    kind: str
    reward: float | None


class LessonRow(NamedTuple):
    """A lesson, with the decision that it is about."""

    version: int
    time: float
    kind: str
    event_id: str | None
    reward: float | None
    action: str | None
    """The action that was taken; or that was added, disabled, enabled or removed."""
    available: str | None
    decided: float
    """Time at which its event was decided."""
    model_version: int
    propensity: float
    n_available: int
    fingerprint: int
    context: str
    forest_action: str | None
    forest_propensity: float | None
    forest_value: float | None
