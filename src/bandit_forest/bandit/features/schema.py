"""The schema: contexts are checked against their features and encoded as variables, in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Set
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.errors import FeatureError
from bandit_forest.bandit.features.fast_reader import Reader, make_reader
from bandit_forest.bandit.features.fitting import fit_columns, fit_labels
from bandit_forest.bandit.features.kinds import Feature, LabelsFeature, TimeFeature
from bandit_forest.bandit.features.learned_kinds import kind_of
from bandit_forest.bandit.features.values import as_context, clean, expanded
from bandit_forest.encoding import Column, ContextEncoder

__all__ = ["Schema"]


class Schema:
    r"""Read contexts strictly: the same variables as `ContextEncoder.encode`, and refusals that name the feature.

    Parameters
    ----------
    features
        What a context may hold.
    columns
        The rule of each column. None while rules are still to be learned: contexts are checked, and not encoded.
    never_seen
        Undeclared features that were always missing when features were learned, and are taken for categories.
    parameter
        Name of the parameter that declares features.

    Examples
    --------
    >>> from bandit_forest.bandit.features.kinds import BooleanFeature, NumericFeature
    >>> schema = Schema.fit({"age": NumericFeature(edges=(30, 50)), "member": BooleanFeature()}, [])
    >>> schema.encode({"age": 42, "member": True})
    b'\x00\x01\x00\x01'
    >>> schema.encode({"age": "old", "member": True})
    Traceback (most recent call last):
        ...
    bandit_forest.bandit.errors.FeatureError: The 'age' of the context must be a finite number. Got 'old' instead.
    """

    def __init__(
        self,
        features: Mapping[str, Feature],
        columns: Mapping[str, Column] | None,
        *,
        never_seen: Set[str] = frozenset(),
        parameter: str = "features",
    ) -> None:
        self.features = dict(features)
        self._never_seen, self._parameter = never_seen, parameter
        self.encoder = None if columns is None else ContextEncoder.from_schema(columns)
        self._has_parts = any(isinstance(feature, LabelsFeature | TimeFeature) for feature in features.values())
        self._reader = self.reader()

    @classmethod
    def fit(
        cls,
        features: Mapping[str, Feature],
        contexts: list[dict[str, Any]],
        *,
        never_seen: Set[str] = frozenset(),
        parameter: str = "features",
    ) -> Schema:
        """Return a schema whose open rules are learned from checked contexts."""
        fitted = {name: fit_labels(name, feature, contexts) for name, feature in features.items()}
        return cls(fitted, fit_columns(fitted, contexts), never_seen=never_seen, parameter=parameter)

    @property
    def is_learned(self) -> bool:
        """Whether there are rules for all columns."""
        return self.encoder is not None

    def reader(self, *, ignored: str | None = None) -> Reader | None:
        """Return the compiled reader of contexts, with a field that is ignored; None where it cannot read them."""
        if self.encoder is None or self._has_parts:
            return None
        return make_reader(self.features, self.encoder, ignored=ignored)

    def encode(self, context: Any) -> bytes:
        """Return the variables of a context, one byte each, or refuse it."""
        if self._reader is not None:
            bits = self._reader.read(context)
            if bits is not None:
                return bits
        return self.encode_plainly(context)

    def encode_row(self, row: tuple[Any, ...], absent: object) -> bytes | None:
        """Return the variables of the values of all features, sorted by name; None where `encode` has to look at them.

        Parameters
        ----------
        row
            The values.
        absent
            What stands for a value that is not there.
        """
        return None if self._reader is None else self._reader.read_row(row, absent)

    def encode_plainly(self, context: Any) -> bytes:
        """Return the same by way of `check` and the encoder: what the compiled reader must equal."""
        assert self.encoder is not None
        return self.encoder.encode(self.columns_of(self.check(context))).tobytes()

    def encode_many(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
        """Return the variables of checked columns, one row for each event."""
        assert self.encoder is not None
        return self.encoder.transform(columns)

    def holds(self, codes: bytes) -> bool:
        """Return whether bytes can be what `encode` has returned: one code per variable, none above its largest."""
        if self.encoder is None or len(codes) != self.encoder.n_variables:
            return False
        return bool((np.frombuffer(codes, dtype=np.uint8) <= self._largest_codes).all())

    @cached_property
    def _largest_codes(self) -> NDArray[np.uint8]:
        assert self.encoder is not None
        largest = np.ones(self.encoder.n_variables, dtype=np.uint8)
        for variable, thresholds in self.encoder.thresholds.items():
            largest[variable] = len(thresholds)
        return largest

    def check(self, given: Any) -> dict[str, Any]:
        """Return a context with clean values, or refuse it."""
        context = as_context(given)
        if not context.keys() <= self.features.keys():
            self.refuse_unknown(next(name for name in context if name not in self.features), context)
        return {name: self.clean(name, context.get(name)) for name in self.features}

    def clean(self, name: str, given: Any) -> Any:
        """Return a value as its feature wants it, or refuse it."""
        try:
            return clean(self.features[name], name, given)
        except FeatureError as error:
            if name not in self._never_seen:
                raise
            cure = f'{self._parameter}={{"{name}": "{kind_of(name, given)}"}}'
            why = "it was always missing when the features were learned, and is taken for a category; declare it"
            rule = f"{error.rule}: {why} ({cure}), or call fit before with rows that have values of it"
            raise FeatureError(name, rule, given) from None

    def refuse_unknown(self, name: Any, value: object) -> None:
        """Refuse a feature that there is not, with the nearest name."""
        near = get_close_matches(name, self.features, n=1) if isinstance(name, str) else []
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(self.features)}"
        if isinstance(value, dict):
            value = value[name]
        raise FeatureError(name if isinstance(name, str) else repr(name), f"left out, it is unknown: {hint}", value)

    def columns_of(self, context: dict[str, Any]) -> dict[str, Any]:
        """Return the values of the encoder's columns of a checked context."""
        if not self._has_parts:
            return context
        columns: dict[str, Any] = {}
        for name, value in context.items():
            feature = self.features[name]
            if isinstance(feature, LabelsFeature | TimeFeature):
                columns |= expanded(feature, name, value)
            else:
                columns[name] = value
        return columns

    def feature_of_variables(self) -> list[str]:
        """Return the feature that each variable is made of."""
        assert self.encoder is not None
        features = []
        for column, rule in self.encoder.columns_.items():
            variables = {variable for variable in rule.outcome_names(column) if variable is not None}
            features += [self._feature_of(column)] * len(variables)
        return features

    def _feature_of(self, column: str) -> str:
        """Return the feature that a column of the encoder is made of."""
        if column in self.features:
            return column
        parts = {
            name: expanded(f, name, None)
            for name, f in self.features.items()
            if isinstance(f, LabelsFeature | TimeFeature)
        }
        return next(name for name, columns in parts.items() if column in columns)
