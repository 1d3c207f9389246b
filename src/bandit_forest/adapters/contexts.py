"""Contexts as other tools hold them, as the variables of a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import refuse

__all__ = ["ContextReader"]


class ContextReader:
    """Reads contexts: None, zeros and ones, or raw features through an encoder.

    Parameters
    ----------
    features
        A fitted `ContextEncoder` for raw features; or the names of variables that are 0 or 1 in mappings; or the number
        of variables in sequences of zeros and ones. With 0 all contexts are the same.
    owner
        Name of the adapter, for refusals.
    """

    def __init__(self, features: ContextEncoder | Sequence[str] | int, owner: str) -> None:
        self._features, self._owner = features, owner

    @property
    def n_variables(self) -> int:
        """The number of variables; at least one, since a policy needs one."""
        if isinstance(self._features, ContextEncoder):
            return self._features.n_variables
        return max(self._features if isinstance(self._features, int) else len(self._features), 1)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of a policy for these contexts: thresholds only where a variable is ordered."""
        thresholds = self._features.thresholds if isinstance(self._features, ContextEncoder) else {}
        return {"n_variables": self.n_variables} | ({"thresholds": thresholds} if thresholds else {})

    def read(self, context: Any) -> NDArray[np.uint8]:
        """Return the code of each variable of a context."""
        features = self._features
        if isinstance(features, ContextEncoder):
            return features.encode(context)
        if context is None or features == 0:
            return np.zeros(self.n_variables, dtype=np.uint8)
        if not isinstance(features, int) and isinstance(context, Mapping):
            context = [context.get(name, 0) for name in features]
        bits = np.asarray(context, dtype=np.float64)
        if bits.shape != (self.n_variables,) or not ((bits == 0) | (bits == 1)).all():
            refuse("context", self._owner, f"{self.n_variables} zeros and ones, where there is no encoder", context)
        return bits.astype(np.uint8)
