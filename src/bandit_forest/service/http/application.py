"""The application: a request is admitted, routed, and answered."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.errors import ServiceError
from bandit_forest.service.http.authentication import Access
from bandit_forest.service.http.endpoints import ENDPOINTS, OFFERED_ENDPOINTS, Endpoint, JsonEndpoint
from bandit_forest.service.http.messages import Reply, Request, Response, refuse
from bandit_forest.service.http.metrics import Measures
from bandit_forest.service.http.openapi import describe
from bandit_forest.service.http.pages import read_pages
from bandit_forest.service.http.read_endpoints import ReadEndpoint, read_endpoints

__all__ = ["DecisionApplication"]

_ALL_PATHS = {endpoint.path for endpoint in (*ENDPOINTS, *OFFERED_ENDPOINTS)}


class DecisionApplication:
    """All answers of a service over HTTP.

    Parameters
    ----------
    context
        Of a started service or replica.
    endpoints
        Endpoints of the service; None: those of the project.
    """

    def __init__(self, context: ServiceContext, endpoints: Sequence[Endpoint] | None = None) -> None:
        project = context.project
        if endpoints is None:
            endpoints = OFFERED_ENDPOINTS if project.is_offered else ENDPOINTS
        self._endpoints = endpoints
        self._posts = {endpoint.path: JsonEndpoint(endpoint, context) for endpoint in endpoints}
        self.measures = Measures(self._posts)
        self._gets = {endpoint.path: endpoint for endpoint in read_endpoints(context, self.measures)}
        self._pages = read_pages()
        readable = (path for path, endpoint in self._gets.items() if endpoint.is_public)
        self._public = frozenset({*readable, *self._pages})
        self._access = Access(
            project.keys,
            requests_per_second=project.limits.requests_per_second,
            public=self._public,
            hosts=project.server.known_hosts(with_keys=bool(project.keys.decide or project.keys.admin)),
        )
        self._context = context

    def admit(self, request: Request) -> None:
        """Refuse a request whose head has come."""
        self._access.check_host(request.headers.get(b"host"))
        self._access.admit(request.path, request.headers.get(b"authorization"), request.began)

    def reply(self, request: Request) -> Reply:
        """Execute a complete request, or refuse it."""
        try:
            if request.method == "POST" and request.path in self._posts:
                return self._posts[request.path](request)
            return self._read(request)
        except ServiceError as error:
            return refuse(error)

    def count(self, request: Request | None, response: Response) -> None:
        """Count a response that is sent."""
        if response.code is not None:
            self.measures.refusals[response.code] += 1
        if request is not None and request.path in self.measures.latencies:
            self.measures.latencies[request.path].observe(monotonic() - request.began)

    def _read(self, request: Request) -> Reply:
        """Answer a request that changes nothing."""
        path = request.path
        endpoint, argument = self._find(path)
        if path in self._posts:
            return _not_allowed(request.method, b"POST")
        if path in _ALL_PATHS:
            kinds = ("offered by each event", "fixed")
            here, there = kinds if self._context.project.is_offered else reversed(kinds)
            message = f"{path} is for projects whose actions are {there}; those of this one are {here}."
            raise ServiceError("wrong_project", message)
        if endpoint is None and path not in self._pages and path != "/openapi.json":
            raise ServiceError("not_found", "There is nothing here; see /openapi.json.")
        if request.method not in ("GET", "HEAD"):
            return _not_allowed(request.method, b"GET, HEAD")
        if path in self._pages:
            return Reply(self._pages[path].response(request.headers.get(b"if-none-match")))
        if endpoint is None:
            return Reply(describe(self._context, self._endpoints, list(self._gets.values()), self._public))
        return endpoint.answer(argument)

    def _find(self, path: str) -> tuple[ReadEndpoint | None, str]:
        """Return the endpoint of a path, and the part of the path that is its argument."""
        if path in self._gets:
            return self._gets[path], ""
        for endpoint in self._gets.values():
            before, _, after = endpoint.path.partition("{")
            end = after.partition("}")[2]
            if after and path.startswith(before) and path.endswith(end) and len(path) > len(before) + len(end):
                return endpoint, path[len(before) : len(path) - len(end)]
        return None, ""


def _not_allowed(method: str, allowed: bytes) -> Reply:
    error = ServiceError("method_not_allowed", f"{method} is not allowed here.")
    return refuse(error, b"allow: %b\r\n" % allowed)
