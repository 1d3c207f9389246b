"""The learner: the replica that makes lessons, elected by a lock. The primary key of lessons refuses a second one."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Any

from bandit_forest.service.config.project import Project
from bandit_forest.service.replica import store

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["Learner"]

_logger = logging.getLogger(__name__)

_PAUSE_SECONDS = 0.01  # between two looks for outcomes, when there was none
_ELECTION_SECONDS = 0.5
_EXPIRY_SECONDS = 1.0
_GRACE_SECONDS = 60.0  # a decision may be stored so much later than it is dated
_AT_ONCE = 1000


class Learner:
    """A thread that makes lessons while this replica is elected."""

    def __init__(self, database: store.Database, project: Project) -> None:
        self.is_elected = False
        self.n_waiting = 0
        """Number of waiting events at the last count, set by the replica."""
        self._database = database
        self._project = project
        self._stopping = threading.Event()
        self._expired_until = 0.0
        self._thread = threading.Thread(target=self._run, name="bandit-forest-learner", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread, and let another replica be elected."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                with self._database.pool.connection() as connection:
                    self._stand(connection)
            except self._database.error as error:
                if not self._stopping.is_set():
                    _logger.warning("The learner could not go on, and will try again: %s", store.on_one_line(error))
            self.is_elected = False
            self._stopping.wait(_ELECTION_SECONDS)

    def _stand(self, connection: Connection[Any]) -> None:
        """Make lessons if this replica is elected, until it stops or its connection ends."""
        row = connection.execute("SELECT pg_try_advisory_lock(%s)", (store.LESSON_LOCK,)).fetchone()
        self.is_elected = bool(row and row[0])
        if not self.is_elected:
            return
        _logger.info("This replica makes the lessons now.")
        next_expiry = time.monotonic()
        try:
            while not self._stopping.is_set():
                if time.monotonic() >= next_expiry and self._expire(connection) < _AT_ONCE:
                    next_expiry = time.monotonic() + _EXPIRY_SECONDS
                if not store.take_outcomes(connection, limit=_AT_ONCE):
                    self._stopping.wait(_PAUSE_SECONDS)
        finally:
            if not connection.closed:
                connection.execute("SELECT pg_advisory_unlock(%s)", (store.LESSON_LOCK,))

    def _expire(self, connection: Connection[Any]) -> int:
        """End waits whose window is over; those before `_expired_until` have been ended."""
        rule = self._project.reward
        begun = time.time()
        n_expired = store.expire(
            connection, reward=rule.default, since=self._expired_until, window=rule.window_seconds, limit=_AT_ONCE
        )
        if n_expired < _AT_ONCE:
            self._expired_until = begun - rule.window_seconds - _GRACE_SECONDS
            self._make_room(connection)
        return n_expired

    def _make_room(self, connection: Connection[Any]) -> None:
        """End the wait of the oldest events early when more wait than may."""
        rule, limits = self._project.reward, self._project.limits
        surplus = self.n_waiting - limits.waiting_events
        if limits.waiting_full == "expire" and surplus > 0:
            _logger.warning("%d events too many wait for their reward: the oldest expire early.", surplus)
            self.n_waiting -= store.expire(
                connection, reward=rule.default, since=self._expired_until, window=0.0, limit=surplus
            )
