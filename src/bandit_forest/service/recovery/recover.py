"""Starting again: the last good snapshot, and the journal from there on."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bandit_forest.errors import DamagedFileError, refuse
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.storage_identity import StorageIdentity, adopt
from bandit_forest.service.domain.bandits import bandit_from_bytes, new_bandit
from bandit_forest.service.domain.state import State
from bandit_forest.service.journal.files import last_seq, read_entries, read_identities
from bandit_forest.service.recovery.replay import replay
from bandit_forest.service.recovery.snapshot_choice import newest_snapshot

__all__ = ["BASE", "Recovered", "StorageFolder", "journal_end", "open_folder", "rebuild", "recover"]

BASE = "base.bandit"

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class StorageFolder:
    """A project and the folder in which it goes on."""

    project: Project
    identity: StorageIdentity
    recomputed_from: int
    """Number of the first entry whose decisions were made by the engine that goes on."""
    is_new_engine: bool
    """Whether the last file of the journal was written by another engine."""

    @property
    def path(self) -> Path:
        """The folder of its files."""
        return self.project.storage.folder

    def empty_state(self) -> State:
        """Return the state before the first entry."""
        if self.identity.base is None:
            return State(self.project, new_bandit(self.identity.settings))
        data = (self.path / BASE).read_bytes()
        if hashlib.sha256(data).hexdigest() != self.identity.base:
            raise DamagedFileError(f"'{self.path / BASE}' is not the file that the journal began with.")
        return State(self.project, bandit_from_bytes(self.project, data, BASE))


class Recovered(NamedTuple):
    """A state that was recovered, and how."""

    state: State
    snapshot_seq: int
    """The last entry of the snapshot that it began with; 0: none."""
    n_differing: int
    """Decisions that the forest would take differently now."""


def open_folder(project: Project) -> StorageFolder:
    """Return the folder of a project; refuse a project that contradicts what its folder was made with."""
    folder = project.storage.folder
    stored = {seq: StorageIdentity.from_text(text) for seq, text in read_identities(folder).items()}
    if not stored:
        identity = StorageIdentity.of(project.settings)
        return StorageFolder(project=project, identity=identity, recomputed_from=1, is_new_engine=False)
    identity = adopt(project, stored[max(stored)])
    by_others = [seq for seq, one in stored.items() if one.engine != identity.engine]
    own = [seq for seq in stored if seq > max(by_others, default=0)]  # the last files, if they are of this engine
    recomputed_from = min(own, default=last_seq(folder) + 1)
    return StorageFolder(project=project, identity=identity, recomputed_from=recomputed_from, is_new_engine=not own)


def journal_end(folder: Path) -> int:
    """Return the number of the last entry of a journal; refuse a folder without one."""
    last = last_seq(folder)
    if not read_identities(folder):
        refuse("folder", "[storage]", "a folder with a journal", str(folder))
    return last


def recover(folder: StorageFolder, *, until: int | None = None) -> Recovered:
    """Return the state of the last good snapshot and all entries after it, or those up to `until`."""
    last = last_seq(folder.path) if until is None else until
    if folder.recomputed_from > 1:
        _logger.warning(
            "Decisions before entry %d were made by another growth rule, or before a migration. They are not "
            "recomputed: the forest learns the lessons of the journal anew.",
            folder.recomputed_from,
        )
    state = newest_snapshot(folder.path, folder.project, folder.identity.engine, last) or folder.empty_state()
    first = state.seq
    entries = read_entries(folder.path, after=first, until=last)
    n_differing = replay(state, entries, recomputed_from=folder.recomputed_from)
    if n_differing:
        _logger.warning(
            "%d of %d replayed decisions would be different now: the forest was not made by this version of the "
            "package on this kind of machine. What was decided and learned stands.",
            n_differing,
            last - first,
        )
    return Recovered(state, first, n_differing)


def rebuild(folder: StorageFolder, *, until: int | None = None) -> State:
    """Make a state from the whole journal, without any snapshot."""
    state = folder.empty_state()
    replay(state, read_entries(folder.path, until=until), recomputed_from=folder.recomputed_from)
    return state
