"""The endpoints that take JSON by POST: an operation, with the types of its request and of its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

import msgspec

from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.errors import InvalidRequestError, ServiceError, invalid_type
from bandit_forest.service.http.messages import Reply, Request
from bandit_forest.service.operations import actions, decide, rank, reward
from bandit_forest.service.operations.requests import with_typed_context
from bandit_forest.service.operations.results import Result

__all__ = ["ENDPOINTS", "OFFERED_ENDPOINTS", "Endpoint", "JsonEndpoint"]

_NOT_JSON = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


@dataclass(frozen=True)
class Endpoint:
    """A path, its operation, and the codes of its refusals; for a batch also the name of its list."""

    path: str
    operation: Callable[[ServiceContext, Any], Result[Any]]
    codes: tuple[str, ...] = ()
    items: str | None = None

    @property
    def summary(self) -> str:
        """Summary of the operation."""
        return (self.operation.__doc__ or "").partition("\n")[0].partition(":")[0].rstrip(".")

    @property
    def request(self) -> Any:
        """The type of the request, or of an item of a batch."""
        hints = get_type_hints(self.operation)
        return hints["request"] if self.items is None else get_args(get_args(hints["items"])[0])[0]

    @property
    def answer(self) -> Any:
        """The type of the answer."""
        return get_args(get_type_hints(self.operation)["return"])[0]

    def batch_of(self, item: Any) -> Any:
        """Return the type of a batch of items."""
        assert self.items is not None
        name = f"{self.request.__name__}Batch"
        return msgspec.defstruct(name, [(self.items, list[item])], forbid_unknown_fields=True, frozen=True)


_DECIDE_CODES = ("too_many_waiting", "event_conflict")
_LEARN_CODES = ("duplicate_reward", "event_conflict", "late_reward")
_REWARD_ENDPOINTS = (
    Endpoint("/v1/reward", reward.reward, ("unknown_event", "late_reward", "duplicate_reward")),
    Endpoint("/v1/reward/batch", reward.reward_many, items="rewards"),
)
ENDPOINTS = (
    Endpoint("/v1/decide", decide.decide, _DECIDE_CODES),
    Endpoint("/v1/decide/batch", decide.decide_many, items="events"),
    *_REWARD_ENDPOINTS,
    Endpoint("/v1/learn", reward.learn, _LEARN_CODES),
    Endpoint("/v1/learn/batch", reward.learn_many, items="events"),
    Endpoint("/v1/actions/add", actions.add_action, ("action_conflict", "no_capacity")),
    Endpoint("/v1/actions/disable", actions.disable_action, ("unknown_action", "action_conflict")),
    Endpoint("/v1/actions/enable", actions.enable_action, ("unknown_action", "action_conflict")),
    Endpoint("/v1/actions/remove", actions.remove_action, ("unknown_action", "action_conflict")),
)
"""What a project with fixed actions answers."""
OFFERED_ENDPOINTS = (
    Endpoint("/v1/rank", rank.rank, (*_DECIDE_CODES, "action_conflict")),
    Endpoint("/v1/rank/batch", rank.rank_many, items="events"),
    *_REWARD_ENDPOINTS,
    Endpoint("/v1/learn", reward.learn_offered, _LEARN_CODES),
    Endpoint("/v1/learn/batch", reward.learn_offered_many, items="events"),
)
"""What a project with offered actions answers."""


class JsonEndpoint:
    """An endpoint of a service: JSON in, a reply out.

    Parameters
    ----------
    endpoint
        Its types and its operation.
    service
        Service that the operation is applied to.
    """

    def __init__(self, endpoint: Endpoint, service: ServiceContext) -> None:
        self._operation = endpoint.operation
        self._service = service
        self._items = endpoint.items
        kind = endpoint.request
        typed = kind if service.project.is_offered else with_typed_context(kind, service.project.context)
        self._decode_one = msgspec.json.Decoder(kind).decode
        self._decode = msgspec.json.Decoder(typed if endpoint.items is None else endpoint.batch_of(typed)).decode
        if endpoint.items is not None:
            self._decode_raw = msgspec.json.Decoder(endpoint.batch_of(msgspec.Raw)).decode

    def __call__(self, request: Request) -> Reply:
        """Execute a request, or raise its refusal."""
        if not request.headers.get(b"content-type", b"").startswith(b"application/json"):
            raise ServiceError(
                "unsupported_media_type", "The body must be JSON: send the header 'content-type: application/json'."
            )
        try:
            asked = self._request(request.body) if self._items is None else self._batch(request.body)
        except msgspec.ValidationError as error:
            raise invalid_type(error) from None
        except _NOT_JSON as error:
            raise ServiceError("invalid_json", f"The body is not JSON: {error}.") from None
        return Reply(*self._operation(self._service, asked))

    def _request(self, body: bytes) -> Any:
        """Return a request; what its typed context has no place for is refused by the bandit, with the nearest name."""
        try:
            return self._decode(body)
        except msgspec.ValidationError:
            return self._decode_one(body)

    def _batch(self, body: bytes) -> Any:
        """Return the items of a batch; when one is not of its type, each is read or refused on its own."""
        field = f"$.{self._items}"
        try:
            items = getattr(self._decode(body), str(self._items))
        except msgspec.ValidationError as error:
            if f"`{field}[" not in str(error):
                raise
            raw: list[msgspec.Raw] = getattr(self._decode_raw(body), str(self._items))
            items = list(self._each(raw, field))
        most = self._service.project.limits.batch_events
        if len(items) > most:
            raise InvalidRequestError(f"'{field}' must have at most {most} items. It has {len(items)}.", path=field)
        return items

    def _each(self, items: list[msgspec.Raw], field: str) -> Iterator[Any]:
        for number, item in enumerate(items):
            place = f"{field}[{number}]"
            try:
                yield self._decode_one(item)
            except msgspec.ValidationError as error:
                yield invalid_type(error).within(place)
            except _NOT_JSON as error:
                yield InvalidRequestError(f"'{place}' is not JSON: {error}.", path=place)
