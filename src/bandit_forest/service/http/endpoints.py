"""The endpoints: what may be asked for, by which type of request, and what may be answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from bandit_forest.service.domain.service_context import ServiceContext
from bandit_forest.service.errors import (
    InvalidJsonError,
    InvalidRequestError,
    MediaTypeError,
)
from bandit_forest.service.http.messages import Request
from bandit_forest.service.http.replies import Reply
from bandit_forest.service.operations import actions, reward
from bandit_forest.service.operations.decide import decide, decide_many
from bandit_forest.service.operations.requests import (
    ActionRequest,
    DecideBatchRequest,
    DecideItem,
    DecideRequest,
    LearnBatchRequest,
    LearnRequest,
    RewardBatchRequest,
    RewardRequest,
    invalid_type,
)
from bandit_forest.service.operations.results import (
    ActionChange,
    Decision,
    DecisionBatch,
    Learned,
    LearnedBatch,
    Result,
    Rewarded,
    RewardedBatch,
)

__all__ = ["ENDPOINTS", "Endpoint", "JsonEndpoint"]

Operation = Callable[[ServiceContext, Any], Result[Any]]
_ACTION_CODES = ("unknown_action", "action_conflict")


class Endpoint(NamedTuple):
    """A path that takes JSON by POST: its types, its operation, and the codes of its refusals."""

    path: str
    summary: str
    request: type[msgspec.Struct]
    answer: type[msgspec.Struct]
    operation: Operation
    codes: tuple[str, ...] = ()
    item: type[msgspec.Struct] | None = None
    """Of a batch: what each item is read as."""
    item_answer: type[msgspec.Struct] | None = None
    """Of a batch: what each item is answered with."""


ENDPOINTS = (
    Endpoint(
        "/v1/decide",
        "Choose an action for one event",
        DecideRequest,
        Decision,
        decide,
        ("too_many_waiting", "event_conflict"),
    ),
    Endpoint(
        "/v1/decide/batch",
        "Choose an action for each event",
        DecideBatchRequest,
        DecisionBatch,
        decide_many,
        item=DecideItem,
        item_answer=Decision,
    ),
    Endpoint(
        "/v1/reward",
        "Tell the reward of an event",
        RewardRequest,
        Rewarded,
        reward.reward,
        ("unknown_event", "late_reward", "duplicate_reward"),
    ),
    Endpoint(
        "/v1/reward/batch",
        "Tell the rewards of events",
        RewardBatchRequest,
        RewardedBatch,
        reward.reward_many,
        item=RewardRequest,
        item_answer=Rewarded,
    ),
    Endpoint(
        "/v1/learn",
        "Learn an event that was decided elsewhere",
        LearnRequest,
        Learned,
        reward.learn,
        ("duplicate_reward", "event_conflict", "late_reward"),
    ),
    Endpoint(
        "/v1/learn/batch",
        "Learn events that were decided elsewhere",
        LearnBatchRequest,
        LearnedBatch,
        reward.learn_many,
        item=LearnRequest,
        item_answer=Learned,
    ),
    Endpoint(
        "/v1/actions/add",
        "Add an action",
        ActionRequest,
        ActionChange,
        actions.add_action,
        ("action_conflict", "no_capacity"),
    ),
    Endpoint(
        "/v1/actions/disable",
        "Take an action out of play for now",
        ActionRequest,
        ActionChange,
        actions.disable_action,
        _ACTION_CODES,
    ),
    Endpoint(
        "/v1/actions/enable",
        "Bring a disabled action back",
        ActionRequest,
        ActionChange,
        actions.enable_action,
        _ACTION_CODES,
    ),
    Endpoint(
        "/v1/actions/remove",
        "Take an action out of play for ever",
        ActionRequest,
        ActionChange,
        actions.remove_action,
        _ACTION_CODES,
    ),
)


class JsonEndpoint:
    """An endpoint of a service: JSON in, a reply out.

    Parameters
    ----------
    endpoint
        Its types and its operation.
    service
        What it is applied to.
    """

    def __init__(self, endpoint: Endpoint, service: ServiceContext) -> None:
        self._endpoint = endpoint
        self._service = service
        self._decode = msgspec.json.Decoder(endpoint.request).decode
        self._decode_item = None if endpoint.item is None else msgspec.json.Decoder(endpoint.item).decode

    def __call__(self, request: Request) -> Reply:
        """Do what a request asks for, or raise the refusal."""
        if not request.headers.get(b"content-type", b"").startswith(b"application/json"):
            raise MediaTypeError("The body must be JSON: send the header 'content-type: application/json'.")
        try:
            asked = self._decode(request.body)
        except msgspec.ValidationError as error:
            raise invalid_type(error) from None
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise InvalidJsonError(f"The body is not JSON: {error}.") from None
        return Reply(
            *self._endpoint.operation(self._service, asked if self._decode_item is None else self._items(asked))
        )

    def _items(self, batch: msgspec.Struct) -> Iterator[Any]:
        """Return the items of a batch, each read or refused on its own."""
        (field,) = batch.__struct_fields__
        items: list[msgspec.Raw] = getattr(batch, field)
        most = self._service.project.limits.batch_events
        if len(items) > most:
            raise InvalidRequestError(
                f"'$.{field}' must have at most {most} items. It has {len(items)}.", path=f"$.{field}"
            )
        return (self._item(item, field, number) for number, item in enumerate(items))

    def _item(self, item: msgspec.Raw, field: str, number: int) -> Any:
        assert self._decode_item is not None
        try:
            return self._decode_item(item)
        except msgspec.ValidationError as error:
            return invalid_type(error).within(f"$.{field}[{number}]")
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            return InvalidRequestError(f"'$.{field}[{number}]' is not JSON: {error}.", path=f"$.{field}[{number}]")
