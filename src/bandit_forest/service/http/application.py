"""The HTTP service: endpoints, their description, and the gate in front of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from bandit_forest import __version__
from bandit_forest.service.dashboard.files import page_files, page_router
from bandit_forest.service.decider import Decider
from bandit_forest.service.errors import InvalidRequestError, ServiceError
from bandit_forest.service.http.authentication import Access, Role, role_needed
from bandit_forest.service.http.background import upkeep
from bandit_forest.service.http.endpoints import OPERATIONS, described
from bandit_forest.service.http.handlers import make_handlers
from bandit_forest.service.http.metrics import Measures
from bandit_forest.service.http.read_endpoints import NotFoundError, make_router
from bandit_forest.service.http.request_gate import Gate, JsonEndpoint
from bandit_forest.service.http.responses import Answer, refusal, settled
from bandit_forest.service.http.schemas import make_schemas

__all__ = ["make_app"]


class MethodNotAllowedError(ServiceError):
    """There is something at this place, but not for this method."""

    code = "method_not_allowed"


def make_app(decider: Decider) -> Gate:
    """Make the ASGI application of a decider; when it is shut down, it closes the decider.

    Parameters
    ----------
    decider
        The state and its rules.
    """
    project, measures, pages = decider.project, Measures(), page_files()
    public = frozenset({"/healthz", "/readyz", *pages})
    endpoints = {
        path: JsonEndpoint(handler, measures.latency_of(path)) for path, handler in make_handlers(decider).items()
    }
    app = _DescribedApp(decider, public)
    for operation in OPERATIONS:
        endpoint = _in_framework(endpoints[operation.path])
        app.add_api_route(operation.path, endpoint, methods=["POST"], **described(operation))
    app.include_router(make_router(decider, measures))
    app.include_router(page_router(pages))
    _refuse_in_one_shape(app, measures)
    access = Access(project.keys, requests_per_second=project.limits.requests_per_second, public=public)
    return Gate(app, shortcuts=endpoints, access=access, body_bytes=project.limits.body_bytes, measures=measures)


class _DescribedApp(FastAPI):
    """Endpoints with a description that is made for the project."""

    def __init__(self, decider: Decider, public: frozenset[str]) -> None:
        super().__init__(
            title=f"{decider.project.name}: decisions",
            version=__version__,
            docs_url=None,  # its page would load scripts from elsewhere
            redoc_url=None,
            lifespan=_lifespan(decider),
        )
        self._decider = decider
        self._public = public

    def openapi(self) -> dict[str, Any]:
        """Describe the endpoints, with the actions that are enabled now."""
        document = super().openapi()
        project = self._decider.project
        enabled = [action.name for action in self._decider.status().actions if action.state == "enabled"]
        document.setdefault("components", {})["schemas"] = make_schemas(project, enabled)
        if project.keys.decide or project.keys.admin:
            self._describe_keys(document)
        return document

    def _describe_keys(self, document: dict[str, Any]) -> None:
        document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        for path, operations in document["paths"].items():
            if role_needed(path, self._public) is not Role.PUBLIC:
                for operation in operations.values():
                    operation["security"] = [{"key": []}]


def _lifespan(decider: Decider) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(upkeep(decider))
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            decider.close()

    return lifespan


def _in_framework(endpoint: JsonEndpoint) -> Callable[[Request], Awaitable[Response]]:
    """Make an endpoint that the framework can describe and call."""

    async def answer(request: Request) -> Response:
        return _response(await settled(endpoint(dict(request.scope["headers"]), await request.body())))

    return answer


def _refuse_in_one_shape(app: FastAPI, measures: Measures) -> None:
    """Let everything that the framework refuses look like everything else that is refused."""

    @app.exception_handler(ServiceError)
    async def refused(_: Request, error: ServiceError) -> Response:
        answer = await settled(refusal(error))
        measures.count(answer)
        return _response(answer)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"][1:]))
        return await refused(request, InvalidRequestError(f"'$.{place}': {first['msg']}.", path=f"$.{place}"))

    @app.exception_handler(HTTPException)
    async def not_there(request: Request, error: HTTPException) -> Response:
        if error.status_code == 405:
            response = await refused(request, MethodNotAllowedError(f"{request.method} is not allowed here."))
        else:
            response = await refused(request, NotFoundError("There is nothing here; see /openapi.json."))
        response.headers.update(error.headers or {})
        return response


def _response(answer: Answer) -> Response:
    response = Response(answer.body, status_code=answer.status)
    response.raw_headers = answer.headers
    return response
