"""The kinds of features that a context may hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, ClassVar

from bandit_forest.errors import refuse
from bandit_forest.validation import check_int, check_number
from bandit_forest.variables import MOST_THRESHOLDS

__all__ = [
    "KINDS",
    "BooleanFeature",
    "CategoricalFeature",
    "Feature",
    "LabelsFeature",
    "NumericFeature",
    "TimeFeature",
    "default_feature",
    "feature_from_json",
    "feature_to_json",
]

FINITE = -1e300, 1e300
TIME_PARTS = {"hour": range(24), "weekday": range(7), "month": range(1, 13)}
"""The parts of a moment, each with the numbers that it takes."""
OTHER_LABEL = "another label"
"""What an open feature of labels calls all labels that have no variable."""
N_BINS = 5
"""Number of bins of a number that nobody has declared, for policies that take binary variables only."""


@dataclass(frozen=True, kw_only=True)
class NumericFeature:
    """A number: one ordered variable, unless it is cut into bins.

    Parameters
    ----------
    thresholds
        Increasing thresholds of the tests in rules, such as `age >= 35`; None: up to 255 thresholds, learned from the
        first events.
    edges
        Increasing edges between bins: one binary variable per bin, instead of thresholds.
    n_bins
        Number of bins of equal frequency that are learned, instead of thresholds.
    missing
        Whether a missing value is allowed.
    """

    kind: ClassVar[str] = "numeric"

    thresholds: tuple[float, ...] | None = None
    edges: tuple[float, ...] | None = None
    n_bins: int | None = None
    missing: bool = False

    def __post_init__(self) -> None:
        owner = "a numeric feature"
        _check_bool(self.missing, "missing", owner)
        if self.n_bins is not None:
            check_int(self.n_bins, "bins", f"{owner} (n_bins in Python)", low=2, high=1000)
        for name in ("thresholds", "edges"):
            if (limits := getattr(self, name)) is not None:
                object.__setattr__(self, name, _increasing(limits, name, owner))
        if self.thresholds is not None:
            if self.edges is not None or self.n_bins is not None:
                refuse("thresholds", owner, "absent where there are edges or a number of bins", self.thresholds)
            if len(self.thresholds) > MOST_THRESHOLDS:
                refuse("thresholds", owner, f"at most {MOST_THRESHOLDS} numbers", self.thresholds)

    @property
    def is_learned(self) -> bool:
        """Whether it takes its thresholds or bins from the first events."""
        return self.thresholds is None and self.edges is None

    @property
    def is_ordered(self) -> bool:
        """Whether it is an ordered variable, not bins."""
        return self.edges is None and self.n_bins is None

    @property
    def rule(self) -> str:
        """Rule for a value, as refusals state it."""
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
    other
        Always true, except in storage folders of version 0.1. The other values of an open feature share a variable,
        `city is another value`; in those folders they set no variable.
    """

    kind: ClassVar[str] = "categorical"
    is_ordered: ClassVar[bool] = False

    values: tuple[str | int, ...] | None = None
    max_values: int = 100
    open: bool = False
    missing: bool = False
    other: bool = True

    def __post_init__(self) -> None:
        owner = "a categorical feature"
        check_int(self.max_values, "max_values", owner, high=10_000)
        _check_bool(self.open, "open", owner)
        _check_bool(self.missing, "missing", owner)
        _check_bool(self.other, "other", owner)
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
        """Rule for a value, as refusals state it."""
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
    is_ordered: ClassVar[bool] = False
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
    is_ordered: ClassVar[bool] = False

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
            if self.open and OTHER_LABEL in self.labels:
                refuse("labels", owner, f"without '{OTHER_LABEL}', the name of all other labels", self.labels)

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
        """Rule for a value, as refusals state it."""
        return (
            "a list of texts" if self.is_open else "a list of labels among " + ", ".join(map(repr, self.labels or ()))
        )


@dataclass(frozen=True, kw_only=True)
class TimeFeature:
    """A time, with one ordered variable for its hour, its weekday (0 is Monday) and its month.

    The parts of a time with a time zone are those in its zone: the time is not converted.

    Parameters
    ----------
    bins
        Whether each hour, weekday and month has its own binary variable instead.
    missing
        Whether a missing value is allowed.
    """

    kind: ClassVar[str] = "time"
    is_learned: ClassVar[bool] = False
    rule: ClassVar[str] = "a datetime, a date, or a text such as '2024-05-17T09:30:00'"

    bins: bool = False
    missing: bool = False

    def __post_init__(self) -> None:
        _check_bool(self.bins, "bins", "a feature of time")
        _check_bool(self.missing, "missing", "a feature of time")

    @property
    def is_ordered(self) -> bool:
        """Whether its parts are ordered variables, not bins."""
        return not self.bins


Feature = NumericFeature | CategoricalFeature | BooleanFeature | LabelsFeature | TimeFeature

KINDS: dict[str, type[Feature]] = {
    kind.kind: kind for kind in (NumericFeature, CategoricalFeature, BooleanFeature, LabelsFeature, TimeFeature)
}


def default_feature(kind: str, *, ordered: bool) -> Feature:
    """Return the feature of a kind without further settings; it may be missing.

    Parameters
    ----------
    kind
        One of `KINDS`.
    ordered
        Whether the policy takes ordered variables. If not, numbers have five bins, and times one bin per hour, weekday
        and month.

    Examples
    --------
    >>> default_feature("numeric", ordered=False)
    NumericFeature(thresholds=None, edges=None, n_bins=5, missing=True)
    """
    if kind == NumericFeature.kind and not ordered:
        return NumericFeature(n_bins=N_BINS, missing=True)
    if kind == TimeFeature.kind and not ordered:
        return TimeFeature(bins=True, missing=True)
    return KINDS[kind](missing=True)


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


def _increasing(limits: object, name: str, owner: str) -> tuple[float, ...]:
    rule = "increasing finite numbers, at least one"
    checked = tuple(check_number(limit, name, owner, rule, *FINITE) for limit in _listed(limits))
    if not checked or any(low >= high for low, high in pairwise(checked)):
        refuse(name, owner, rule, limits)
    return checked


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
