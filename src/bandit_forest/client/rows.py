"""What the methods are given: mappings, rows of frames, frames, and columns beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bandit_forest.bandit.errors import FeatureError
from bandit_forest.bandit.features.tables import read_table
from bandit_forest.bandit.features.values import as_context
from bandit_forest.client.answers import Json
from bandit_forest.errors import refuse

__all__ = ["column", "is_frame", "mapping", "rows"]


def mapping(given: Any, place: str) -> Json:
    """Return a mapping, or a row of a frame, as a dict."""
    try:
        return dict(as_context(given))
    except FeatureError as error:
        refuse(place, "a request", error.rule, error.value)


def is_frame(given: object) -> bool:
    """Return whether something is a frame of pandas, Polars or PyArrow."""
    return hasattr(given, "columns")


def rows(given: Any, name: str) -> list[Any]:
    """Return the rows of a frame, of a mapping of columns, or of what has them one by one."""
    if is_frame(given) or isinstance(given, Mapping):
        table = read_table(given, "Client")
        return table.rows(range(table.n_rows))
    if not isinstance(given, Iterable) or isinstance(given, str):
        refuse(name, "the client", "mappings, one for each event, or a frame", given)
    return list(given)


def column(given: Any, name: str, n_events: int) -> Sequence[Any]:
    """Return one item for each event; None for each when nothing is given.

    Examples
    --------
    >>> column(0.5, "propensities", 2)
    Traceback (most recent call last):
        ...
    bandit_forest.errors.InvalidArgumentError: The 'propensities' of the client must be 2 items, one for each event. \
Got 0.5 instead.
    """
    if given is None:
        return [None] * n_events
    try:
        items = rows(given, name) if is_frame(given) else list(given)
        has_length = len(given) == len(items) == n_events
    except TypeError:
        has_length = False
    if not has_length or isinstance(given, (str, bytes, Mapping)):
        refuse(name, "the client", f"{n_events} items, one for each event", given)
    return items
