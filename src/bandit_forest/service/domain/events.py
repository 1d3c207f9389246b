"""An event as the service remembers it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import astuple, replace

from bandit_forest.bandit.model import Lesson
from bandit_forest.bandit.pairs.model import PairLesson
from bandit_forest.service.domain.offers import EventOffer

__all__ = ["EXPIRED", "LEARNED", "REWARDED", "WAITING", "AnyLesson", "Event"]

AnyLesson = Any  # Lesson or PairLesson, as the bandit takes it

WAITING, REWARDED, EXPIRED, LEARNED = "waiting", "rewarded", "expired", "learned"


class Event(Struct, frozen=True, gc=False):  # a collection of garbage would look at 200,000 of them
    """An event: never changed, only replaced, so a snapshot can be written while the service runs."""

    event_id: str
    time: float
    """When it was decided, or learned if it was decided elsewhere."""
    context: bytes | dict[str, Any]
    """Encoded context, one byte per variable; the mapping as given while features are learned."""
    action: int
    """Its index; of an event with an offer, its place there."""
    propensity: float
    n_available: int
    """Number of actions that could have been taken."""
    model_version: int
    state: str = WAITING
    reward: float | None = None
    """In the project's units."""
    reward_time: float | None = None
    forest_action: int | None = None
    forest_propensity: float | None = None
    forest_value: float | None = None
    fingerprint: int = 0
    """Of the request that decided it, or that it was learned from."""
    offer: EventOffer | None = None
    """The offered actions and their ranking; None where actions are fixed."""

    def ended(self, state: str, reward: float | None, time: float) -> Event:
        """Return the event after its wait."""
        return replace(self, state=state, reward=reward, reward_time=time)

    def lesson(self, reward: float) -> AnyLesson:
        """Return the lesson of the event; its reward is in [0, 1]."""
        offer, chosen = self.offer, self.action
        if offer is None:
            return Lesson(self.context, chosen, reward, self.propensity)
        return PairLesson(self.context, offer.actions[chosen], offer.ids[chosen], reward, self.propensity)

    def remembered(self) -> Event:
        """Return the event without the actions that were offered, which take much memory."""
        return self if self.offer is None else replace(self, offer=self.offer._replace(actions=[]))

    def to_json(self) -> list[Any]:
        """Return a list that JSON can hold."""
        parts = [part.hex() if isinstance(part, bytes) else part for part in astuple(self)[:-1]]
        return parts if self.offer is None else [*parts, self.offer.to_json()]

    @classmethod
    def from_json(cls, parts: list[Any]) -> Event:
        """Return what `to_json` gave.

        Examples
        --------
        >>> event = Event("e1", 1.5, bytes([0, 1]), 2, 0.25, 4, 0)
        >>> Event.from_json(event.to_json()) == event
        True
        """
        event = cls(*parts)
        if isinstance(event.context, str):
            event = replace(event, context=bytes.fromhex(event.context))
        return event if event.offer is None else replace(event, offer=EventOffer.from_json(parts[-1]))
