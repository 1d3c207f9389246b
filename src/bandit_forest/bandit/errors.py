"""Refusals of features and of actions."""

from __future__ import annotations

from typing import Self

from bandit_forest.errors import InvalidArgumentError, refusal

__all__ = ["ActionError", "CapacityError", "FeatureError", "UnknownActionError"]


class FeatureError(InvalidArgumentError):
    """A context that the schema refuses; nothing has changed.

    Parameters
    ----------
    feature
        Name of the feature; None for the context as a whole.
    rule
        What the value must be.
    value
        The value that is refused.
    row
        Number of its row in a batch.
    noun
        What the features describe.

    Examples
    --------
    >>> print(FeatureError("age", "a finite number", "old", row=3))
    The 'age' of the context in row 3 must be a finite number. Got 'old' instead.
    """

    def __init__(
        self, feature: str | None, rule: str, value: object, *, row: int | None = None, noun: str = "context"
    ) -> None:
        self.feature, self.rule, self.value, self.row, self.noun = feature, rule, value, row, noun
        self.parameter = feature
        where = f"the {noun}" if row is None else f"the {noun} in row {row}"
        subject = f"The '{feature}' of {where}" if feature is not None else where[0].upper() + where[1:]
        super().__init__(refusal(subject, rule, value))

    def at(self, *, row: int | None = None, noun: str | None = None) -> Self:
        """Return the same refusal with the number of the row, or with another noun."""
        found = self.row if row is None else row
        return type(self)(self.feature, self.rule, self.value, row=found, noun=noun or self.noun)


class UnknownActionError(InvalidArgumentError):
    """No action has this name."""


class ActionError(InvalidArgumentError):
    """The action cannot be added or changed: the name is taken, or no action would be left."""


class CapacityError(InvalidArgumentError):
    """There is no room for another action."""
