"""Batches: each item is answered or refused on its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from bandit_forest.service.errors import InvalidRequestError, ServiceError
from bandit_forest.service.operations.results import Refusal, refusal

__all__ = ["each", "or_refusal"]

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def each(
    items: Iterable[_Item | InvalidRequestError], field: str, do: Callable[[_Item], _Result]
) -> list[_Result | ServiceError]:
    """Do something with each item; where it is refused, or was not of its type, the error tells its place.

    Examples
    --------
    >>> done = each([4.0, InvalidRequestError("No number.", path="$.rewards[1]")], "rewards", abs)
    >>> [or_refusal(one) for one in done]
    [4.0, Refusal(error=Problem(code='invalid_request', message='No number.', path='$.rewards[1]'))]
    """
    done: list[_Result | ServiceError] = []
    for number, item in enumerate(items):
        if isinstance(item, InvalidRequestError):
            done.append(item)
            continue
        try:
            done.append(do(item))
        except ServiceError as error:
            done.append(error.within(f"$.{field}[{number}]"))
    return done


def or_refusal(done: _Result | ServiceError) -> _Result | Refusal:
    """Return the answer to an item, or its refusal."""
    return refusal(done) if isinstance(done, ServiceError) else done
