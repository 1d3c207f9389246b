"""Ends of windows: an event without a reward ends its wait, with the default reward if there is one."""

from __future__ import annotations

import logging
from itertools import islice, takewhile

from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.errors import StorageError
from bandit_forest.service.journal.entries import EXPIRE, Entry
from bandit_forest.service.operations.work import Work

__all__ = ["expire", "expire_early"]

_logger = logging.getLogger(__name__)


def expire(service: ServiceContext, *, limit: int = 100) -> int:
    """End the wait of at most `limit` events whose window is over, oldest first; return their number.

    Return 0 while the journal cannot be written. The caller calls it about once per second, and again at once while it
    returns `limit`.
    """
    rule = service.project.reward
    try:
        service.check_storage()
    except StorageError:
        return 0
    waiting, now = service.state.waiting.values(), service.now()
    due = takewhile(lambda event: now > event.time + rule.window_seconds, islice(waiting, limit))
    return _expire(service, [event.event_id for event in due])


def expire_early(service: ServiceContext, n_events: int) -> None:
    """End the wait of the oldest events before their window is over, to make room for new ones."""
    if service.expired_early == 0:
        _logger.warning(
            "As many events wait for their reward as [limits] waiting_events allows: the oldest expire early."
        )
    service.expired_early += _expire(service, list(islice(service.state.waiting, n_events)))


def _expire(service: ServiceContext, event_ids: list[str]) -> int:
    work, default = Work(service), service.project.reward.default
    for event_id in event_ids:
        entry = Entry(work.next_seq, work.now, EXPIRE, event_id, reward=default)
        work.add(entry, service.state.add_expiry(event_id, default, work.now))
    work.finish()
    return len(event_ids)
