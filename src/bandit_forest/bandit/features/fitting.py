"""From the first contexts to the bins and the values of features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bandit_forest.bandit.features.kinds import (
    OTHER_LABEL,
    TIME_PARTS,
    BooleanFeature,
    CategoricalFeature,
    Feature,
    LabelsFeature,
    NumericFeature,
    TimeFeature,
)
from bandit_forest.bandit.features.values import expanded
from bandit_forest.encoding import Binned, Categorical, Column, Numeric
from bandit_forest.encoding.fitting import Resolution, fit_column

__all__ = ["fit_columns", "fit_labels"]

Context = Mapping[str, Any]


def fit_labels(name: str, feature: Feature, contexts: Sequence[Context]) -> Feature:
    """Return a feature of labels with the labels of the first contexts, and any other feature as it is."""
    if not isinstance(feature, LabelsFeature) or feature.labels is not None:
        return feature
    counts = Counter(label for context in contexts for label in context.get(name) or () if label != OTHER_LABEL)
    frequent = [label for label, _ in counts.most_common(feature.max_values)]
    return replace(feature, labels=tuple(sorted(frequent)) or ("(none)",), open=True)


def fit_columns(features: Mapping[str, Feature], contexts: Sequence[Context]) -> dict[str, Column]:
    """Return the rule of every column, learned from the first contexts where its feature leaves it open.

    Every learned feature has at least one variable, also when it has not varied yet.

    Examples
    --------
    >>> contexts = [{"age": age} for age in range(20, 30)]
    >>> fit_columns({"age": NumericFeature(n_bins=2)}, contexts)
    {'age': Binned(edges=(25.0,), missing=False)}
    >>> fit_columns({"age": NumericFeature()}, contexts[:4])
    {'age': Numeric(thresholds=(21.0, 22.0, 23.0), missing=False)}
    """
    columns: dict[str, Column] = {}
    for name, feature in features.items():
        if isinstance(feature, LabelsFeature):
            columns |= {column: Categorical(values=(False, True)) for column in expanded(feature, name, None)}
        elif isinstance(feature, TimeFeature):
            columns |= {
                f"{name} {part}": _numbers(numbers[1:], ordered=feature.is_ordered, missing=feature.missing)
                for part, numbers in TIME_PARTS.items()
            }
        else:
            columns[name] = _column(name, feature, [context.get(name) for context in contexts])
    return columns


def _column(name: str, feature: NumericFeature | CategoricalFeature | BooleanFeature, given: list[Any]) -> Column:
    known = [value for value in given if value is not None]
    if isinstance(feature, BooleanFeature):
        return Categorical(values=(False, True), missing=feature.missing)
    if isinstance(feature, CategoricalFeature):
        values = feature.values or _frequent(known, feature.max_values)
        return Categorical(values=values, other=feature.is_open and feature.other, missing=feature.missing)
    limits = feature.thresholds or feature.edges or _limits(name, known, feature.n_bins)
    return _numbers(limits, ordered=feature.is_ordered, missing=feature.missing)


def _frequent(known: list[Any], most: int) -> tuple[Any, ...]:
    frequent = [value for value, _ in Counter(known).most_common(most)]
    return tuple(sorted(frequent, key=lambda value: (isinstance(value, str), value)))


def _limits(name: str, known: list[Any], n_bins: int | None) -> Sequence[float]:
    values = np.array(known, dtype=np.float64)
    column = fit_column(values, "numeric", Resolution(n_bins=n_bins), name, "the context")
    return column.limits or (float(known[0]) if known else 0.0,)


def _numbers(limits: Sequence[float], *, ordered: bool, missing: bool) -> Column:
    return Numeric(thresholds=limits, missing=missing) if ordered else Binned(edges=limits, missing=missing)
