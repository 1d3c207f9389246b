"""The offer of an event, in memory and in the journal."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import msgspec
from msgspec import Struct

from bandit_forest.bandit.pairs.decisions import Read

__all__ = ["EventOffer", "OfferRecord"]


class OfferRecord(Struct, omit_defaults=True, gc=False):
    """The offer of an event in the journal, in its column `available`."""

    actions: msgspec.Raw
    """The offered actions: a list of mappings, whose names are sorted."""
    propensities: list[float]
    """The probability with which each would have had the first rank."""
    order: list[int]
    """The places of all actions in the order that was drawn."""
    n_ranked: int | None = None
    """Largest number of ranks that was asked for."""

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the record of the JSON in the journal.

        Examples
        --------
        >>> text = '{"actions":[{"id":7}],"propensities":[1.0],"order":[0]}'
        >>> OfferRecord.from_text(text).offered
        [{'id': 7}]
        """
        return msgspec.json.decode(text, type=cls)

    @property
    def offered(self) -> list[dict[str, Any]]:
        """The offered actions."""
        return msgspec.json.decode(self.actions, type=list[dict[str, Any]])


class EventOffer(NamedTuple):
    """The offer of an event, and how it was ranked."""

    ids: list[str | int]
    """The ids of the offered actions."""
    actions: list[Read]
    """Their checked features; empty once the event is over."""
    propensities: list[float]
    """The probability with which each would have had the first rank."""
    ranked: list[int]
    """The places of the ranked actions, as many as were asked for, the first rank first."""

    def to_json(self) -> list[Any]:
        """Return a list that JSON can hold."""
        actions = [action.hex() if isinstance(action, bytes) else action for action in self.actions]
        return [self.ids, actions, self.propensities, self.ranked]

    @classmethod
    def from_json(cls, parts: list[Any]) -> Self:
        """Return what `to_json` gave.

        Examples
        --------
        >>> offer = EventOffer(["a", 7], [bytes([1]), {"price": 2.5}], [0.25, 0.75], [1])
        >>> EventOffer.from_json(offer.to_json()) == offer
        True
        """
        offer = cls(*parts)
        return offer._replace(actions=[bytes.fromhex(one) if isinstance(one, str) else one for one in offer.actions])
