"""The endpoints that only read: how the service is doing, what it knows, and why it decided as it did."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Path, Response

from bandit_forest.forest import BanditForest
from bandit_forest.service.decider import Decider
from bandit_forest.service.errors import ServiceError, StorageError
from bandit_forest.service.http.endpoints import json_content, refusals
from bandit_forest.service.http.metrics import CONTENT_TYPE, Measures, exposition
from bandit_forest.service.http.schemas import NAME

__all__ = ["NotFoundError", "make_router"]

EventId = Annotated[str, Path(json_schema_extra=NAME)]


class WarmingUpError(ServiceError):
    """The forest is not made yet: bins and values are learned from the first events."""

    code = "warming_up"


class NotFoundError(ServiceError):
    """There is nothing at this place."""

    code = "not_found"


def make_router(decider: Decider, measures: Measures) -> APIRouter:
    """Give the routes of all that only reads."""
    router = APIRouter()

    def forest() -> BanditForest:
        if decider.forest is None:
            raise WarmingUpError("The forest is made when enough events have come to learn the bins from.")
        return decider.forest

    @router.get("/healthz", summary="Say that the process lives", responses=_shown("Health", public=True))
    async def healthz() -> Response:
        return _json({"status": "alive"})

    @router.get(
        "/readyz",
        summary="Say whether decisions are taken",
        responses=_shown("Health", "storage_unavailable", public=True),
    )
    async def readyz() -> Response:
        if decider.failing and decider.project.storage.full_disk == "refuse":
            raise StorageError("The journal cannot be written: new work is refused until it can.")
        return _json({"status": "ready"})

    @router.get(
        "/metrics",
        summary="Measure for Prometheus",
        responses={200: {"description": "Prometheus text format", "content": {"text/plain": {}}}, **refusals()},
    )
    async def metrics() -> Response:
        return Response(exposition(decider.status(), measures), media_type=CONTENT_TYPE)

    @router.get("/v1/status", summary="Tell how the service is doing", responses=_shown("Status"))
    async def status() -> Response:
        shown = decider.status()
        return _json(
            {field.name: getattr(shown, field.name) for field in dataclasses.fields(shown) if field.name != "recent"}
        )

    @router.get("/v1/recent", summary="Tell the last decisions, newest first", responses=_shown("Events"))
    async def recent() -> Response:
        return _json({"events": decider.status().recent})

    @router.get(
        "/v1/explain/{event_id:path}",
        summary="Tell what is known of an event, and how the forest sees its context",
        responses=_shown("Event", "unknown_event", "invalid_request"),
    )
    async def explain(event_id: EventId) -> Response:
        return _json(decider.explain(event_id))

    @router.get("/v1/importance", summary="Tell which variables matter", responses=_shown("Importance", "warming_up"))
    async def importance() -> Response:
        trees = forest()
        shares = (await asyncio.to_thread(trees.variable_importance)).tolist()
        ranked = sorted(zip(trees.variable_names, shares, strict=True), key=lambda pair: -pair[1])
        return _json({"variables": [{"name": name, "importance": share} for name, share in ranked]})

    @router.get(
        "/v1/tree/{number}.svg",
        summary="Draw a tree",
        responses={
            200: {"description": "A drawing", "content": {"image/svg+xml": {"schema": {"type": "string"}}}},
            **refusals("not_found", "warming_up", "invalid_request"),
        },
    )
    async def tree(number: int) -> Response:
        trees = forest()
        if not 0 <= number < trees.n_trees:
            raise NotFoundError(f"There are trees 0 to {trees.n_trees - 1}.", path="$.number")
        drawing = await asyncio.to_thread(lambda: trees.tree(number).to_svg())
        return Response(drawing, media_type="image/svg+xml")

    @router.get(
        "/v1/model",
        summary="Download the forest, for BanditForest.load",
        responses={
            200: {"description": "A saved forest", "content": {"application/octet-stream": {}}},
            **refusals("warming_up"),
        },
    )
    async def model() -> Response:
        forest()
        saved = await asyncio.to_thread(decider.model())
        name = {"content-disposition": 'attachment; filename="model.forest"'}
        return Response(saved, media_type="application/octet-stream", headers=name)

    return router


def _json(document: Any) -> Response:
    return Response(orjson.dumps(document), media_type="application/json")


def _shown(schema: str, *codes: str, public: bool = False) -> dict[int | str, dict[str, Any]]:
    described = refusals(*codes, always=()) if public else refusals(*codes)
    return {200: {"description": "Told", **json_content(schema)}, **described}
