"""When a running service takes a snapshot, and what it notes of it."""

from __future__ import annotations

import time
from collections.abc import Callable

from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.recovery.snapshots import SnapshotData, take_snapshot

__all__ = ["SnapshotTaker"]


class SnapshotTaker:
    """Takes snapshots of the state of a running service.

    Parameters
    ----------
    context
        The service; its `snapshot_seq`, `snapshot_time` and `snapshot_seconds` are set.
    engine
        Name of the engine that makes its decisions.
    """

    def __init__(self, context: ServiceContext, engine: str) -> None:
        self._context = context
        self._engine = engine
        self._last = time.monotonic()

    @property
    def is_due(self) -> bool:
        """Whether a snapshot should be taken now, by the project's intervals."""
        storage, n_new = self._context.project.storage, self._context.state.seq - self._context.snapshot_seq
        waited = time.monotonic() - self._last >= storage.snapshot_seconds
        return n_new >= storage.snapshot_events or (n_new > 0 and waited)

    def take(self, keep: Callable[[SnapshotData], bool]) -> Callable[[], None]:
        """Take the state now; the function returned has it kept, and is to be called in a thread.

        Only this call holds up decisions. `keep` returns whether the snapshot is kept.
        """
        context, start, moment = self._context, time.perf_counter(), time.time()
        taken = take_snapshot(context.state, self._engine)
        seconds = time.perf_counter() - start
        self._last = time.monotonic()

        def write() -> None:
            if keep(taken):
                context.snapshot_seq, context.snapshot_time = taken.header["seq"], moment
                context.snapshot_seconds = seconds

        return write
