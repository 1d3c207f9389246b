"""The state of a service in memory, its changes by operations, and the context of operations."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cached_property
from typing import Any
from zlib import crc32

import msgspec

from bandit_forest.bandit import Bandit
from bandit_forest.bandit.pairs import PairBandit
from bandit_forest.evaluation.statistics.comparison import forest_weight, uniform_weight
from bandit_forest.service.config.project import Project
from bandit_forest.service.domain.events import EXPIRED, REWARDED, AnyLesson, Event
from bandit_forest.service.domain.statistics import Statistics
from bandit_forest.service.errors import StorageError
from bandit_forest.service.journal.commits import Commit
from bandit_forest.service.journal.entries import ADD, DISABLE, ENABLE, REMOVE, Entry
from bandit_forest.service.journal.journal import Journal

__all__ = ["ServiceContext", "State", "fingerprint"]

_encode = msgspec.json.Encoder(order="sorted").encode

_RECENT = 20
_SLOWER = 0.9


def fingerprint(context: dict[str, Any] | msgspec.Raw, *others: object) -> int:
    """Return a number that distinguishes requests with the same event_id; sorted JSON is used unchanged.

    Examples
    --------
    >>> crc = fingerprint({"age": 1, "city": "Nice"})
    >>> crc == fingerprint({"city": "Nice", "age": 1}) == fingerprint(msgspec.Raw(b'{"age":1,"city":"Nice"}'))
    True
    """
    return crc32(_encode((context, others)))


class State:
    """A bandit, and the events that wait for a reward or are remembered: a function of the journal's entries in order.

    Arguments have been checked by the operation. Lessons are returned instead of learned, so that a batch learns them
    together.

    Parameters
    ----------
    project
        Project whose events are decided.
    bandit
        The bandit before the first entry.
    """

    def __init__(self, project: Project, bandit: Bandit | PairBandit) -> None:
        self.project = project
        self.learner = bandit
        """The bandit, of fixed or of offered actions."""
        self.seq = 0
        """The number of the last entry that was applied."""
        self.time = 0.0
        """Its time."""
        self.file_actions: list[str] | None = None
        """Actions that the project file named at the last start; None where that is not known."""
        self.statistics = Statistics(1 if isinstance(bandit, PairBandit) else bandit.registry.capacity)
        self.waiting: dict[str, Event] = {}
        """Oldest first."""
        self.remembered: dict[str, Event] = {}
        """Finished events, the first to be forgotten first."""
        self.recent: deque[str] = deque(maxlen=_RECENT)

    @cached_property
    def bandit(self) -> Bandit:
        """The bandit of fixed actions."""
        assert isinstance(self.learner, Bandit)
        return self.learner

    @cached_property
    def pairs(self) -> PairBandit:
        """The bandit of offered actions."""
        assert isinstance(self.learner, PairBandit)
        return self.learner

    def event(self, event_id: str) -> Event | None:
        """Return an event that waits or is remembered."""
        return self.waiting.get(event_id) or self.remembered.get(event_id)

    def add_decision(self, event: Event) -> None:
        """Let a decided event wait for its reward."""
        self.remembered.pop(event.event_id, None)
        self.waiting[event.event_id] = event
        self.recent.append(event.event_id)
        self.statistics.add_decision(event.time, _counted(event), event.propensity)
        if event.offer is None:
            self.bandit.model.see(event.context)

    def add_reward(self, event_id: str, reward: float, time: float, state: str = REWARDED) -> AnyLesson:
        """Record the reward of a waiting event, and return its lesson."""
        event = self.waiting.pop(event_id)
        self._remember(event.ended(state, reward, time))
        lesson = event.lesson(self.learner.rewards.scale(reward))
        self._count_reward(event, lesson.reward, time)
        return lesson

    def add_expiry(self, event_id: str, reward: float | None, time: float) -> AnyLesson | None:
        """End the wait of an event; it gets the default reward, if there is one."""
        self.statistics.expired += 1
        if reward is not None:
            return self.add_reward(event_id, reward, time, EXPIRED)
        self._remember(self.waiting.pop(event_id).ended(EXPIRED, None, time))
        return None

    def add_foreign(self, event: Event) -> AnyLesson:
        """Add an event that was decided and rewarded elsewhere."""
        assert event.reward is not None
        self.statistics.learned += 1
        self._remember(event)
        if event.offer is None:
            self.bandit.model.see(event.context)
        return event.lesson(self.learner.rewards.scale(event.reward))

    def change_action(self, kind: str, name: str) -> None:
        """Add, enable, disable or remove an action."""
        changes: dict[str, Callable[[str], None]] = {
            ADD: self.bandit.add_action,
            ENABLE: self.bandit.enable_action,
            DISABLE: self.bandit.disable_action,
            REMOVE: self.bandit.remove_action,
        }
        changes[kind](name)

    def _count_reward(self, event: Event, reward: float, time: float) -> None:
        """Count a reward in [0, 1], also for the policies that might have decided the event instead."""
        uniform, forest = self.statistics.uniform, self.statistics.forest
        weight = uniform_weight(event.propensity, event.n_available, largest=uniform.largest_weight)
        uniform.add(reward, weight)
        self.statistics.add_reward(time, _counted(event), reward, weight=weight[0])
        if event.forest_action is not None:
            agrees, largest = event.forest_action == event.action, forest.largest_weight
            forest.add(reward, forest_weight(event.propensity, event.n_available, agrees=agrees, largest=largest))

    def _remember(self, event: Event) -> None:
        self.remembered[event.event_id] = event.remembered()
        while len(self.remembered) > self.project.limits.remembered_events:
            del self.remembered[next(iter(self.remembered))]


def _counted(event: Event) -> int:
    """Return the index under which statistics count an event; all offered actions have one index."""
    return event.action if event.offer is None else 0


class ServiceContext:
    """State, journal and clock of a service; used by one thread.

    Parameters
    ----------
    state
        The state of the service.
    journal
        Journal that makes the state durable.
    clock
        Seconds since 1970.
    """

    def __init__(self, state: State, journal: Journal, clock: Callable[[], float]) -> None:
        self.state = state
        self.project = state.project
        self.journal = journal
        self.late = 0
        """Rewards refused after their window, since start."""
        self.duplicates = 0
        """Second rewards, since start."""
        self.expired_early = 0
        """Events that made room for newer ones before their window was over, since start."""
        self.snapshot_seq = 0
        """The last entry of the newest snapshot."""
        self.snapshot_time: float | None = None
        self.snapshot_seconds: float | None = None
        """How long the last snapshot held up decisions."""
        self._clock = clock
        self._read = clock()
        self._time = state.time

    @cached_property
    def bandit(self) -> Bandit:
        """The bandit of fixed actions."""
        return self.state.bandit

    @property
    def n_waiting(self) -> int:
        """Number of events that wait for their reward."""
        return len(self.state.waiting)

    @property
    def staleness(self) -> float | None:
        """Seconds since a replica last had all lessons."""
        return None

    @property
    def is_learner(self) -> bool | None:
        """Whether this replica makes the lessons."""
        return None

    @property
    def failing(self) -> bool:
        """Whether the last commit failed: the alarm, and not ready when the project says to refuse."""
        return self.journal.failure is not None

    def check_storage(self) -> None:
        """Refuse new work if too many operations wait, or if the disk fails and the project says to refuse."""
        journal, storage = self.journal, self.project.storage
        if journal.failure is not None and storage.full_disk == "refuse":
            raise StorageError(
                f"The journal cannot be written now ({journal.failure}): free some space, then try again."
            )
        if journal.queued >= storage.queued_operations:
            raise StorageError(f"{journal.queued} operations wait for the disk, as many as may: try again later.")

    def now(self) -> float:
        """Return the time of the next entry: the clock's, but never before the last one.

        After the clock is set back, time continues from its last value, a little slower than the clock, until the clock
        has caught up. So the window of rewards is still kept.
        """
        read = self._clock()
        passed, self._read = read - self._read, read
        self._time = max(read, self._time + _SLOWER * max(0.0, passed))
        return self._time

    def record(self, entries: list[Entry]) -> Commit:
        """Hand entries to the journal, in the order in which they are applied."""
        if not entries:
            return self.journal.tail
        self.state.seq, self.state.time = entries[-1].seq, entries[-1].time
        return self.journal.append(entries)

    def change_action(self, kind: str, name: str) -> tuple[str, Commit]:
        """Change and record an action, unless it has that state already; return its state and the commit to await."""
        self.check_storage()
        registry = self.bandit.registry
        before = registry.state(name)
        self.state.change_action(kind, name)
        after = str(registry.state(name))
        if after != before:
            self.record([Entry(self.state.seq + 1, self.now(), kind, action=name)])
        return after, self.journal.tail
