"""Tasks that run anywhere, and the protocol of launchers."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from bandit_forest.errors import BanditForestError

__all__ = ["Launcher", "OnUpdate", "Report", "Reporter", "SharedFile", "Task", "TaskFailedError", "Update", "ignore"]

_SECONDS_BETWEEN_REPORTS = 0.2

Report = Callable[[int, float | None], object]
"""Called with the amount that is done, and the average reward where there is one."""


class TaskFailedError(BanditForestError, RuntimeError):
    """A task could not be finished; the message says why."""


class Task(Protocol):
    """A long computation that can be sent to another process, and returns bytes."""

    @property
    def label(self) -> str:
        """Name of the task, for messages."""

    @property
    def size(self) -> int:
        """Number of events or of trees."""

    def run(self, report: Report) -> bytes:
        """Run the task; a second run returns the same bytes."""


class Update(NamedTuple):
    """Progress of a task."""

    n_done: int
    reward: float | None
    """Average reward so far, where there is one."""
    is_finished: bool = False


OnUpdate = Callable[[int, Update], object]
"""Called with the number of a task and its progress."""


class Reporter:
    """Sends the progress of a task, every now and then.

    Parameters
    ----------
    send
        Takes the progress to whoever shows it.
    """

    def __init__(self, send: Callable[[Update], object]) -> None:
        self._send = send
        self._last_time = 0.0
        self.reward: float | None = None

    def __call__(self, n_done: int, reward: float | None) -> None:
        """Take the progress, as `Report` says."""
        self.reward = reward
        now = time.monotonic()
        if now - self._last_time >= _SECONDS_BETWEEN_REPORTS:
            self._last_time = now
            self._send(Update(n_done, reward))


class SharedFile(Protocol):
    """A file that every task can read, wherever it runs."""

    def open(self) -> Path | io.BytesIO:
        """Return where it is on this machine, or its content; `numpy.load` takes both."""


class Launcher(Protocol):
    """Runs independent tasks."""

    def share(self, path: Path) -> SharedFile:
        """Return a file for tasks to read."""

    def run(self, tasks: Sequence[Task], *, on_update: OnUpdate) -> Iterator[tuple[int, bytes]]:
        """Yield the number of each task and its result, as they come.

        A task whose process or machine dies is run again; one that raises ends the run with `TaskFailedError`. Whoever
        stops reading, by Ctrl-C for example, stops all tasks.

        Parameters
        ----------
        tasks
            The tasks, in the order in which they start.
        on_update
            Called with the progress of a task.
        """


def ignore(number: int, update: Update) -> None:
    """Show nothing."""
