"""Background work: expire events whose window is over, and take snapshots."""

from __future__ import annotations

import asyncio
import logging

from bandit_forest.service.errors import ServiceError
from bandit_forest.service.operations.expiry import expire
from bandit_forest.service.recovery.start import Service

__all__ = ["run_background"]

_PAUSE_SECONDS = 1.0
_AT_ONCE = 100

_logger = logging.getLogger(__name__)


async def run_background(service: Service) -> None:
    """Do the background work of a service for ever; a failed task is logged and tried again."""
    while True:
        await asyncio.sleep(_PAUSE_SECONDS)
        try:
            while expire(service.context, limit=_AT_ONCE) == _AT_ONCE:
                await asyncio.sleep(0)  # decisions come first
            if service.snapshot_due:
                await asyncio.to_thread(service.snapshot())
        except (OSError, ServiceError) as error:
            _logger.error("What the service does in the background failed and will be tried again: %s", error)
