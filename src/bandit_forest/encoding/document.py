"""A fitted encoder as JSON: versioned, and checked when it is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bandit_forest.encoding.columns import Categorical, Column, Numeric
from bandit_forest.errors import InvalidArgumentError, refuse

__all__ = ["from_document", "to_document"]

FORMAT = "bandit-forest context encoder"
VERSION = 1

_OWNER = "ContextEncoder.from_json"


def to_document(columns: Mapping[str, Column]) -> str:
    """Write columns as JSON."""
    entries = [_entry(name, column) for name, column in columns.items()]
    return json.dumps({"format": FORMAT, "version": VERSION, "columns": entries}, ensure_ascii=False, allow_nan=False)


def from_document(text: str | bytes) -> dict[str, Column]:
    """Read columns from JSON."""
    try:
        document = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        refuse("text", _OWNER, "a JSON document", text)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        refuse("$.format", _OWNER, f"'{FORMAT}'", document)
    if document.get("version") != VERSION or isinstance(document["version"], bool):
        refuse("$.version", _OWNER, f"{VERSION}, the one version that this package reads", document.get("version"))
    entries = document.get("columns")
    if not isinstance(entries, list):
        refuse("$.columns", _OWNER, "a list of columns", entries)
    columns: dict[str, Column] = {}
    for place, entry in enumerate(entries):
        name, column = _column(entry, f"$.columns[{place}]")
        if name in columns:
            refuse(f"$.columns[{place}].name", _OWNER, "a new name", name)
        columns[name] = column
    return columns


def _entry(name: str, column: Column) -> dict[str, Any]:
    if isinstance(column, Numeric):
        return {"name": name, "kind": "numeric", "edges": column.edges, "missing": column.missing}
    assert isinstance(column, Categorical)
    return {"name": name, "kind": "categorical", "values": column.values, "missing": column.missing}


def _column(entry: object, where: str) -> tuple[str, Column]:
    kinds: dict[str, tuple[str, type[Numeric] | type[Categorical]]]
    kinds = {"numeric": ("edges", Numeric), "categorical": ("values", Categorical)}
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        refuse(where, _OWNER, "an object with a 'name'", entry)
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        refuse(f"{where}.kind", _OWNER, " or ".join(f"'{kind}'" for kind in kinds), kind)
    part, make = kinds[kind]
    if entry.keys() != {"name", "kind", part, "missing"} or not isinstance(entry[part], list):
        refuse(where, _OWNER, f"an object with 'name', 'kind', a list '{part}' and 'missing'", entry)
    try:
        return entry["name"], make(**{part: entry[part]}, missing=entry["missing"])
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{error} At {where} of {_OWNER}.") from None
