"""The description of the service: OpenAPI, from the types of requests and answers, made for the project."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from bandit_forest import __version__
from bandit_forest.bandit.features.json_schema import context_schema
from bandit_forest.bandit.pairs.model import ID
from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.errors import STATUSES
from bandit_forest.service.http.authentication import Role, role_needed
from bandit_forest.service.http.endpoints import Endpoint
from bandit_forest.service.http.read_endpoints import ReadEndpoint
from bandit_forest.service.operations.requests import EventId, OfferedId
from bandit_forest.service.operations.results import Refusal

__all__ = ["describe"]

Schema = dict[str, Any]

_REF = "#/components/schemas/"
_ALWAYS = ("invalid_http", "unauthorized", "forbidden", "unknown_host", "rate_limited", "too_many_connections")
_JSON = ("invalid_json", "too_large", "unsupported_media_type", "invalid_request", "storage_unavailable")


def describe(
    service: ServiceContext, posts: Sequence[Endpoint], reads: Sequence[ReadEndpoint], public: frozenset[str]
) -> Schema:
    """Return the description of all endpoints, with the actions that are enabled now."""
    most = service.project.limits.batch_events
    paths = {endpoint.path: {"post": _post(endpoint, most)} for endpoint in posts}
    paths |= {endpoint.path: {"get": _get(endpoint)} for endpoint in reads}
    components: Schema = {"schemas": _schemas(service, posts, reads)}
    keys = service.project.keys
    if keys.decide or keys.admin:
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        for path, operations in paths.items():
            if role_needed(path, public) is not Role.PUBLIC:
                for operation in operations.values():
                    operation["security"] = [{"key": []}]
    info = {"title": f"{service.project.name}: decisions", "version": __version__}
    return {"openapi": "3.1.0", "info": info, "paths": paths, "components": components}


def _post(endpoint: Endpoint, most: int) -> Schema:
    return {
        "summary": endpoint.summary,
        "requestBody": {"required": True, "content": {"application/json": {"schema": _request(endpoint, most)}}},
        "responses": {
            "200": {"description": "Done, and durable", **_content(endpoint.answer)},
            **_refusals((*_ALWAYS, *_JSON, *endpoint.codes)),
        },
    }


def _get(endpoint: ReadEndpoint) -> Schema:
    shape = endpoint.shape
    content = {"content": {shape: {"schema": {"type": "string"}}}} if isinstance(shape, str) else _content(shape)
    if shape == "application/octet-stream":
        content = {"content": {shape: {}}}
    codes = endpoint.codes if endpoint.is_public else (*_ALWAYS, *endpoint.codes)
    described: Schema = {
        "summary": endpoint.summary,
        "responses": {"200": {"description": "Told", **content}, **_refusals(("invalid_http", *codes))},
    }
    argument = endpoint.path.partition("{")[2].partition("}")[0]
    if argument:
        schema = msgspec.json.schema(EventId) if argument == "event_id" else {"type": "integer"}
        described["parameters"] = [{"name": argument, "in": "path", "required": True, "schema": schema}]
    return described


def _content(shape: type[msgspec.Struct]) -> Schema:
    return {"content": {"application/json": {"schema": _ref(shape)}}}


def _refusals(codes: Iterable[str]) -> Schema:
    """Describe refusals, by status."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        by_status.setdefault(STATUSES[code], []).append(code)
    return {
        str(status): {"description": ", ".join(names), **_content(Refusal)}
        for status, names in sorted(by_status.items())
    }


def _schemas(service: ServiceContext, posts: Sequence[Endpoint], reads: Sequence[ReadEndpoint]) -> dict[str, Schema]:
    """Return the schemas of all types, with the features, the actions and the range of rewards of the project."""
    shapes = [shape for endpoint in posts for shape in (endpoint.request, endpoint.answer)]
    shapes += [endpoint.shape for endpoint in reads if not isinstance(endpoint.shape, str)]
    _, schemas = msgspec.json.schema_components([*shapes, Refusal], ref_template=_REF + "{name}")
    rewards, action = service.state.learner.rewards, _action(service)
    project = service.project
    features = project.context if project.is_offered else service.bandit.settings.features
    schemas["Context"] = context_schema(features or {})
    schemas["Problem"]["properties"]["code"] = {"enum": sorted(STATUSES)}
    for name in {endpoint.request.__name__ for endpoint in posts}:
        fields: Schema = schemas[name]["properties"]
        if "context" in fields:
            fields["context"] = {"$ref": f"{_REF}Context"}
        if "reward" in fields:
            fields["reward"] |= {"minimum": rewards.low, "maximum": rewards.high}
        if "actions" in fields:
            fields["actions"] |= {"items": action, "maxItems": service.project.limits.offered_actions}
        if "available_actions" in fields:
            fields["available_actions"]["anyOf"][0]["items"] = action
            _shadow(service, schemas[name], action)
        elif "action" in fields:
            fields["action"] = action
    for endpoint in posts:
        if endpoint.items is not None:
            alone = next(one for one in posts if one.path == endpoint.path.removesuffix("/batch"))
            field = endpoint.answer.__struct_fields__[0]
            schemas[endpoint.answer.__name__]["properties"][field] = _list_of(_ref(alone.answer), _ref(Refusal))
    return schemas


def _action(service: ServiceContext) -> Schema:
    """Describe an action in a request: one of the fixed ones that are enabled, or an offered one with its features."""
    if service.project.offered is None:
        registry = service.bandit.registry
        return {"enum": [registry.names[index] for index in registry.enabled.indices.tolist()]}
    described = context_schema(service.project.offered)
    described["properties"][ID] = msgspec.json.schema(OfferedId)
    described["required"] = [ID, *described["required"]]
    return described


def _request(endpoint: Endpoint, most: int) -> Schema:
    """Describe a request; an item of a batch that is not as described is refused in its place, the others are not."""
    if endpoint.items is None:
        return _ref(endpoint.request)
    properties = {endpoint.items: _list_of(_ref(endpoint.request), {}) | {"maxItems": most}}
    return {"type": "object", "properties": properties, "required": [endpoint.items], "additionalProperties": False}


def _list_of(*kinds: Schema) -> Schema:
    """Describe a list whose items are of some kinds."""
    return {"type": "array", "items": {"anyOf": list(kinds)}}


def _ref(shape: Any) -> Schema:
    return {"$ref": f"{_REF}{shape.__name__}"}


def _shadow(service: ServiceContext, schema: Schema, action: Schema) -> None:
    """Require the application's choice in shadow mode only."""
    if service.project.mode == "shadow":
        schema["properties"]["action"] = action
        schema["required"] = [*schema["required"], "action"]
    else:
        for name in ("action", "propensity"):
            schema["properties"].pop(name, None)
