"""The variables of a context: their names, and the thresholds of those that are ordered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bandit_forest.errors import refuse
from bandit_forest.parameters import check_names
from bandit_forest.validation import check_number

__all__ = ["MOST_THRESHOLDS", "Variables", "check_thresholds"]

MOST_THRESHOLDS = 255

Thresholds = dict[int, tuple[float, ...]]


def check_thresholds(value: object, owner: str, n_variables: int) -> Thresholds:
    """Return the thresholds of the ordered variables, by variable.

    Examples
    --------
    >>> check_thresholds({1: [18, 65]}, "BanditForest", 2)
    {1: (18.0, 65.0)}
    """
    rule = f"a mapping from variables in [0, {n_variables - 1}] to 1 to {MOST_THRESHOLDS} increasing numbers"
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        refuse("thresholds", owner, rule, value)
    checked: Thresholds = {}
    for variable, numbers in value.items():
        known = isinstance(variable, (int, np.integer)) and not isinstance(variable, bool)
        if not known or not 0 <= variable < n_variables:
            refuse("thresholds", owner, rule, value)
        checked[int(variable)] = _check_increasing(numbers, owner, rule)
    return dict(sorted(checked.items()))


def _check_increasing(numbers: object, owner: str, rule: str) -> tuple[float, ...]:
    listed = isinstance(numbers, (Sequence, np.ndarray)) and not isinstance(numbers, (str, bytes))
    if not listed or not 1 <= len(numbers) <= MOST_THRESHOLDS:  # type: ignore[arg-type]
        refuse("thresholds", owner, rule, numbers)
    largest = float(np.finfo(np.float64).max)
    checked = tuple(
        check_number(number, "thresholds", owner, rule, -largest, largest)
        for number in numbers  # type: ignore[attr-defined]
    )
    if any(low >= high for low, high in pairwise(checked)):
        refuse("thresholds", owner, rule, numbers)
    return checked


class Variables:
    """Speak of variables, and of tests of them.

    Parameters
    ----------
    names
        The name of each variable; made of "x" and a number when None.
    thresholds
        The thresholds of each ordered variable, by its number. All others are binary.
    owner
        Name of whoever has the variables, for the error sentence.
    n_variables
        Number of variables.

    Examples
    --------
    >>> variables = Variables(["member", "age"], {1: (18.0, 65.0)}, "BanditForest", 2)
    >>> variables.test(0, 1), variables.test(1, 2)
    ('member', 'age >= 65')
    """

    def __init__(self, names: Sequence[str] | None, thresholds: Thresholds, owner: str, n_variables: int) -> None:
        self.names = check_names(names, "variable_names", owner, n_variables, "x")
        self.thresholds = thresholds

    @property
    def levels(self) -> list[int]:
        """The number of codes of each variable; empty when all are binary."""
        if not self.thresholds:
            return []
        return [len(self.thresholds.get(variable, (0.0,))) + 1 for variable in range(len(self.names))]

    @property
    def largest_codes(self) -> NDArray[np.uint8] | None:
        """The largest code of each variable; None when all are binary."""
        return np.array([level - 1 for level in self.levels], dtype=np.uint8) if self.thresholds else None

    def test(self, variable: int, threshold: int) -> str:
        """Return the text of the test whether the code of a variable reaches a threshold."""
        numbers = self.thresholds.get(variable)
        if numbers is None:
            return self.names[variable]
        return f"{self.names[variable]} >= {number_text(numbers[threshold - 1])}"

    def interval(self, variable: int, low: int, high: int) -> str:
        """Return the text of a code of an ordered variable being in [low, high).

        Examples
        --------
        >>> variables = Variables(["age"], {0: (18.0, 65.0)}, "BanditForest", 1)
        >>> variables.interval(0, 0, 1), variables.interval(0, 1, 2), variables.interval(0, 2, 3)
        ('age < 18', 'age in [18, 65)', 'age >= 65')
        """
        numbers, name = self.thresholds[variable], self.names[variable]
        if low == 0:
            return f"{name} < {number_text(numbers[high - 1])}"
        if high > len(numbers):
            return f"{name} >= {number_text(numbers[low - 1])}"
        return f"{name} in [{number_text(numbers[low - 1])}, {number_text(numbers[high - 1])})"


def number_text(number: float) -> str:
    """Return the shortest text of a number.

    Examples
    --------
    >>> number_text(38.0), number_text(0.25)
    ('38', '0.25')
    """
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
