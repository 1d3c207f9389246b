"""One function over many items, such as an evaluation over many logs, on any launcher."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from bandit_forest.distributed.tasks import Launcher, OnUpdate, Report, ignore

__all__ = ["map_over"]

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True, kw_only=True)
class _Call:
    """A call of the function, as a task."""

    label: str
    function: Callable[[Any], Any]
    item: Any
    size: int = 1

    def run(self, report: Report) -> bytes:
        """Call the function."""
        report(0, None)
        return pickle.dumps(self.function(self.item))


def map_over(
    function: Callable[[_Item], _Result],
    items: Sequence[_Item],
    *,
    launcher: Launcher,
    on_update: OnUpdate = ignore,
) -> list[_Result]:
    """Return the result of a function for each item, in the order of the items.

    Parameters
    ----------
    function
        Defined in a module, so that other processes find it.
    items
        Arguments of its calls, one after the other: names of files, say.
    launcher
        Runs the calls.
    on_update
        Called with the progress of a call.

    Examples
    --------
    >>> from math import sqrt
    >>> from bandit_forest.distributed.local import Local
    >>> map_over(sqrt, [1.0, 4.0, 9.0], launcher=Local(2))
    [1.0, 2.0, 3.0]
    """
    tasks = [_Call(label=str(item), function=function, item=item) for item in items]
    results: dict[int, _Result] = {}
    for number, result in launcher.run(tasks, on_update=on_update):
        results[number] = pickle.loads(result)
    return [results[number] for number in range(len(items))]
