"""The outermost layer: it admits, limits, and takes the requests of every event around the framework."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic, perf_counter

import orjson
from starlette.types import ASGIApp, Receive, Scope, Send

from bandit_forest.service.answers import Answer, refusal, send_answer, settled
from bandit_forest.service.bodies import limited, read_json
from bandit_forest.service.handlers import Handler
from bandit_forest.service.metrics import Histogram, Measures
from bandit_forest.service.refusals import ServiceError
from bandit_forest.service.security import Access

__all__ = ["Gate", "JsonEndpoint"]


class JsonEndpoint:
    """Takes JSON and gives JSON, once everything that the answer tells is durable.

    Parameters
    ----------
    handler
        What the request means.
    latency
        Where its time is counted.
    """

    def __init__(self, handler: Handler, latency: Histogram) -> None:
        self._handler = handler
        self._latency = latency

    async def __call__(self, receive: Receive, headers: Mapping[bytes, bytes]) -> Answer:
        """Answer a request, or raise the refusal."""
        began = perf_counter()
        document, commits = self._handler(await read_json(receive, headers))
        for commit in commits:
            if not await commit:
                document["durable"] = False
        answer = Answer(200, orjson.dumps(document))
        self._latency.observe(perf_counter() - began)
        return answer


class Gate:
    """Admits a request, limits what is read of it, and answers it or hands it on.

    Routing, dependencies and response objects of the framework take more than half of the time of a small request.
    Applications decide and reward for every event, so these requests take a shortcut to their endpoint.

    Parameters
    ----------
    app
        Everything that has no shortcut.
    shortcuts
        The endpoint of a path, for POST.
    access
        Who may ask for what.
    body_bytes
        Most bytes of a body.
    measures
        Where refusals are counted.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        shortcuts: Mapping[str, JsonEndpoint],
        access: Access,
        body_bytes: int,
        measures: Measures,
    ) -> None:
        self._app = app
        self._shortcuts = shortcuts
        self._access = access
        self._body_bytes = body_bytes
        self._measures = measures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, as an ASGI application."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        path = scope["path"]
        try:
            self._access.admit(path, headers.get(b"authorization"), monotonic())
            receive = limited(receive, headers, self._body_bytes)
            endpoint = self._shortcuts.get(path) if scope["method"] == "POST" else None
            if endpoint is None:
                await self._app(scope, receive, send)
                return
            answer = await endpoint(receive, headers)
        except ServiceError as error:
            answer = refusal(await settled(error))
            self._measures.refusals[error.code] += 1
        await send_answer(send, answer)
