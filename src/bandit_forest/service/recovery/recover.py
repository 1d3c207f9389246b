"""Starting again: the last good snapshot, and the journal from there on. And the proof that this is right."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import NamedTuple

from bandit_forest.errors import DamagedFileError, refuse
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.storage_identity import adopt, define
from bandit_forest.service.domain.state import State
from bandit_forest.service.journal.files import last_seq, read_definition, read_entries
from bandit_forest.service.recovery.replay import replay
from bandit_forest.service.recovery.snapshots import load_snapshot, snapshot_files

__all__ = ["Recovered", "Verification", "rebuild", "recover", "verify"]

_logger = logging.getLogger(__name__)


class Recovered(NamedTuple):
    """A state that was recovered, and how."""

    state: State
    snapshot_seq: int
    """The last entry of the snapshot that it began with; 0: none."""
    n_replayed: int
    n_differing: int
    """Decisions that the forest would take differently now."""


class Verification(NamedTuple):
    """What `verify` has compared, and found equal."""

    n_entries: int
    snapshot_seq: int
    n_events: int
    """Events that the forest has learned."""
    n_waiting: int

    def __str__(self) -> str:
        return (
            f"The forest rebuilt from all {self.n_entries} entries of the journal equals, byte for byte, the one that "
            f"a start recovers from the snapshot at entry {self.snapshot_seq}: {self.n_events} events learned, "
            f"{self.n_waiting} waiting."
        )


def adopted(project: Project) -> tuple[Project, str]:
    """Give the project as its folder knows it, and the folder's definition; a new folder has the project's."""
    definition = read_definition(project.storage.folder) or define(project)
    return adopt(project, definition), definition


def recover(project: Project, *, until: int | None = None) -> Recovered:
    """Bring back the state of an adopted project: that of the last good snapshot, and all entries after it.

    Parameters
    ----------
    project
        As `adopted` gave it.
    until
        The last entry to apply; None: all.
    """
    folder = project.storage.folder
    last = last_seq(folder) if until is None else until
    state = _last_good(project, folder, last)
    first = state.seq
    n_differing = replay(state, read_entries(folder, after=first, until=last))
    if n_differing:
        _logger.warning(
            "%d of %d replayed decisions would be different now: the forest was not made by this version of the "
            "package on this kind of machine. What was decided and learned stands.",
            n_differing,
            last - first,
        )
    return Recovered(state, first, last - first, n_differing)


def rebuild(project: Project, *, until: int | None = None) -> State:
    """Make the state of an adopted project from its whole journal, without any snapshot."""
    state = State(project)
    replay(state, read_entries(project.storage.folder, until=until))
    return state


def verify(project: Project) -> Verification:
    """Rebuild the forest from the whole journal and compare it with the one that a start recovers.

    May be called while the service runs. What differs is told by `DamagedFileError`.
    """
    folder = project.storage.folder
    if read_definition(folder) is None:
        refuse("folder", "[storage]", "a folder with a journal", str(folder))
    project, _ = adopted(project)
    last = last_seq(folder)
    recovered, rebuilt = recover(project, until=last), rebuild(project, until=last)
    for what, ours, whole in _compared(recovered.state, rebuilt):
        if ours != whole:
            raise DamagedFileError(
                f"The {what} recovered from the snapshot at entry {recovered.snapshot_seq} of '{folder}' differ from "
                f"those rebuilt from all {last} entries of the journal."
            )
    return Verification(last, recovered.snapshot_seq, rebuilt.model.version, len(rebuilt.waiting))


def _last_good(project: Project, folder: Path, last: int) -> State:
    """Load the newest snapshot that is whole; an empty state when there is none."""
    for file in reversed(snapshot_files(folder)):
        try:
            state = load_snapshot(file, project)
        except DamagedFileError as error:
            _logger.warning("A snapshot is passed over: %s", error)
            continue
        if state.seq > last:
            raise DamagedFileError(
                f"'{file}' goes up to entry {state.seq}, but the journal in '{folder}' ends with entry {last}: put its "
                "missing files back."
            )
        return state
    return State(project)


def _compared(ours: State, whole: State) -> list[tuple[str, object, object]]:
    """Give what the future depends on, twice; remembered events depend on the limits at the time."""
    return [
        ("forests", _forest_bytes(ours), _forest_bytes(whole)),
        ("waiting events", list(ours.waiting.values()), list(whole.waiting.values())),
        ("actions", ours.actions.to_json(), whole.actions.to_json()),
        ("counts", ours.tally.to_json(), whole.tally.to_json()),
        ("lessons", ours.model.warm_up_lessons, whole.model.warm_up_lessons),
    ]


def _forest_bytes(state: State) -> bytes | None:
    return None if state.model.forest is None else state.model.forest._to_bytes()
