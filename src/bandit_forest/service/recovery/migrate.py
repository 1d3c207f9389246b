"""The journal of one project carried over into another definition: other features, actions, rewards, another forest."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import msgspec

from bandit_forest.bandit import Bandit
from bandit_forest.bandit.pairs import PairBandit
from bandit_forest.bandit.pairs.model import ID
from bandit_forest.bandit.pairs.settings import PairBanditSettings
from bandit_forest.bandit.settings import BanditSettings
from bandit_forest.errors import InvalidArgumentError, refuse
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.storage_identity import StorageIdentity
from bandit_forest.service.domain.offers import OfferRecord
from bandit_forest.service.journal.entries import ADD, DECIDE, EXPIRE, FILE, LEARN, REWARD, Entry
from bandit_forest.service.journal.files import journal_files, read_entries
from bandit_forest.service.journal.journal import Journal
from bandit_forest.service.recovery.recover import journal_end

__all__ = ["MigrationReport", "migrate"]

_ENGINE = "migrated"  # no forest that decides now has made these decisions, so none is asked to make them again
_GROUP = 20_000
_encode, _decode = msgspec.json.Encoder().encode, msgspec.json.decode


@dataclass
class MigrationReport:
    """Numbers of events that a migration has carried over, and of events that it has left out."""

    n_events: int = 0
    """Decisions and lessons from elsewhere in the old journal."""
    n_kept: int = 0
    n_rewards: int = 0
    """Rewards that were carried over."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Number of events, rewards or changes of actions by the reason why they could not be carried over."""
    dropped_features: Counter[str] = field(default_factory=Counter)
    """Number of events by the feature that the new definition does not have."""

    def __str__(self) -> str:
        lines = [f"Events carried over: {self.n_kept} of {self.n_events}, with {self.n_rewards} rewards."]
        lines += [f"Left out, {count} times: {reason}." for reason, count in self.left_out.most_common()]
        lines += [f"Events without their '{name}' now: {count}." for name, count in self.dropped_features.most_common()]
        return "\n".join(lines)


def migrate(
    old: Project, new: Project, *, dry_run: bool = False, progress: Callable[[int, int], object] = lambda *_: None
) -> MigrationReport:
    """Write the journal of a project again, with the definition of another project; the old folder is only read.

    The first start of the new project learns the lessons of its journal. Decisions do not change.

    Parameters
    ----------
    old
        Project of the existing journal; its service must not be running.
    new
        Project with the new definition and a new storage folder.
    dry_run
        Whether to report only, and write nothing.
    progress
        Called now and then with the number of entries that were read, and of all.
    """
    last = journal_end(old.storage.folder)
    folder = new.storage.folder
    if journal_files(folder):
        refuse("folder", "[storage] of the new project", "a new one, without a journal", str(folder))
    if old.is_offered != new.is_offered:
        kinds = ["offered" if project.is_offered else "fixed" for project in (old, new)]
        refuse("actions", "the new project", f"{kinds[0]} as in the old one: events cannot be carried over", kinds[1])
    settings = new.settings
    translation = (
        _OfferedActions(new, settings) if isinstance(settings, PairBanditSettings) else _FixedActions(new, settings)
    )
    entries = translation.entries(read_entries(old.storage.folder, until=last), lambda n: progress(n, last))
    if dry_run:
        for _ in entries:
            pass
        return translation.report
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    identity = StorageIdentity(settings=settings, engine=_ENGINE)
    journal = Journal(folder, identity.to_text(), new.storage)
    try:
        commit = journal.tail
        while group := list(islice(entries, _GROUP)):
            commit.result()  # one group is written while the next is read
            commit = journal.append(group)
        commit.result()
    finally:
        journal.close()
    return translation.report


class _LeftOutError(Exception):
    """Why an entry cannot be carried over."""


class _Translation(ABC):
    """Entries of one definition turned into those of another, in their order."""

    def __init__(self, project: Project) -> None:
        self.report = MigrationReport()
        self._rewards = project.reward.range
        self._outside = f"a reward is outside [{self._rewards.low:g}, {self._rewards.high:g}]"
        self._decided: set[str | None] = set()
        self._seq = 0

    def entries(self, entries: Iterator[Entry], progress: Callable[[int], object]) -> Iterator[Entry]:
        """Return the entries that can be carried over, numbered anew."""
        for entry in entries:
            if entry.seq % _GROUP == 0:
                progress(entry.seq)
            try:
                kept = self._translated(entry)
            except _LeftOutError as reason:
                self.report.left_out[str(reason)] += 1
                continue
            if kept is not None:
                self._seq += 1
                yield kept._replace(seq=self._seq)

    @abstractmethod
    def _event(self, entry: Entry) -> Entry:
        """Return a decision or a lesson from elsewhere by the new definition."""

    def _change(self, entry: Entry) -> Entry:
        """Return a change of the actions by the new definition."""
        return entry

    def _translated(self, entry: Entry) -> Entry | None:
        if entry.kind in (REWARD, EXPIRE):
            return self._rewarded(entry)
        if entry.kind not in (DECIDE, LEARN):
            return self._change(entry)
        self.report.n_events += 1
        kept = self._event(entry)
        if entry.kind == DECIDE:
            self._decided.add(entry.event_id)
        elif not self._is_reward(entry.reward):
            raise _LeftOutError(self._outside)
        else:
            self.report.n_rewards += 1
        self.report.n_kept += 1
        return kept

    def _kept(self, given: dict[str, Any], features: Set[str]) -> dict[str, Any]:
        """Return the features of a context or of an action that the new definition has."""
        gone = given.keys() - features
        if not gone:
            return given
        self.report.dropped_features.update(gone)
        return {name: value for name, value in given.items() if name not in gone}

    def _rewarded(self, entry: Entry) -> Entry | None:
        """Return the reward of an event that was kept; one outside the new range ends the wait without a lesson."""
        if entry.event_id not in self._decided:
            return None
        self._decided.remove(entry.event_id)
        if entry.reward is None or self._is_reward(entry.reward):
            self.report.n_rewards += entry.reward is not None
            return entry
        self.report.left_out[self._outside] += 1
        return entry._replace(kind=EXPIRE, reward=None)

    def _is_reward(self, reward: float | None) -> bool:
        return reward is not None and self._rewards.low <= reward <= self._rewards.high


class _FixedActions(_Translation):
    """Events whose actions are fixed."""

    def __init__(self, project: Project, settings: BanditSettings) -> None:
        super().__init__(project)
        self._features = project.context.keys()
        self._bandit = Bandit.from_settings(settings)

    def _change(self, entry: Entry) -> Entry:
        if entry.kind == ADD:
            try:
                self._bandit.add_action(entry.action or "")
            except InvalidArgumentError as error:
                raise _LeftOutError(f"the action '{entry.action}' cannot be added") from error
        elif entry.kind != FILE and entry.action not in self._bandit.registry.indices:
            raise _LeftOutError(f"the action '{entry.action}' is not there to be {entry.kind}d")
        return entry

    def _event(self, entry: Entry) -> Entry:
        names = self._bandit.registry.indices
        if entry.action not in names or (entry.forest_action is not None and entry.forest_action not in names):
            raise _LeftOutError(f"the action '{entry.action}' is not there")
        given = _decode(entry.context or "{}")
        context = self._kept(given, self._features)
        try:
            self._bandit.model.read(context)
        except InvalidArgumentError as error:
            raise _LeftOutError(f"a context has no fitting '{getattr(error, 'feature', None)}'") from error
        return entry if context is given else entry._replace(context=_encode(context).decode())


class _OfferedActions(_Translation):
    """Events that offer their own actions."""

    def __init__(self, project: Project, settings: PairBanditSettings) -> None:
        super().__init__(project)
        self._features, self._offered = settings.features.keys(), {ID, *settings.offered}
        self._bandit = PairBandit.from_settings(settings)

    def _event(self, entry: Entry) -> Entry:
        context = self._kept(_decode(entry.context or "{}"), self._features)
        record = OfferRecord.from_text(entry.available or "{}")
        actions = [self._kept(action, self._offered) for action in record.offered]
        try:
            self._bandit.read(context, actions, "rank")
        except InvalidArgumentError as error:
            side = "a context" if getattr(error, "row", None) is None else "an action"
            raise _LeftOutError(f"{side} has no fitting '{getattr(error, 'feature', None)}'") from error
        record.actions = msgspec.Raw(_encode(actions))
        return entry._replace(context=_encode(context).decode(), available=_encode(record).decode())
