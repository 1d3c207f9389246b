"""What is sent: JSON, without numbers that JSON does not have."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from typing import Any

from bandit_forest.client.answers import Json
from bandit_forest.errors import refuse

__all__ = ["request_json"]


def request_json(body: Json) -> bytes:
    """Return JSON; a number that JSON does not have is refused with its place."""
    try:
        return json.dumps(body, allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:  # half a character
        refuse("$", "a request", "made of whole characters", error.object[error.start : error.end])
    except (RecursionError, TypeError, ValueError) as error:
        with suppress(RecursionError, StopIteration):  # it may hold itself
            place, value = next(_not_finite(body, "$"))
            refuse(place, "a request", "a finite number", value)
        refuse("$", "a request", "what JSON can hold", str(error))


def _not_finite(value: Any, place: str) -> Any:
    """Yield the places of numbers that are not finite."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _not_finite(inner, f"{place}.{name}")
    elif isinstance(value, (list, tuple)):
        for number, inner in enumerate(value):
            yield from _not_finite(inner, f"{place}[{number}]")
    elif isinstance(value, float) and not math.isfinite(value):
        yield place, value
