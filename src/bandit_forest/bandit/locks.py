"""Locks of bandits; a fork waits until none is held, so that a child process finds every bandit whole and free."""

from __future__ import annotations

import os
import threading
from typing import Any
from weakref import WeakSet

__all__ = ["new_lock"]

_locks: WeakSet[Any] = WeakSet()
_making = threading.Lock()
_held: list[Any] = []


def new_lock() -> threading.RLock:
    """Return a lock that a fork takes first."""
    lock = threading.RLock()
    with _making:
        _locks.add(lock)
    return lock


def _close() -> None:
    with _making:
        held = sorted(_locks, key=id)  # in one order, whoever forks
    for lock in held:
        lock.acquire()
    _making.acquire()
    _held.extend(held)


def _open() -> None:
    held = _held.copy()
    _held.clear()
    _making.release()
    for lock in held:
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_close, after_in_parent=_open, after_in_child=_open)
