"""JSON Schemas of what is sent and answered, made for the project: its context, its mode, its range of rewards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from bandit_forest.service.config.checks import LONGEST_NAME
from bandit_forest.service.config.fields import BooleanField, CategoricalField, Field
from bandit_forest.service.config.project import Project
from bandit_forest.service.http.responses import STATUSES
from bandit_forest.service.operations.results import Status

__all__ = ["NAME", "make_schemas", "ref"]

Schema = dict[str, Any]

NAME: Schema = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME, "format": "printable"}
"""Of an event or an action: every character must be printable."""

_COMPONENTS = "#/components/schemas/"
_TEXT: Schema = {"type": "string"}
_BOOL: Schema = {"type": "boolean"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_NUMBER: Schema = {"type": "number"}
_PROPENSITY: Schema = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
_DURABLE: Schema = {
    "const": False,
    "description": "Only there when the disk refuses and the project says to continue: in memory, not on disk yet.",
}


def ref(name: str) -> Schema:
    """Refer to a schema by name."""
    return {"$ref": f"{_COMPONENTS}{name}"}


def make_schemas(project: Project, actions: Sequence[str]) -> dict[str, Schema]:
    """Give all schemas by name.

    Parameters
    ----------
    project
        What is decided.
    actions
        The actions that are enabled now.
    """
    reward = {"type": "number", "minimum": project.reward.low, "maximum": project.reward.high}
    most = project.limits.batch_events
    rewards = {"event_id": NAME, "reward": reward}
    event = {"context": ref("Context"), "action": ref("Action"), "reward": reward, "propensity": _PROPENSITY}
    return {
        "Action": {"enum": list(actions)},
        "Context": _context(project),
        "DecideRequest": _decide(project, {"mean_rewards": _BOOL}),
        "DecideBatchRequest": _object({"events": _list(_decide(project, {}), most)}),
        "Decision": _decision({"mean_rewards": _nullable(_map(_NUMBER)), "durable": _DURABLE}),
        "DecisionBatch": _answers("decisions", _decision({})),
        "RewardRequest": _object(rewards),
        "RewardBatchRequest": _object({"rewards": _list(_object(rewards), most)}),
        "Reward": _object(_REWARDED | {"durable": _DURABLE}, optional=["durable"]),
        "RewardBatch": _answers("rewards", _object(_REWARDED)),
        "LearnRequest": _object(event | {"event_id": _nullable(NAME)}, optional=["event_id"]),
        "LearnBatchRequest": _object({"events": _list(ref("LearnRequest"), most)}),
        "Learned": _object(_LEARNED | {"durable": _DURABLE}, optional=["durable"]),
        "LearnedBatch": _answers("events", _object(_LEARNED)),
        "ActionRequest": _object({"name": NAME}),
        "ActionChange": _object({"name": _TEXT, "state": _TEXT, "durable": _DURABLE}, optional=["durable"]),
        "Event": _event(),
        "Events": _object({"events": {"type": "array", "items": ref("Event")}}),
        "Importance": _object(
            {"variables": {"type": "array", "items": _object({"name": _TEXT, "importance": _NUMBER})}}
        ),
        "Health": _object({"status": _TEXT}),
        "Refusal": _object({"error": ref("Problem")}),
        "Problem": _object({"code": {"enum": list(STATUSES)}, "message": _TEXT, "path": _TEXT}, optional=["path"]),
        **_status(),
    }


_REWARDED = {"event_id": NAME, "reward": _NUMBER, "ignored": _BOOL}
_LEARNED = {"event_id": NAME, "ignored": _BOOL}


def _decide(project: Project, more: Schema) -> Schema:
    properties = {
        "context": ref("Context"),
        "available_actions": _nullable({"type": "array", "items": ref("Action"), "minItems": 1}),
        "event_id": _nullable(NAME),
    }
    optional = ["available_actions", "event_id", *more]
    if project.mode == "shadow":
        properties |= {"action": ref("Action"), "propensity": _nullable(_PROPENSITY)}
        optional.append("propensity")
    return _object(properties | more, optional=optional)


def _decision(more: Schema) -> Schema:
    shadow = {
        "forest_action": _TEXT,
        "forest_propensity": _nullable(_PROPENSITY),
        "forest_value": _nullable(_NUMBER),
    }
    always = {"event_id": NAME, "action": _TEXT, "propensity": _PROPENSITY, "model_version": _COUNT}
    return _object(always | shadow | more, optional=[*shadow, *more])


def _context(project: Project) -> Schema:
    fields = project.context
    missing = [name for name, field in fields.items() if field.missing]
    return _object({name: _field(field) for name, field in fields.items()}, optional=missing)


def _field(field: Field) -> Schema:
    if isinstance(field, BooleanField):
        schema = _BOOL
    elif not isinstance(field, CategoricalField):
        schema = _NUMBER
    elif field.values is None or field.open:
        schema = {"type": ["string", "integer"]}
    else:
        schema = {"enum": list(field.values)}
    return _nullable(schema) if field.missing else schema


def _event() -> Schema:
    known = {
        "event_id": NAME,
        "time": _NUMBER,
        "action": _TEXT,
        "propensity": _PROPENSITY,
        "state": {"enum": ["waiting", "rewarded", "expired", "learned"]},
        "reward": _nullable(_NUMBER),
    }
    return {"type": "object", "properties": known, "required": list(known)}


def _status() -> dict[str, Schema]:
    status = TypeAdapter(Status).json_schema(ref_template=f"{_COMPONENTS}{{model}}")
    parts: dict[str, Schema] = status.pop("$defs")
    del status["properties"]["recent"]
    status["required"].remove("recent")
    return parts | {"Status": status}


def _object(properties: Schema, *, optional: Sequence[str] = ()) -> Schema:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _answers(field: str, one: Schema) -> Schema:
    """Describe a batch: each item is answered or refused on its own."""
    items = {"type": "array", "items": {"anyOf": [one, ref("Refusal")]}}
    return _object({field: items, "durable": _DURABLE}, optional=["durable"])


def _list(items: Schema, most: int) -> Schema:
    """Describe the items of a batch; one that is not as described is refused in its place, the others are not."""
    return {"type": "array", "items": {"anyOf": [items, {}]}, "maxItems": most}


def _map(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def _nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}
