"""What is sent: values of Python, NumPy and pandas as JSON has them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from typing import Any

import numpy as np

from bandit_forest.bandit.features.values import is_missing, plain
from bandit_forest.client.answers import Json
from bandit_forest.errors import refuse

__all__ = ["request_json"]

_FEATURE = re.compile(r"\$(\.events\[\d+\])?\.(context\.|(actions\[\d+\]|action)\.(?!id\Z))")
"""The places of features, which may be missing."""


def request_json(body: Json) -> bytes:
    """Return JSON; a value that JSON does not have is refused with its place.

    Examples
    --------
    >>> request_json({"context": {"day": date(2026, 5, 17), "age": math.nan, "size": np.int64(4)}})
    b'{"context": {"day": "2026-05-17", "age": null, "size": 4}}'
    """
    with suppress(RecursionError, TypeError, ValueError):  # looked at below
        return _dumped(body)
    try:
        return _dumped(_as_json(body, "$"))
    except RecursionError as error:  # it may hold itself
        refuse("$", "a request", "what JSON can hold", str(error))


def _dumped(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


def _as_json(given: Any, place: str) -> Any:
    """Return a value as JSON has it, or refuse it with its place."""
    if isinstance(given, Mapping):
        return {_scalar(name, place): _as_json(inner, f"{place}.{name}") for name, inner in given.items()}
    if is_missing(given):
        return None if given is None or _FEATURE.match(place) else _scalar(given, place)
    value = list(given) if isinstance(given, np.ndarray) and given.ndim == 1 else plain(given)
    if isinstance(value, (list, tuple)):
        return [_as_json(inner, f"{place}[{number}]") for number, inner in enumerate(value)]
    return _scalar(value.isoformat() if isinstance(value, date) else value, place)


def _scalar(value: Any, place: str) -> Any:
    """Return a value that JSON has, or refuse it with its place."""
    if isinstance(value, float) and not math.isfinite(value):
        refuse(place, "a request", "a finite number", value)
    try:
        _dumped(value)
    except UnicodeEncodeError:
        refuse(place, "a request", "made of whole characters", value)
    except (TypeError, ValueError):
        refuse(place, "a request", "what JSON can hold", value)
    return value
