"""The endpoints that only read: how the service is doing, what it knows, and why it decided as it did."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct

from bandit_forest.bandit import Bandit
from bandit_forest.bandit.file import pack_bandit
from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.errors import ServiceError, StorageError
from bandit_forest.service.http.messages import LaterReply, Reply, Response
from bandit_forest.service.http.metrics import CONTENT_TYPE, Measures, exposition
from bandit_forest.service.operations.evaluation import evaluation
from bandit_forest.service.operations.explain import explain
from bandit_forest.service.operations.requests import invalid
from bandit_forest.service.operations.results import Evaluation
from bandit_forest.service.operations.status import Status, recent_events, status

__all__ = ["Event", "Events", "Health", "Importance", "ReadEndpoint", "read_endpoints"]


class Health(Struct):
    """Whether the process lives, or takes decisions."""

    status: str


class Event(Struct):
    """An event; more is told where more is known."""

    event_id: str
    time: float
    action: str
    propensity: float
    state: str
    reward: float | None


class Events(Struct):
    """Events, newest first."""

    events: list[Event]


class Share(Struct):
    """The importance of a variable or a feature."""

    name: str
    importance: float


class Importance(Struct):
    """Shares that sum to one, once there is a split; largest first."""

    features: list[Share]
    variables: list[Share]


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
    bandit = service.bandit
    return [
        ReadEndpoint(
            "/healthz", "Say that the process lives", lambda _: Reply(Health("alive")), Health, is_public=True
        ),
        ReadEndpoint(
            "/readyz",
            "Say whether decisions are taken",
            lambda _: _ready(service),
            Health,
            ("storage_unavailable", "too_stale"),
            is_public=True,
        ),
        ReadEndpoint(
            "/metrics",
            "Measure for Prometheus",
            lambda _: _metrics(service, measures),
            "text/plain",
        ),
        ReadEndpoint("/v1/status", "Return how the service is doing", lambda _: Reply(status(service)), Status),
        ReadEndpoint(
            "/v1/evaluation",
            "Estimate what uniform play, and in shadow mode the forest, would have earned",
            lambda _: _evaluation(service),
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
            "Return what is known of an event, and how the forest sees its context",
            lambda event_id: Reply(explain(service, event_id)),
            Event,
            ("unknown_event", "invalid_request"),
        ),
        ReadEndpoint(
            "/v1/importance",
            "Return which features and variables matter",
            lambda _: _importance(bandit),
            Importance,
            ("warming_up",),
        ),
        ReadEndpoint(
            "/v1/tree/{number}.svg",
            "Draw a tree",
            lambda number: _tree(bandit, number),
            "image/svg+xml",
            ("not_found", "warming_up", "invalid_request"),
        ),
        ReadEndpoint(
            "/v1/model",
            "Download everything that was learned, for Bandit.load",
            lambda _: _model(bandit),
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
    return LaterReply(lambda: _shown(exposition(told, make(), measures), CONTENT_TYPE))


def _evaluation(service: ServiceContext) -> Reply:
    make = evaluation(service)
    return LaterReply(lambda: Reply(make()).response())


def _importance(bandit: Bandit) -> Reply:
    _check_warm(bandit)
    forest = bandit.forest("importance")

    def make() -> Response:
        shares = zip(forest.variable_names, forest.variable_importance().tolist(), strict=True)
        variables = [Share(*share) for share in sorted(shares, key=lambda share: -share[1])]
        features = [Share(*share) for share in bandit.importance().items()]
        return Reply(Importance(features, variables)).response()

    return LaterReply(make)


def _tree(bandit: Bandit, text: str) -> Reply:
    _check_warm(bandit)
    n_trees = bandit.forest("tree").n_trees
    if not text.isascii() or not text.isdigit():
        raise invalid("$.number", "the number of a tree", text)
    number = int(text)
    if number >= n_trees:
        raise ServiceError("not_found", f"There are trees 0 to {n_trees - 1}.", path="$.number")
    return LaterReply(lambda: _shown(bandit.tree(number).to_svg().encode(), "image/svg+xml"))


def _model(bandit: Bandit) -> Reply:
    _check_warm(bandit)
    parts = bandit.parts()
    more = 'content-disposition: attachment; filename="model.bandit"\r\n'
    return LaterReply(lambda: _shown(pack_bandit(parts), "application/octet-stream", more))


def _check_warm(bandit: Bandit) -> None:
    if bandit.policy is None:
        left = bandit.model.warm_up_left
        raise ServiceError(
            "warming_up", f"The forest is made after {left} more lessons, from which the features are learned."
        )


def _shown(content: bytes, media_type: str, more: str = "") -> Response:
    return Response(content, 200, f"content-type: {media_type}\r\n{more}".encode())
