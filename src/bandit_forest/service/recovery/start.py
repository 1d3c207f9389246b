"""The life of a service: it starts on a storage folder, takes snapshots, and stops."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Self

from bandit_forest import archive
from bandit_forest.errors import InvalidArgumentError, refuse
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.storage_identity import StorageIdentity, check_saved
from bandit_forest.service.domain.bandits import bandit_from_bytes, settings_of
from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.errors import ServiceError
from bandit_forest.service.journal.files import create_file, read_identities
from bandit_forest.service.journal.journal import Journal
from bandit_forest.service.journal.lock import folder_lock
from bandit_forest.service.recovery.file_actions import follow_file
from bandit_forest.service.recovery.recover import BASE, open_folder, recover
from bandit_forest.service.recovery.snapshot_taking import SnapshotTaker
from bandit_forest.service.recovery.snapshots import SnapshotData, remove_leftovers, write_snapshot

__all__ = ["Service", "begin_from"]


class Service:
    """A started service: operations are applied to its `context`.

    One thread (of the event loop) uses the service. An operation is synchronous and short. It first checks its request,
    and raises a `ServiceError` before anything has changed. Then it applies the change in memory, hands it to the
    journal, and returns a result whose `commit` must end before the answer is sent.

    Parameters
    ----------
    context
        State, journal and clock.
    engine
        Name of the engine.
    release
        Function that releases the storage folder.

    Examples
    --------
    >>> import tempfile
    >>> from bandit_forest.bandit import BooleanFeature
    >>> from bandit_forest.service.config.tables import Actions, Storage
    >>> folder = tempfile.TemporaryDirectory()
    >>> project = Project(
    ...     actions=Actions(names=("red", "blue")),
    ...     context={"member": BooleanFeature()},
    ...     storage=Storage(folder=Path(folder.name)),
    ... )
    >>> service = Service.start(project)
    >>> service.context.bandit.actions
    {'red': 'enabled', 'blue': 'enabled'}
    >>> service.stop()
    >>> folder.cleanup()
    """

    def __init__(self, context: ServiceContext, *, engine: str, release: Callable[[], None]) -> None:
        self.context = context
        self._release = release
        self._snapshots = SnapshotTaker(context, engine)

    @classmethod
    def start(cls, project: Project, *, clock: Callable[[], float] = time.time) -> Self:
        """Lock the storage folder, load the last good snapshot, replay the journal, start the writer thread.

        Parameters
        ----------
        project
            The project. Its context, reward range, capacity and forest must be those that the storage folder was
            made with; everything else may change between two starts. `follow_file` tells what becomes of other actions.
        clock
            Seconds since 1970; time enters the state through journalled operations only.
        """
        path = project.storage.folder
        lock = folder_lock(path)
        try:
            remove_leftovers(path)
            folder = open_folder(project)
            recovered = recover(folder)
            identity = folder.identity
            journal = Journal(path, identity.to_text(), project.storage, new_file=folder.is_new_engine)
        except BaseException:
            lock.close()
            raise
        context = ServiceContext(recovered.state, journal, clock)
        context.snapshot_seq = recovered.snapshot_seq
        service = cls(context, engine=identity.engine, release=lock.close)
        try:
            follow_file(context)
            journal.tail.result()
        except BaseException:
            with suppress(ServiceError):
                service.stop()
            raise
        return service

    def stop(self) -> None:
        """Write what is queued, take a last snapshot when there is something new, release the folder."""
        try:
            self.context.journal.close()
            if self.context.state.seq > self.context.snapshot_seq:
                self.snapshot()()
        finally:
            self._release()

    @property
    def snapshot_due(self) -> bool:
        """Whether a snapshot should be taken now, by the project's intervals."""
        return not self.context.failing and self._snapshots.is_due

    def snapshot(self) -> Callable[[], None]:
        """Take the state now; the function returned writes it, and is to be called in a thread.

        Only this call delays decisions. The writing waits until the journal has the same entries, so a snapshot is
        never ahead of the journal; `StorageError` if the disk refuses the journal.
        """
        commit, folder = self.context.journal.tail, self.context.project.storage.folder

        def keep(taken: SnapshotData) -> bool:
            is_durable = commit.result()
            if is_durable:
                write_snapshot(taken, folder)
            return is_durable

        return self._snapshots.take(keep)


def begin_from(project: Project, file: Path) -> None:
    """Let the new storage folder of a project begin with a saved bandit; one that began with it goes on.

    The folder gets the settings and the learned features of the bandit. The project must not contradict them.
    """
    folder = project.storage.folder
    if project.storage.is_shared:  # what stands there may hold a password: it is not shown
        refuse("journal", "[storage]", "'sqlite' with --from: replicas begin with nothing", "...")
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InvalidArgumentError(f"'{file}' cannot be read: {error.strerror}.") from error
    base = hashlib.sha256(data).hexdigest()
    begun = list(read_identities(folder).values())
    if begun and StorageIdentity.from_text(begun[-1]).base == base:
        return
    if begun:
        rule = f"new, to begin with '{file}': it holds a journal already, so leave out --from to go on with it"
        refuse("folder", "[storage]", f"{rule}, or take another folder", str(folder))
    bandit = bandit_from_bytes(project, data, str(file))
    if bandit.model.warm_up_left:
        raise InvalidArgumentError(f"'{file}' has not learned its features yet: serve it after its warm-up.")
    settings = replace(settings_of(bandit), warm_up_events=project.warm_up_events)  # it is over
    check_saved(project, settings, str(file))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    archive.write(folder / BASE, data)
    create_file(folder, 1, StorageIdentity.of(settings, base).to_text())[0].close()
