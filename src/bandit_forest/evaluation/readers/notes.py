"""What our Parquet files tell beyond their values: kinds of features, columns that hold JSON, the range of rewards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bandit_forest.bandit.features.kinds import KINDS

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["as_json", "feature_notes", "holds_json", "kind_in", "range_in", "range_notes"]

_KIND, _JSON, _RANGE = b"bandit_forest.kind", b"bandit_forest.json", b"bandit_forest.reward_range"


def feature_notes(kind: str | None, *, is_json: bool = False) -> dict[bytes, bytes]:
    """Return the metadata of the column of a feature.

    Parameters
    ----------
    kind
        Its kind, such as 'categorical'; None where that is not known.
    is_json
        Whether its values are written as JSON, so that the text '3' is not the number 3.
    """
    notes = {} if kind is None else {_KIND: kind.encode()}
    return notes | ({_JSON: b"true"} if is_json else {})


def as_json(value: Any) -> str | None:
    """Return a category as JSON, None where it is missing."""
    return None if value is None else json.dumps(value, ensure_ascii=False)


def kind_in(field: pa.Field) -> str | None:
    """Return the kind of the feature in a column, None where the file does not tell it."""
    kind = _notes(field).get(_KIND, b"").decode(errors="replace")
    return kind if kind in KINDS else None


def holds_json(field: pa.Field) -> bool:
    """Return whether the values of a column are JSON."""
    return _JSON in _notes(field)


def range_notes(reward_range: tuple[float, float]) -> dict[bytes, bytes]:
    """Return the metadata of a file whose rewards are in a range."""
    return {_RANGE: json.dumps(reward_range).encode()}


def range_in(schema: pa.Schema) -> Any:
    """Return the range of rewards that a file tells, to be checked; [0, 1] where it tells none."""
    try:
        return json.loads(_notes(schema).get(_RANGE, b"[0.0, 1.0]"))
    except (RecursionError, ValueError):
        return None


def _notes(noted: pa.Field | pa.Schema) -> Mapping[bytes, bytes]:
    """Return the metadata of a column or a file."""
    return noted.metadata or {}
