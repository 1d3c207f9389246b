"""A fitted encoder as JSON: versioned, and checked when it is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bandit_forest.encoding.categorical import Categorical
from bandit_forest.encoding.column import Column
from bandit_forest.encoding.numeric import Binned, Numeric
from bandit_forest.errors import InvalidArgumentError, refuse

__all__ = ["from_document", "to_document"]

FORMAT = "bandit-forest context encoder"
VERSION = 2

_OWNER = "ContextEncoder.from_json"

_Kinds = dict[str, tuple[type[Column], tuple[str, ...]]]
_KINDS: dict[int, _Kinds] = {
    1: {
        "numeric": (Binned, ("edges", "missing")),
        "categorical": (Categorical, ("values", "missing")),
    },
    2: {
        "numeric": (Numeric, ("thresholds", "missing")),
        "binned": (Binned, ("edges", "missing")),
        "categorical": (Categorical, ("values", "other", "missing")),
    },
}
"""Rules by version and kind: the class of a column, and its parts, of which the first is a list."""


def to_document(columns: Mapping[str, Column]) -> str:
    """Return columns as JSON."""
    entries = [_entry(name, column) for name, column in columns.items()]
    return json.dumps({"format": FORMAT, "version": VERSION, "columns": entries}, ensure_ascii=False, allow_nan=False)


def from_document(text: str | bytes) -> dict[str, Column]:
    """Return columns that were written as JSON."""
    try:
        document = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        refuse("text", _OWNER, "a JSON document", text)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        refuse("$.format", _OWNER, f"'{FORMAT}'", document)
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version not in _KINDS:
        refuse("$.version", _OWNER, "1 or 2, the versions that this package reads", version)
    entries = document.get("columns")
    if not isinstance(entries, list):
        refuse("$.columns", _OWNER, "a list of columns", entries)
    columns: dict[str, Column] = {}
    for number, entry in enumerate(entries):
        name, column = _column(entry, _KINDS[version], f"$.columns[{number}]")
        if name in columns:
            refuse(f"$.columns[{number}].name", _OWNER, "a new name", name)
        columns[name] = column
    return columns


def _entry(name: str, column: Column) -> dict[str, Any]:
    for kind, (made, parts) in _KINDS[VERSION].items():
        if isinstance(column, made):
            return {"name": name, "kind": kind} | {part: getattr(column, part) for part in parts}
    kinds = ", ".join(made.__name__ for made, _ in _KINDS[VERSION].values())
    refuse(f"columns['{name}']", "ContextEncoder.to_json", f"one of {kinds}", column)


def _column(entry: object, kinds: _Kinds, where: str) -> tuple[str, Column]:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        refuse(where, _OWNER, "an object with a 'name'", entry)
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        refuse(f"{where}.kind", _OWNER, " or ".join(f"'{kind}'" for kind in kinds), kind)
    made, (items, *flags) = kinds[kind]
    if entry.keys() != {"name", "kind", items, *flags} or not isinstance(entry[items], list):
        others = ", ".join(f"'{flag}'" for flag in flags)
        refuse(where, _OWNER, f"an object with 'name', 'kind', {others} and a list '{items}'", entry)
    try:
        return entry["name"], made(**{part: entry[part] for part in (items, *flags)})
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{error} At {where} of {_OWNER}.") from None
