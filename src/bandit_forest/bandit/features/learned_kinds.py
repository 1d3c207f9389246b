"""Kinds of features that nobody has declared: what the values of the first rows tell of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, Self

from bandit_forest.bandit.errors import FeatureError
from bandit_forest.bandit.features.kinds import TIME_PARTS, Feature, default_feature
from bandit_forest.bandit.features.values import LARGEST, moment, plain

__all__ = ["LearnedKinds", "check_names", "kind_of"]


class LearnedKinds:
    """The kinds of features that rows have told; a row that contradicts those before it is refused.

    Examples
    --------
    >>> kinds = LearnedKinds()
    >>> kinds.note({"age": 42, "city": None})
    >>> kinds.note({"city": "Nice"})
    >>> kinds.to_json()
    [('age', 'numeric'), ('city', 'categorical')]
    >>> kinds.check({"age": "old"})
    Traceback (most recent call last):
        ...
    bandit_forest.bandit.errors.FeatureError: The 'age' of the context must be numeric, as in the events before. \
Got 'old' instead.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, str | None] = {}

    @property
    def names(self) -> Set[str]:
        """The names of all features."""
        return self._kinds.keys()

    @property
    def never_seen(self) -> frozenset[str]:
        """The features that were always missing."""
        return frozenset(name for name, kind in self._kinds.items() if kind is None)

    def copy(self) -> Self:
        """Return a copy, to try rows on."""
        copied = type(self)()
        copied.restore(self._kinds)
        return copied

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row with plain values, or refuse it."""
        row = {name: plain(value) for name, value in given.items()}
        self._told(row)
        return row

    def note(self, row: Mapping[str, Any]) -> None:
        """Remember the kinds that a row tells, or refuse it."""
        self._kinds |= self._told(row)

    def features(self, *, ordered: bool) -> dict[str, Feature]:
        """Return the feature of each name; one that was always missing is taken for a category. All may be missing."""
        return {name: default_feature(kind or "categorical", ordered=ordered) for name, kind in self._kinds.items()}

    def to_json(self) -> list[tuple[str, str | None]]:
        """Return a list that JSON can hold: the order of the features is that of the variables."""
        return list(self._kinds.items())

    def restore(self, saved: Iterable[tuple[str, str | None]] | Mapping[str, str | None]) -> None:
        """Take over what `to_json` gave; files of before have an object."""
        self._kinds = dict(saved)

    def _told(self, row: Mapping[str, Any]) -> dict[str, str | None]:
        """Return the kinds of the features of a row, with what is known of them, or refuse a contradiction."""
        told: dict[str, str | None] = {}
        for name, value in row.items():
            if not isinstance(name, str):
                raise FeatureError(repr(name), "named by a text", value)
            kind, known = kind_of(name, value), self._kinds.get(name)
            if kind is not None and known is not None and kind != known:
                raise FeatureError(name, f"{known}, as in the events before", value)
            told[name] = known or kind
        check_names(self._kinds | told)
        return told


def check_names(kinds: Mapping[str, str | None]) -> None:
    """Refuse a feature that is named like a variable which a feature of times or labels makes.

    Examples
    --------
    >>> check_names({"when": "time", "when hour": "numeric"})
    Traceback (most recent call last):
        ...
    bandit_forest.bandit.errors.FeatureError: The 'when hour' of the context must be renamed, since 'when' makes a \
variable of this name. Got 'numeric' instead.
    """
    for name, kind in kinds.items():
        made: Iterable[str] = ()
        if kind == "time":
            made = (f"{name} {part}" for part in TIME_PARTS)
        elif kind == "labels":
            made = (other for other in kinds if other.startswith(f"{name} has ") or other == f"{name} is missing")
        for other in made:
            if other in kinds:
                raise FeatureError(other, f"renamed, since '{name}' makes a variable of this name", kinds[other])


def kind_of(name: str, given: Any) -> str | None:
    """Return the kind of feature that a value tells, None when it is missing.

    Examples
    --------
    >>> [kind_of("x", value) for value in (True, 3, "red", ["new"], "2024-05-17", None)]
    ['boolean', 'numeric', 'categorical', 'labels', 'time', None]
    """
    value = plain(given)
    if value is None:
        return None
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        if not -LARGEST <= value <= LARGEST:
            raise FeatureError(name, "a finite number", given)
        return "numeric"
    if moment(value) is not None:
        return "time"
    if isinstance(value, str):
        return "categorical"
    if isinstance(value, (list, tuple)) and all(isinstance(label, str) for label in value):
        return "labels"
    raise FeatureError(name, "a number, a text, true or false, a moment, a list of texts, or missing", given)
