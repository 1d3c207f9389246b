"""What a context may be, as JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bandit_forest.bandit.features.kinds import (
    BooleanFeature,
    CategoricalFeature,
    Feature,
    LabelsFeature,
    NumericFeature,
)

__all__ = ["context_schema"]

JsonSchema = dict[str, Any]


def context_schema(features: Mapping[str, Feature]) -> JsonSchema:
    """Return the JSON Schema of a context.

    Examples
    --------
    >>> context_schema({"age": NumericFeature(missing=True), "member": BooleanFeature()})["required"]
    ['member']
    """
    required = [name for name, feature in features.items() if not feature.missing]
    properties = {name: _feature_schema(feature) for name, feature in features.items()}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _feature_schema(feature: Feature) -> JsonSchema:
    if isinstance(feature, BooleanFeature):
        schema: JsonSchema = {"type": "boolean"}
    elif isinstance(feature, NumericFeature):
        schema = {"type": "number"}
    elif isinstance(feature, CategoricalFeature):
        schema = {"type": ["string", "integer"]} if feature.is_open else {"enum": list(feature.values or ())}
    elif isinstance(feature, LabelsFeature):
        labels: JsonSchema = {"type": "string"} if feature.is_open else {"enum": list(feature.labels or ())}
        schema = {"type": "array", "items": labels}
    else:
        schema = {"type": "string", "format": "date-time"}
    return {"anyOf": [schema, {"type": "null"}]} if feature.missing else schema
