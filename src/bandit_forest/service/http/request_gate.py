"""The outermost layer: it admits, limits, and takes the requests of every event around the framework."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic, perf_counter

from starlette.types import ASGIApp, Receive, Scope, Send

from bandit_forest.service.errors import ServiceError
from bandit_forest.service.http.authentication import Access
from bandit_forest.service.http.handlers import Handler
from bandit_forest.service.http.metrics import Histogram, Measures
from bandit_forest.service.http.request_body import limited, parse_json, read_body
from bandit_forest.service.http.responses import Reply, refusal, send_answer, settled

__all__ = ["Gate", "JsonEndpoint"]

Headers = Mapping[bytes, bytes]


class JsonEndpoint:
    """Takes JSON and gives the reply, to be sent once everything that it tells is durable.

    Parameters
    ----------
    handler
        What the request means.
    latency
        Where its time is counted.
    """

    def __init__(self, handler: Handler, latency: Histogram) -> None:
        self.latency = latency
        self._handler = handler

    def __call__(self, headers: Headers, body: bytes | bytearray) -> Reply:
        """Do what a request asks for, or raise the refusal."""
        return self._handler(parse_json(headers, body))


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
        self.shortcuts = shortcuts
        self.body_bytes = body_bytes
        self._app = app
        self._access = access
        self.measures = measures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, as an ASGI application."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        path = scope["path"]
        endpoint = self.shortcuts.get(path) if scope["method"] == "POST" else None
        began = perf_counter()
        try:
            self._access.admit(path, headers.get(b"authorization"), monotonic())
            receive = limited(receive, headers, self.body_bytes)
            if endpoint is None:
                await self._app(scope, receive, send)
                return
            reply = endpoint(headers, await read_body(receive))
        except ServiceError as error:
            reply = refusal(error)
        answer = await settled(reply)
        self.measures.count(answer)
        if endpoint is not None:
            endpoint.latency.observe(perf_counter() - began)
        await send_answer(send, answer)

    def reply(self, path: str, headers: Headers, body: bytes | bytearray) -> Reply:
        """Do what a request with a shortcut asks for, or refuse it."""
        try:
            self._access.admit(path, headers.get(b"authorization"), monotonic())
            return self.shortcuts[path](headers, body)
        except ServiceError as error:
            return refusal(error)
