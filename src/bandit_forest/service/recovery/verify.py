"""The proof that a start recovers what the whole journal makes."""

from __future__ import annotations

from typing import NamedTuple

from bandit_forest.errors import DamagedFileError
from bandit_forest.service.config.project import Project
from bandit_forest.service.domain.state import State
from bandit_forest.service.recovery.recover import journal_end, open_folder, rebuild, recover

__all__ = ["Verification", "verify"]


class Verification(NamedTuple):
    """Numbers of what `verify` has compared, and found equal."""

    n_entries: int
    snapshot_seq: int
    n_events: int
    """Number of lessons that the forest has learned."""
    n_waiting: int
    recomputed_from: int = 1
    """Number of the first entry whose decisions were made by this engine."""

    def __str__(self) -> str:
        text = (
            f"The forest rebuilt from all {self.n_entries} entries of the journal equals, byte for byte, the one that "
            f"a start recovers from the snapshot at entry {self.snapshot_seq}: {self.n_events} events learned, "
            f"{self.n_waiting} waiting."
        )
        if self.recomputed_from > 1:
            first = self.recomputed_from
            text += f" Decisions before entry {first} were made by another growth rule, or before a migration. They "
            text += "are not recomputed."
        return text


def verify(project: Project) -> Verification:
    """Rebuild the forest from the whole journal and compare it with the one that a start recovers.

    May be called while the service runs. What differs is told by `DamagedFileError`.
    """
    path = project.storage.folder
    last = journal_end(path)
    folder = open_folder(project)
    recovered, rebuilt = recover(folder, until=last), rebuild(folder, until=last)
    for what, ours, whole in _compared(recovered.state, rebuilt):
        if ours != whole:
            raise DamagedFileError(
                f"The {what} recovered from the snapshot at entry {recovered.snapshot_seq} of '{path}' differ from "
                f"those rebuilt from all {last} entries of the journal."
            )
    n_events, n_waiting = rebuilt.learner.version, len(rebuilt.waiting)
    return Verification(last, recovered.snapshot_seq, n_events, n_waiting, min(folder.recomputed_from, last + 1))


def _compared(ours: State, whole: State) -> list[tuple[str, object, object]]:
    """Return what the future depends on, twice; remembered events depend on the limits at the time."""
    return [
        ("forests", ours.learner.to_bytes(), whole.learner.to_bytes()),
        ("waiting events", list(ours.waiting.values()), list(whole.waiting.values())),
        ("counts", ours.statistics.to_json(), whole.statistics.to_json()),
    ]
