"""Checks that the parts of a project share: each gives back the clean value or refuses in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bandit_forest.errors import refuse
from bandit_forest.validation import check_number

__all__ = [
    "FINITE",
    "LARGEST_FLOAT",
    "LONGEST_NAME",
    "check_bool",
    "check_choice",
    "check_seconds",
    "check_texts",
    "is_name",
    "listed",
]

LARGEST_FLOAT = 1e300
FINITE = -LARGEST_FLOAT, LARGEST_FLOAT
LONGEST_NAME = 200


def is_name(text: str) -> bool:
    """Say whether a text may be the name of an action or of an event: printable, so that every file can hold it."""
    return 0 < len(text) <= LONGEST_NAME and text.isprintable()


def listed(values: object) -> Sequence[Any]:
    """Give back a list as it is, and nothing in place of anything else."""
    return values if isinstance(values, (tuple, list)) else ()


def check_texts(values: object, name: str, owner: str) -> tuple[str, ...]:
    """Give back a list of texts."""
    if not isinstance(values, (tuple, list)) or not all(isinstance(value, str) for value in values):
        refuse(name, owner, "a list of texts", values)
    return tuple(values)


def check_choice(value: object, name: str, owner: str, choices: tuple[str, ...]) -> None:
    """Check that a value is one of a few texts."""
    if value not in choices:
        refuse(name, owner, " or ".join(f"'{choice}'" for choice in choices), value)


def check_bool(value: object, name: str, owner: str) -> None:
    """Check that a value is a bool."""
    if not isinstance(value, bool):
        refuse(name, owner, "true or false", value)


def check_seconds(value: object, name: str, owner: str) -> None:
    """Check that a value is a length of time."""
    check_number(value, name, owner, "a number of seconds above 0", 0.0, LARGEST_FLOAT, open_low=True)
