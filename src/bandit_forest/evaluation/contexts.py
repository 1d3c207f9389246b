"""Contexts for the models that learn along a log, whatever its features are."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.features.kinds import TimeFeature
from bandit_forest.bandit.features.values import expanded, is_missing, plain
from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import InvalidArgumentError
from bandit_forest.evaluation.features import listed
from bandit_forest.evaluation.log import Log, encoded

__all__ = ["Contexts"]

Features = Mapping[str, NDArray[Any]]

_TIME = TimeFeature(missing=True)


class Contexts:
    """Makes contexts of the events of a log: its own, its encoded features, or none.

    Without an encoder, times are taken apart into hour, weekday and month, and lists are left out. There are no
    contexts where no feature takes different values.

    Parameters
    ----------
    encoder
        Encodes the features of the log; fitted on the first batch when None.
    """

    def __init__(self, encoder: ContextEncoder | None) -> None:
        self._encoder, self._is_fresh = encoder, encoder is None
        self._is_bare = False
        self.thresholds: Mapping[int, tuple[float, ...]] | None = None
        """Thresholds of the ordered variables; None while there are none."""

    def of(self, log: Log) -> NDArray[np.uint8]:
        """Return the contexts of some events of the log."""
        if log.contexts is not None:
            return log.contexts
        features = _encodable(log.features or {}, log.kinds.context) if self._is_fresh else log.features
        if features and self._encoder is None and not self._is_bare:
            self._fit(features, log.kinds.context)
        if not features or self._encoder is None:
            return np.empty((len(log), 0), dtype=np.uint8)
        self.thresholds = self._encoder.thresholds
        return encoded(features, self._encoder, len(log))

    def _fit(self, features: Features, kinds: Mapping[str, str]) -> None:
        categories = {name: "categorical" for name in features if kinds.get(name) == "categorical"}
        try:
            self._encoder = ContextEncoder(columns=categories).fit(features)
        except InvalidArgumentError as error:
            if error.parameter != "columns" or "columns" in features:
                raise
            self._is_bare = True  # no column takes different values


def _encodable(features: Features, kinds: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    """Return columns that a `ContextEncoder` takes; `kinds` tells which texts are moments."""
    columns: dict[str, NDArray[Any]] = {}
    for name, values in features.items():
        cells = listed(values) if values.dtype.kind in "OMU" else []
        known = next((cell for cell in cells if not is_missing(cell)), None)
        if isinstance(known, date) or kinds.get(name) == TimeFeature.kind:
            parts = [expanded(_TIME, name, plain(cell)) for cell in cells]
            columns |= {part: np.array([row[part] for row in parts], dtype=np.float64) for part in parts[0]}
        elif not isinstance(known, (list, tuple, np.ndarray)):
            columns[name] = values
    return columns
