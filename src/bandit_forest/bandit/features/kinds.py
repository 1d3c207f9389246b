"""The kinds of features that a context may hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, ClassVar

from bandit_forest.errors import refuse
from bandit_forest.validation import check_int, check_number

__all__ = [
    "KINDS",
    "BooleanFeature",
    "CategoricalFeature",
    "Feature",
    "LabelsFeature",
    "NumericFeature",
    "TimeFeature",
    "feature_from_json",
    "feature_to_json",
]

FINITE = -1e300, 1e300
TIME_PARTS = {"hour": 24, "weekday": 7, "month": 13}
"""The parts of a moment, each with the first number that it never takes."""


@dataclass(frozen=True, kw_only=True)
class NumericFeature:
    """A number.

    Parameters
    ----------
    edges
        Increasing numbers at which the bins meet; None: learned from the first events.
    n_bins
        Number of bins of equal frequency that are learned.
    missing
        Whether a missing value is allowed.
    """

    kind: ClassVar[str] = "numeric"

    edges: tuple[float, ...] | None = None
    n_bins: int = 5
    missing: bool = False

    def __post_init__(self) -> None:
        owner = "a numeric feature"
        check_int(self.n_bins, "bins", owner, low=2, high=1000)
        _check_bool(self.missing, "missing", owner)
        if self.edges is not None:
            rule = "increasing finite numbers, at least one"
            edges = [check_number(edge, "edges", owner, rule, *FINITE) for edge in _listed(self.edges)]
            if not edges or any(low >= high for low, high in pairwise(edges)):
                refuse("edges", owner, rule, self.edges)
            object.__setattr__(self, "edges", tuple(edges))

    @property
    def is_learned(self) -> bool:
        """Whether it takes its edges from the first events."""
        return self.edges is None

    @property
    def rule(self) -> str:
        """What a value must be."""
        return "a finite number"


@dataclass(frozen=True, kw_only=True)
class CategoricalFeature:
    """One of several values.

    Parameters
    ----------
    values
        The texts or ints that have a variable each; None: the most frequent of the first events.
    max_values
        Largest number of values that are learned.
    open
        Whether other values are allowed. A feature with learned values is always open.
    missing
        Whether a missing value is allowed.
    """

    kind: ClassVar[str] = "categorical"

    values: tuple[str | int, ...] | None = None
    max_values: int = 100
    open: bool = False
    missing: bool = False

    def __post_init__(self) -> None:
        owner = "a categorical feature"
        check_int(self.max_values, "max_values", owner, high=10_000)
        _check_bool(self.open, "open", owner)
        _check_bool(self.missing, "missing", owner)
        if self.values is not None:
            object.__setattr__(self, "values", _check_values(self.values, "values", owner, (str, int)))

    @property
    def is_learned(self) -> bool:
        """Whether it takes its values from the first events."""
        return self.values is None

    @property
    def is_open(self) -> bool:
        """Whether a value that has no variable is allowed."""
        return self.open or self.values is None

    @property
    def rule(self) -> str:
        """What a value must be."""
        return "a text or a whole number" if self.is_open else "one of " + ", ".join(map(repr, self.values or ()))


@dataclass(frozen=True, kw_only=True)
class BooleanFeature:
    """True or false.

    Parameters
    ----------
    missing
        Whether a missing value is allowed.
    """

    kind: ClassVar[str] = "boolean"
    is_learned: ClassVar[bool] = False
    rule: ClassVar[str] = "true or false"

    missing: bool = False

    def __post_init__(self) -> None:
        _check_bool(self.missing, "missing", "a boolean feature")


@dataclass(frozen=True, kw_only=True)
class LabelsFeature:
    """A list of labels; each label has a variable, and any number of them may be set.

    Parameters
    ----------
    labels
        The texts that have a variable each; None: the most frequent of the first events.
    max_values
        Largest number of labels that are learned.
    open
        Whether other labels are allowed: they share one variable. A feature with learned labels is always open.
    missing
        Whether a missing list is allowed.
    """

    kind: ClassVar[str] = "labels"

    labels: tuple[str, ...] | None = None
    max_values: int = 100
    open: bool = False
    missing: bool = False

    def __post_init__(self) -> None:
        owner = "a feature of labels"
        check_int(self.max_values, "max_values", owner, high=10_000)
        _check_bool(self.open, "open", owner)
        _check_bool(self.missing, "missing", owner)
        if self.labels is not None:
            object.__setattr__(self, "labels", _check_values(self.labels, "labels", owner, (str,)))

    @property
    def is_learned(self) -> bool:
        """Whether it takes its labels from the first events."""
        return self.labels is None

    @property
    def is_open(self) -> bool:
        """Whether a label that has no variable of its own is allowed."""
        return self.open or self.labels is None

    @property
    def rule(self) -> str:
        """What a value must be."""
        return (
            "a list of texts" if self.is_open else "a list of labels among " + ", ".join(map(repr, self.labels or ()))
        )


@dataclass(frozen=True, kw_only=True)
class TimeFeature:
    """A moment, of which the hour, the weekday (0 is Monday) and the month are used.

    Parameters
    ----------
    missing
        Whether a missing value is allowed.
    """

    kind: ClassVar[str] = "time"
    is_learned: ClassVar[bool] = False
    rule: ClassVar[str] = "a datetime, a date, or a text such as '2024-05-17T09:30:00'"

    missing: bool = False

    def __post_init__(self) -> None:
        _check_bool(self.missing, "missing", "a feature of time")


Feature = NumericFeature | CategoricalFeature | BooleanFeature | LabelsFeature | TimeFeature

KINDS: dict[str, type[Feature]] = {
    kind.kind: kind for kind in (NumericFeature, CategoricalFeature, BooleanFeature, LabelsFeature, TimeFeature)
}


def feature_to_json(feature: Feature) -> dict[str, Any]:
    """Return an object that JSON can hold.

    Examples
    --------
    >>> feature_to_json(BooleanFeature(missing=True))
    {'kind': 'boolean', 'missing': True}
    """
    return {"kind": feature.kind, **asdict(feature)}


def feature_from_json(saved: Mapping[str, Any]) -> Feature:
    """Return the feature that `feature_to_json` wrote."""
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in saved.items()}
    return KINDS[values.pop("kind")](**values)


def _listed(values: object) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, (tuple, list)) else ()


def _check_values(values: object, name: str, owner: str, kinds: tuple[type, ...]) -> tuple[Any, ...]:
    listed = _listed(values)
    plain = all(isinstance(value, kinds) and not isinstance(value, bool) for value in listed)
    if not plain or not listed or len(set(listed)) < len(listed):
        what = "texts or whole numbers" if int in kinds else "texts"
        refuse(name, owner, f"different {what}, at least one", values)
    return listed


def _check_bool(value: object, name: str, owner: str) -> None:
    if not isinstance(value, bool):
        refuse(name, owner, "true or false", value)
