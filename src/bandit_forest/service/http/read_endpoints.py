"""The endpoints that only read: status, stored events, explanations and the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct

from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.errors import ServiceError, StorageError
from bandit_forest.service.http.messages import LaterReply, Reply
from bandit_forest.service.http.metrics import CONTENT_TYPE, Measures, exposition
from bandit_forest.service.http.model_endpoints import Importance, importance, model, raw_response, tree
from bandit_forest.service.operations.evaluation import evaluation
from bandit_forest.service.operations.explain import explain, explain_offer, recent_events
from bandit_forest.service.operations.results import Evaluation
from bandit_forest.service.operations.status import Status, status

__all__ = ["Event", "Events", "Health", "ReadEndpoint", "read_endpoints"]


class Health(Struct):
    """State of the process: alive, or ready to decide."""

    status: str


class Event(Struct):
    """An event; there are more fields if more is known."""

    event_id: str
    time: float
    action: str | int
    propensity: float
    state: str
    reward: float | None


class Events(Struct):
    """Events, newest first."""

    events: list[Event]


class ReadEndpoint(NamedTuple):
    """A path that is read by GET; a part in braces is its argument."""

    path: str
    summary: str
    answer: Callable[[str], Reply]
    shape: type[Struct] | str
    """The type of the answer, or its media type where it is not JSON."""
    codes: tuple[str, ...] = ()
    is_public: bool = False


def read_endpoints(service: ServiceContext, measures: Measures) -> list[ReadEndpoint]:
    """Return all that only reads."""
    kind = type(service.state.learner).__name__
    return [
        ReadEndpoint(
            "/healthz", "Return whether the process lives", lambda _: Reply(Health("alive")), Health, is_public=True
        ),
        ReadEndpoint(
            "/readyz",
            "Return whether decisions are taken",
            lambda _: _ready(service),
            Health,
            ("storage_unavailable", "too_stale"),
            is_public=True,
        ),
        ReadEndpoint(
            "/metrics",
            "Return all metrics, for Prometheus",
            lambda _: _metrics(service, measures),
            "text/plain",
        ),
        ReadEndpoint("/v1/status", "Return the status of the service", lambda _: Reply(status(service)), Status),
        ReadEndpoint(
            "/v1/evaluation",
            "Return the estimated reward of uniform play, and in shadow mode of the forest",
            lambda _: LaterReply(evaluation(service)),
            Evaluation,
        ),
        ReadEndpoint(
            "/v1/recent",
            "Return the last decisions, newest first",
            lambda _: Reply({"events": recent_events(service)}),
            Events,
        ),
        ReadEndpoint(
            "/v1/explain/{event_id}",
            "Return the stored data of an event, and an explanation of its context by the present forest",
            lambda event_id: _explain(service, event_id),
            Event,
            ("unknown_event", "invalid_request"),
        ),
        ReadEndpoint(
            "/v1/importance",
            "Return the importance of features and variables",
            lambda _: importance(service),
            Importance,
            ("warming_up",),
        ),
        ReadEndpoint(
            "/v1/tree/{number}.svg",
            "Draw a tree",
            lambda number: tree(service, number),
            "image/svg+xml",
            ("not_found", "warming_up", "invalid_request"),
        ),
        ReadEndpoint(
            "/v1/model",
            f"Download the saved model, for {kind}.load",
            lambda _: model(service),
            "application/octet-stream",
            ("warming_up",),
        ),
    ]


def _ready(service: ServiceContext) -> Reply:
    if service.failing and service.project.storage.full_disk == "refuse":
        raise StorageError("The journal cannot be written: new work is refused until it can.")
    most = service.project.storage.max_staleness_seconds
    if service.staleness is not None and service.staleness > most:
        message = f"This replica last knew all lessons {service.staleness:.1f} seconds ago, more than {most:g}."
        raise ServiceError("too_stale", message)
    return Reply(Health("ready"))


def _metrics(service: ServiceContext, measures: Measures) -> Reply:
    told, make = status(service), evaluation(service)
    return LaterReply(lambda: raw_response(exposition(told, make(), measures), CONTENT_TYPE))


def _explain(service: ServiceContext, event_id: str) -> Reply:
    if service.project.is_offered:
        return LaterReply(explain_offer(service, event_id))
    return Reply(explain(service, event_id))
