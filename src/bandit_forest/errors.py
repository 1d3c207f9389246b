"""The exceptions of the package, and the common sentence of their messages."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

__all__ = [
    "BanditForestError",
    "DamagedFileError",
    "InvalidArgumentError",
    "MissingExtraError",
    "OutdatedFileError",
    "refusal",
    "refuse",
    "shown",
]

_LONGEST_REPR = 80


class BanditForestError(Exception):
    """Base class of all exceptions that this package raises on purpose."""


class InvalidArgumentError(BanditForestError, ValueError):
    """An argument of a public call is not valid; nothing has changed."""

    parameter: str | None = None
    """The name of the refused argument, if there is one."""


class DamagedFileError(BanditForestError, ValueError):
    """A saved file is truncated, altered, foreign or of a version that this package cannot read."""


class OutdatedFileError(DamagedFileError):
    """A saved forest is complete, but this version no longer has the rules to continue it."""


class MissingExtraError(BanditForestError, ImportError):
    """An optional dependency is absent; the message says how to install it."""


def refuse(name: str, owner: str, rule: str, value: object) -> NoReturn:
    """Raise `InvalidArgumentError` with the package's one error sentence.

    Examples
    --------
    >>> refuse("reward", "BanditForest.learn", "a number in [0, 1]", 1.7)
    Traceback (most recent call last):
        ...
    bandit_forest.errors.InvalidArgumentError: The 'reward' of BanditForest.learn must be a number in [0, 1]. \
Got 1.7 instead.
    """
    error = InvalidArgumentError(refusal(f"The '{name}' of {owner}", rule, value))
    error.parameter = name
    raise error


def refusal(subject: str, rule: str, value: object) -> str:
    """Return the package's one error sentence; a rule that ends with a question gets no full stop behind it.

    Examples
    --------
    >>> refusal("The 'agee' of the context", "left out: did you mean 'age'?", 3)
    "The 'agee' of the context must be left out: did you mean 'age'? Got 3 instead."
    """
    end = "" if rule.endswith((".", "?", "!")) else "."
    return f"{subject} must be {rule}{end} Got {shown(value)} instead."


def shown(value: object) -> str:
    """Return a value on one line, however large it is; numbers of NumPy as those of Python.

    Examples
    --------
    >>> shown([np.float64(-2.0), "two"])
    "[-2.0, 'two']"
    """
    try:
        text = " ".join(repr(_plain(value)).split())
    except RecursionError:  # JSON may nest deeper than `repr` follows
        text = f"a deeply nested {type(value).__name__}"
    except ValueError:  # ints of more than 4300 digits
        text = f"a very long {type(value).__name__}"
    return text if len(text) <= _LONGEST_REPR else text[: _LONGEST_REPR - 3] + "..."


def _plain(value: object) -> object:
    """Return a value in which numbers and texts of NumPy are those of Python."""
    # Not by NumPy's print options, which all threads share.
    if isinstance(value, (np.number, np.bool_, np.character)):
        return value.item()
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))  # type: ignore[call-arg, call-overload]
    if type(value) is dict:
        return {_plain(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1:
        column = value.copy()
        for place, cell in enumerate(value):
            column[place] = _plain(cell)
        return column
    return value
