"""The rule of one column: which variable a value sets, and to which code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.errors import refuse

__all__ = ["Column", "check_bool"]


class Column(ABC):
    """The rule of one column: each value has one outcome, and each outcome sets at most one variable to a code.

    The outcomes are ordered: those of a known value, then that of a missing value, then that of any other value.
    """

    missing: bool
    """Whether a missing value has a variable of its own."""

    @property
    def limits(self) -> tuple[float, ...]:
        """The numbers at which a numeric column is cut: an outcome is how many of them a number reaches."""
        return ()

    @abstractmethod
    def outcome(self, value: object, name: str, owner: str) -> int:
        """Return the outcome of one value.

        Parameters
        ----------
        value
            The value.
        name, owner
            The column and the public method, for the error sentence.
        """

    @abstractmethod
    def outcomes(self, values: NDArray[Any], name: str, owner: str) -> NDArray[np.intp]:
        """Return the outcome of each value."""

    @abstractmethod
    def outcome_names(self, name: str) -> list[str | None]:
        """Return the name of the variable that each outcome sets, None where it sets none."""

    def outcome_codes(self) -> list[int]:
        """Return the code to which each outcome sets its variable."""
        return [1] * len(self.outcome_names(""))

    def ordered_thresholds(self) -> tuple[float, ...]:
        """Return the thresholds of the column's ordered variable, which is its first; none if all are binary."""
        return ()

    def _missing_name(self, name: str) -> str | None:
        return f"{name} is missing" if self.missing else None


def check_bool(value: object, name: str, owner: str) -> None:
    """Refuse what is not a bool."""
    if not isinstance(value, bool):
        refuse(name, owner, "a bool", value)
