"""What the service does without being asked: end waits that are over, and take snapshots."""

from __future__ import annotations

import asyncio
import logging

from bandit_forest.service.decider import Decider
from bandit_forest.service.errors import ServiceError

__all__ = ["upkeep"]

_PAUSE_SECONDS = 1.0
_AT_ONCE = 100

_log = logging.getLogger("bandit_forest.service")


async def upkeep(decider: Decider) -> None:
    """Look after a decider for ever; a failure is logged and tried again."""
    while True:
        await asyncio.sleep(_PAUSE_SECONDS)
        try:
            while decider.expire(limit=_AT_ONCE) == _AT_ONCE:
                await asyncio.sleep(0)  # decisions come first
            if decider.snapshot_due:
                await asyncio.to_thread(decider.snapshot())
        except (OSError, ServiceError) as error:
            _log.error("Upkeep failed and will be tried again: %s", error)
