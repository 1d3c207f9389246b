"""The choice of the snapshot that a start begins with."""

from __future__ import annotations

import logging
from pathlib import Path

from bandit_forest.errors import DamagedFileError
from bandit_forest.service.config.project import Project
from bandit_forest.service.domain.state import State
from bandit_forest.service.recovery.snapshots import load_snapshot, snapshot_files

__all__ = ["newest_snapshot"]

_logger = logging.getLogger(__name__)


def newest_snapshot(folder: Path, project: Project, engine: str, last: int) -> State | None:
    """Return the state of the newest snapshot that is whole and of this engine; None when there is none.

    One that goes beyond the last entry of the journal is refused.
    """
    for file in reversed(snapshot_files(folder)):
        try:
            state = load_snapshot(file, project, engine)
        except DamagedFileError as error:
            _logger.warning("A snapshot is passed over: %s", error)
            continue
        if state.seq > last:
            raise DamagedFileError(
                f"'{file}' goes up to entry {state.seq}, but the journal in '{folder}' ends with entry {last}: "
                "put its missing files back."
            )
        return state
    return None
