"""Batches: each item is answered or refused on its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from bandit_forest.service.errors import InvalidRequestError, ServiceError
from bandit_forest.service.operations.results import Refusal, refusal

__all__ = ["each"]

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def each(
    items: Iterable[_Item | InvalidRequestError], field: str, do: Callable[[_Item], _Result]
) -> list[_Result | Refusal]:
    """Return the result of each item, or its refusal with the item's place in the batch.

    Examples
    --------
    >>> each([4.0, InvalidRequestError("No number.", path="$.rewards[1]")], "rewards", abs)
    [4.0, Refusal(error=Problem(code='invalid_request', message='No number.', path='$.rewards[1]'))]
    """
    done: list[_Result | Refusal] = []
    for number, item in enumerate(items):
        if isinstance(item, InvalidRequestError):
            done.append(refusal(item))
            continue
        try:
            done.append(do(item))
        except ServiceError as error:
            done.append(refusal(error.within(f"$.{field}[{number}]")))
    return done
