"""Values as they come from JSON, NumPy or pandas, checked and cleaned by the kind of their feature."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from bandit_forest.bandit.errors import FeatureError
from bandit_forest.bandit.features.kinds import (
    OTHER_LABEL,
    BooleanFeature,
    CategoricalFeature,
    Feature,
    LabelsFeature,
    NumericFeature,
    TimeFeature,
)

__all__ = ["LARGEST", "as_context", "clean", "expanded", "is_missing", "moment", "plain"]

LARGEST = float(np.finfo(np.float64).max)
"""The largest finite number."""
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")


def as_context(given: Any) -> dict[str, Any]:
    """Return a context as a dict: of a mapping, or of a row of a frame.

    Examples
    --------
    >>> as_context({"age": 42})
    {'age': 42}
    """
    if given.__class__ is dict:
        return given
    rule = "a mapping from the names of features to their values"
    if getattr(given, "ndim", 1) != 1:
        raise FeatureError(None, f"{rule}, or one row of a frame: the methods of many rows take a frame", type(given))
    if isinstance(given, Mapping) or (hasattr(given, "items") and hasattr(given, "index")):  # a pandas row
        return dict(given.items())
    raise FeatureError(None, rule, given)


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN, or what pandas has in their place."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (float, np.floating)):
        return math.isnan(value)
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, np.datetime64) and bool(np.isnat(value))


def plain(value: Any) -> Any:
    """Return a value of NumPy or pandas as Python has it, a decimal as a float, a set as a list; None when missing."""
    if is_missing(value):
        return None
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[us]").item()
    if isinstance(value, np.timedelta64):
        return value  # no number, though `item` may make one of it
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return value.tolist()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)  # in one order, whatever the hashes of this process are
    if isinstance(value, list):
        return value.copy()  # its owner may change it
    return value


def moment(value: object) -> datetime | None:
    """Return a moment, None when the value is not one.

    Examples
    --------
    >>> moment("2024-05-17T09:30:00").hour
    9
    """
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    if isinstance(value, str) and _ISO.match(value):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            return None
    return None


def clean(feature: Feature, name: str, given: Any) -> Any:
    """Return a value as its feature wants it, or refuse it."""
    value = given if given.__class__ in (float, int, str, bool) else plain(given)
    if value is None or (value.__class__ is float and value != value):
        if not feature.missing:
            raise FeatureError(name, f"{feature.rule}: a missing value is not allowed", given)
        return None
    if not _fits(feature, value):
        raise FeatureError(name, feature.rule, given)
    return value


def _fits(feature: Feature, value: Any) -> bool:
    kind = value.__class__
    if isinstance(feature, NumericFeature):
        return (kind is float or kind is int) and -LARGEST <= value <= LARGEST
    if isinstance(feature, BooleanFeature):
        return kind is bool
    if isinstance(feature, CategoricalFeature):
        return (kind is str or kind is int) and (feature.is_open or value in (feature.values or ()))
    if isinstance(feature, TimeFeature):
        return moment(value) is not None
    known = feature.labels or ()
    is_list = isinstance(value, (list, tuple)) and all(isinstance(label, str) for label in value)
    return is_list and (feature.is_open or all(label in known for label in value))


def expanded(feature: LabelsFeature | TimeFeature, name: str, value: Any) -> dict[str, Any]:
    """Return the columns that a list of labels or a moment is made of.

    Examples
    --------
    >>> expanded(LabelsFeature(labels=("new", "sale")), "tags", ["sale"])
    {'tags has new': False, 'tags has sale': True}
    """
    if isinstance(feature, TimeFeature):
        when = moment(value)
        parts: dict[str, int | None] = {"hour": None, "weekday": None, "month": None}
        if when is not None:
            parts = {"hour": when.hour, "weekday": when.weekday(), "month": when.month}
        return {f"{name} {part}": number for part, number in parts.items()}
    labels, known = value or (), feature.labels or ()
    columns: dict[str, Any] = {f"{name} has {label}": label in labels for label in known}
    if feature.is_open:
        columns[f"{name} has {OTHER_LABEL}"] = any(label not in known for label in labels)
    if feature.missing:
        columns[f"{name} is missing"] = value is None
    return columns
