"""A commit in progress, which a request waits for before it is answered."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress

from bandit_forest.service.errors import StorageError

__all__ = ["Commit"]

_logger = logging.getLogger(__name__)


class Commit:
    """The promise that a group of operations is on disk; shared by all requests of the group.

    An event loop registers a callback with `then`, and a thread waits in `result`. The wait ends when the group is
    durable; `outcome` then returns True. It also ends when the disk refuses the group. Then `outcome` raises
    `StorageError` if the project says "refuse", and returns False (not durable yet, but kept in memory) if it says
    "continue".

    Parameters
    ----------
    hurry
        Asks for the group to be written at once; called before a thread waits.

    Examples
    --------
    >>> commit = Commit()
    >>> commit.finish(durable=True)
    >>> commit.result(), commit.durable
    (True, True)
    """

    __slots__ = ("_ended", "_failure", "_hurry", "_lock", "_loop", "_waiters", "durable")

    def __init__(self, hurry: Callable[[], None] | None = None) -> None:
        self.durable = False
        self._hurry = hurry
        self._failure: str | None = None
        self._lock = threading.Lock()
        self._ended: threading.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiters: list[Callable[[], object]] | None = []

    def then(self, call: Callable[[], object]) -> bool:
        """Let the event loop call as soon as the wait is over; False when it is over already, and nothing is called."""
        with self._lock:
            if self._waiters is None:
                return False
            if self._loop is None:
                self._loop = asyncio.get_running_loop()
            self._waiters.append(call)
            return True

    def result(self, timeout: float | None = None) -> bool:
        """Wait in a thread, whose event loop, if it has one, waits too.

        Parameters
        ----------
        timeout
            Seconds to wait at most, then `TimeoutError`; for ever when None.
        """
        if self._hurry is not None:  # a loop that waits calls nobody
            self._hurry()
        with self._lock:
            if self._waiters is not None and self._ended is None:
                self._ended = threading.Event()
            ended = self._ended
        if ended is not None and not ended.wait(timeout):
            raise TimeoutError("The journal has not been written in time.")
        return self.outcome()

    def finish(self, *, durable: bool, failure: str | None = None) -> None:
        """End the wait of everybody; called once more, with durable=True, when a later attempt succeeds."""
        with self._lock:
            self.durable = durable
            self._failure = failure
            waiters, self._waiters = self._waiters, None
        if self._ended is not None:
            self._ended.set()
        if waiters and self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(_wake, waiters)

    def outcome(self) -> bool:
        """Return after the wait whether the group is durable; `StorageError` where the project says "refuse"."""
        if self._failure is not None:
            raise StorageError(self._failure)
        return self.durable


def _wake(waiters: list[Callable[[], object]]) -> None:
    for waiter in waiters:
        try:
            waiter()
        except Exception:  # it must not keep the others waiting
            _logger.exception("An answer could not be given")
