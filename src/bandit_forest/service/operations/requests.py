"""Types of requests: a request is parsed and checked once, and its schema comes from the same types."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, defstruct
from msgspec.structs import astuple, fields

from bandit_forest.bandit.action_registry import LONGEST_NAME

__all__ = [
    "ActionRequest",
    "ContextValues",
    "DecideRequest",
    "EventId",
    "LearnOfferedRequest",
    "LearnRequest",
    "OfferedId",
    "Propensity",
    "RankRequest",
    "Request",
    "RewardRequest",
    "with_typed_context",
]

Name = Annotated[
    str, Meta(min_length=1, max_length=LONGEST_NAME, extra_json_schema={"format": "printable"}, title="Name")
]
EventId = Name
OfferedId = Name | Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Propensity = Annotated[float, Meta(gt=0, le=1)]
Whole = Annotated[float, Meta(ge=1, extra_json_schema={"type": "integer"})]  # JSON does not tell 2.0 from 2
_ESCAPED = re.compile(r'["\\\x00-\x1f]')  # characters that a type cannot have in its names
_MOST_FEATURES = 128  # a type compares names one after the other, which takes long where they come in another order


class Request(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A request: an unknown field is refused."""


class DecideRequest(Request, frozen=True, kw_only=True):
    """An event to decide, alone or in a batch."""

    context: dict[str, Any]
    available_actions: Annotated[list[str], Meta(min_length=1)] | None = None
    """Names of the actions that may be taken; None: all that are enabled."""
    event_id: EventId | None = None
    """None: a new one is made."""
    action: str | None = None
    """In shadow mode, and only there: what the application has chosen."""
    propensity: Propensity | None = None
    """In shadow mode: the probability with which it has; None: 1."""
    mean_rewards: bool = False
    """Whether to tell the estimates."""


class RewardRequest(Request, frozen=True):
    """The reward of an event."""

    event_id: EventId
    reward: float


class LearnRequest(Request, frozen=True, kw_only=True):
    """An event that was decided elsewhere."""

    context: dict[str, Any]
    action: str
    reward: float
    propensity: Propensity
    event_id: EventId | None = None


class RankRequest(Request, frozen=True, kw_only=True):
    """An event with the actions that it offers."""

    context: dict[str, Any]
    actions: Annotated[list[dict[str, Any]], Meta(min_length=1)]
    """The offered actions: each with its `id`, a text or an int, and its features."""
    event_id: EventId | None = None
    """None: a new one is made."""
    n_ranked: Whole | None = None
    """Largest number of ranks that are answered; None: all offered actions are."""
    mean_rewards: bool = False


class LearnOfferedRequest(Request, frozen=True, kw_only=True):
    """An event that was decided elsewhere, with the action that was taken: its `id` and its features."""

    context: dict[str, Any]
    action: dict[str, Any]
    reward: float
    propensity: Propensity
    event_id: EventId | None = None


class ActionRequest(Request, frozen=True):
    """An action by name."""

    name: Name


class ContextValues(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The values of all features, sorted by name; UNSET where there is none."""

    def as_dict(self) -> dict[str, Any]:
        """Return the values that are there, by name."""
        values = zip(self.__struct_encode_fields__, astuple(self), strict=True)
        return {name: value for name, value in values if value is not UNSET}


def with_typed_context(kind: type[Request], features: Collection[str]) -> type[Struct]:
    """Return the type of a request with the features as the type of its context, where that is possible and of use.

    A dict of a hundred values takes three times as long to be parsed, and its names are still to be sorted for the
    journal. The type knows names only: what a value may be, the bandit says.

    Examples
    --------
    >>> import msgspec
    >>> kind = with_typed_context(DecideRequest, ["member", "age"])
    >>> request = msgspec.json.decode('{"context": {"member": true}}', type=kind)
    >>> msgspec.structs.astuple(request.context), msgspec.json.encode(request.context)
    ((UNSET, True), b'{"member":true}')
    """
    if not any(field.name == "context" for field in fields(kind)):
        return kind
    if len(features) > _MOST_FEATURES or any(map(_ESCAPED.search, features)):
        return kind
    names = {f"feature_{number}": name for number, name in enumerate(sorted(features))}
    values: list[tuple[str, Any, Any]] = [(field, Any, UNSET) for field in names]
    context = defstruct("Context", values, bases=(ContextValues,), rename=names)
    return defstruct(kind.__name__, [("context", context)], bases=(kind,), kw_only=True)
