"""The state of a service in memory, and the one way in which each operation changes it, live and in replay."""

from __future__ import annotations

from collections import deque

from bandit_forest.service.config.project import Project
from bandit_forest.service.domain.action_registry import DISABLED, ENABLED, REMOVED, ActionBook
from bandit_forest.service.domain.events import EXPIRED, REWARDED, Event
from bandit_forest.service.domain.model import Lesson, Model
from bandit_forest.service.domain.statistics import Tally
from bandit_forest.service.journal.entries import ADD, DISABLE, ENABLE, REMOVE

__all__ = ["State"]

_RECENT = 20
_LARGEST_WEIGHT = 1e100  # of a reward that was as good as impossible: sums of it are still finite
_STATE_AFTER = {ADD: ENABLED, ENABLE: ENABLED, DISABLE: DISABLED, REMOVE: REMOVED}


class State:
    """Everything that the service knows: a function of the journal's entries in their order.

    What it is told has been checked. Lessons are given back instead of learned, so that a batch learns them together.

    Parameters
    ----------
    project
        What is decided.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.seq = 0
        """The number of the last entry that was applied."""
        self.time = 0.0
        """Its time."""
        self.model = Model(project)
        self.actions = ActionBook(project.actions.places)
        self.tally = Tally(project.actions.places)
        self.waiting: dict[str, Event] = {}
        """Oldest first."""
        self.remembered: dict[str, Event] = {}
        """Finished events, the first to be forgotten first."""
        self.recent: deque[str] = deque(maxlen=_RECENT)
        self.model.begin(self.actions.padded_names)

    def event(self, event_id: str) -> Event | None:
        """Give an event that waits or is remembered."""
        return self.waiting.get(event_id) or self.remembered.get(event_id)

    def add_decision(self, event: Event) -> None:
        """Let a decided event wait for its reward."""
        self.remembered.pop(event.event_id, None)
        self.waiting[event.event_id] = event
        self.recent.append(event.event_id)
        self.tally.add_decision(event.time, event.action, event.propensity)
        self._see(event)

    def add_reward(self, event_id: str, reward: float, time: float, state: str = REWARDED) -> Lesson:
        """Give a waiting event its reward."""
        event = self.waiting.pop(event_id)
        self._remember(event._replace(state=state, reward=reward, reward_time=time))
        lesson = self._lesson(event, reward)
        weight = min(1.0 / (event.n_available * event.propensity), _LARGEST_WEIGHT)
        self.tally.add_reward(time, event.action, lesson.reward, weight=weight)
        return lesson

    def add_expiry(self, event_id: str, reward: float | None, time: float) -> Lesson | None:
        """End the wait of an event; it gets the default reward, if there is one."""
        self.tally.expired += 1
        if reward is not None:
            return self.add_reward(event_id, reward, time, EXPIRED)
        self._remember(self.waiting.pop(event_id)._replace(state=EXPIRED, reward_time=time))
        return None

    def add_foreign(self, event: Event) -> Lesson:
        """Take in an event that was decided and rewarded elsewhere."""
        assert event.reward is not None
        self.tally.learned += 1
        self._remember(event)
        self._see(event)
        return self._lesson(event, event.reward)

    def change_action(self, kind: str, name: str) -> None:
        """Add, enable, disable or remove an action."""
        if kind == ADD:
            self.actions.add(name)
            if self.model.forest is not None:
                self.model.forest.rename_actions(self.actions.padded_names)
        else:
            self.actions.set_state(name, _STATE_AFTER[kind])

    def _see(self, event: Event) -> None:
        if self.model.forest is None:
            self.model.see(event.context, self.actions.padded_names)

    def _lesson(self, event: Event, reward: float) -> Lesson:
        return Lesson(event.context, event.action, self.project.reward.scale(reward), event.propensity)

    def _remember(self, event: Event) -> None:
        self.remembered[event.event_id] = event
        while len(self.remembered) > self.project.limits.remembered_events:
            del self.remembered[next(iter(self.remembered))]
