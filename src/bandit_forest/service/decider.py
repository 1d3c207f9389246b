"""The decision service without HTTP: the whole state and its rules."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from bandit_forest import archive
from bandit_forest.forest import BanditForest
from bandit_forest.service.config.project import Project
from bandit_forest.service.errors import InvalidRequestError, ServiceError, UnknownEventError
from bandit_forest.service.journal.entries import DISABLE, ENABLE, REMOVE
from bandit_forest.service.journal.files import folder_lock
from bandit_forest.service.journal.journal import Journal
from bandit_forest.service.operations import actions
from bandit_forest.service.operations import decide as deciding
from bandit_forest.service.operations import reward as rewarding
from bandit_forest.service.operations.decide import DECIDE_FIELDS
from bandit_forest.service.operations.requests import read_context, read_event_id
from bandit_forest.service.operations.results import ActionChange, Decided, Learned, Rewarded, Status
from bandit_forest.service.operations.reward import LEARN_FIELDS, REWARD_FIELDS
from bandit_forest.service.operations.service_context import Desk
from bandit_forest.service.operations.status import explain_event, mean_reward, overview
from bandit_forest.service.recovery.backup import back_up
from bandit_forest.service.recovery.recover import adopted, recover
from bandit_forest.service.recovery.snapshots import remove_leftovers, take_snapshot, write_snapshot

__all__ = ["DECIDE_FIELDS", "LEARN_FIELDS", "REWARD_FIELDS", "Decider"]


class Decider:
    """Decide now, reward later, lose nothing.

    Made by `Decider.open`. All methods belong to one thread (the event loop's), are synchronous and short; each checks
    first (raising a `ServiceError` before anything has changed), then applies the operation in memory, hands it to the
    journal, and gives back a result whose `commit` must be awaited before anybody is told.

    Parameters of requests are raw JSON values and need no checks before; a refusal names the place, from `$` on.

    Parameters
    ----------
    desk
        State, journal and clock.
    release
        Gives the storage folder free.
    snapshot_seq
        The last entry of the newest snapshot.

    Examples
    --------
    >>> import tempfile
    >>> from bandit_forest.service.config.fields import BooleanField
    >>> from bandit_forest.service.config.project import Actions, Storage
    >>> folder = tempfile.TemporaryDirectory()
    >>> project = Project(
    ...     actions=Actions(names=("red", "blue")),
    ...     context={"member": BooleanField()},
    ...     storage=Storage(folder=Path(folder.name)),
    ... )
    >>> decider = Decider.open(project)
    >>> decided = decider.decide({"member": True}, event_id="e1")
    >>> decided.commit.result(), decided.propensity
    (True, 0.5)
    >>> decider.reward("e1", 1.0).commit.result()
    True
    >>> decider.close()
    >>> again = Decider.open(project)
    >>> again.decide({"member": True}, event_id="e1").action == decided.action, again.status().rewards
    (True, 1)
    >>> again.close()
    >>> folder.cleanup()
    """

    def __init__(self, desk: Desk, *, release: Callable[[], None], snapshot_seq: int) -> None:
        self._desk = desk
        self._release = release
        self._snapshot_seq = snapshot_seq
        self._snapshot_time: float | None = None
        self._snapshot_seconds: float | None = None
        self._last_snapshot = time.monotonic()

    @classmethod
    def open(cls, project: Project, *, clock: Callable[[], float] = time.time) -> Self:
        """Start: lock the storage folder, load the last good snapshot, replay the journal, start the writer thread.

        Parameters
        ----------
        project
            What is decided. Its context, reward range, capacity and forest must be those that the storage folder was
            made with; everything else may change between two starts. Actions that the folder has never known are added.
        clock
            Seconds since 1970; time enters the state through journalled operations only.
        """
        folder = project.storage.folder
        lock = folder_lock(folder)
        try:
            remove_leftovers(folder)
            project, definition = adopted(project)
            recovered = recover(project)
            desk = Desk(recovered.state, Journal(folder, definition, project.storage), clock)
        except BaseException:
            lock.close()
            raise
        decider = cls(desk, release=lock.close, snapshot_seq=recovered.snapshot_seq)
        try:
            for name in project.actions.names:
                if desk.state.actions.state(name) is None:
                    decider.add_action(name)
            desk.journal.tail.result()
        except BaseException:
            with suppress(ServiceError):
                decider.close()
            raise
        return decider

    def close(self) -> None:
        """Stop: write what is queued, take a last snapshot when there is something new, release the folder."""
        try:
            self._desk.journal.close()
            if self._desk.state.seq > self._snapshot_seq:
                self.snapshot()()
        finally:
            self._release()

    @property
    def project(self) -> Project:
        """What is decided."""
        return self._desk.project

    @property
    def forest(self) -> BanditForest | None:
        """The forest; None while the bins are learned. For reading only."""
        return self._desk.state.model.forest

    def decide(
        self,
        context: Any,
        *,
        available_actions: Any = None,
        event_id: Any = None,
        action: Any = None,
        propensity: Any = None,
    ) -> Decided:
        """Choose an action for one event; a known `event_id` gets the decision that it got before.

        Parameters
        ----------
        context
            An object with the fields of the project's context.
        available_actions
            Names of the actions that may be taken; None: all that are enabled.
        event_id
            A printable text of 1 to 200 characters; None: a new one is made.
        action, propensity
            In shadow mode, and only there: what the application has chosen, and with which probability (None: 1).
        """
        request = {
            "context": context,
            "available_actions": available_actions,
            "event_id": event_id,
            "action": action,
            "propensity": propensity,
        }
        return deciding.decide(self._desk, request)

    def decide_many(self, events: Any) -> list[Decided | ServiceError]:
        """Decide a batch: each item an object with the fields of `decide`, each answered or refused on its own.

        The same as `decide` one after the other, but faster. All results share one commit. Paths begin with
        `$.events[3]`.
        """
        return deciding.decide_many(self._desk, events)

    def reward(self, event_id: Any, reward: Any) -> Rewarded:
        """Learn the reward of a waiting event.

        Parameters
        ----------
        event_id
            As `decide` gave it.
        reward
            A number in the project's range.
        """
        return rewarding.reward(self._desk, {"event_id": event_id, "reward": reward})

    def reward_many(self, rewards: Any) -> list[Rewarded | ServiceError]:
        """Reward a batch: each item an object with `event_id` and `reward`. Paths begin with `$.rewards[3]`."""
        return rewarding.reward_many(self._desk, rewards)

    def learn(self, context: Any, *, action: Any, reward: Any, propensity: Any, event_id: Any = None) -> Learned:
        """Learn an event that was decided elsewhere; one with a known `event_id` is not learned again.

        Parameters
        ----------
        context, event_id
            As in `decide`.
        action, propensity
            What was taken, and the probability with which it was.
        reward
            What it earned, in the project's range.
        """
        request = {
            "context": context,
            "action": action,
            "reward": reward,
            "propensity": propensity,
            "event_id": event_id,
        }
        return rewarding.learn(self._desk, request)

    def learn_many(self, events: Any) -> list[Learned | ServiceError]:
        """Learn a batch: each item an object with the fields of `learn`. Paths begin with `$.events[3]`."""
        return rewarding.learn_many(self._desk, events)

    def mean_rewards(self, context: Any) -> dict[str, float | None] | None:
        """Give the estimated mean reward of each enabled action, in the project's units; None while warming up."""
        state = self._desk.state
        known, _ = read_context(state, context, "$")
        if state.model.forest is None:
            return None
        means = state.model.forest.mean_rewards(state.model.bits(known))
        enabled = state.actions.enabled.places.tolist()
        return {state.actions.names[place]: mean_reward(self._desk, means[place]) for place in enabled}

    def explain(self, event_id: Any) -> dict[str, Any]:
        """Tell what is known of an event that waits or is remembered, ready for JSON.

        event_id, time, action, propensity, model_version, state ('waiting', 'rewarded', 'expired', 'learned'), reward,
        reward_time, variables (the names of those that are set), mean_rewards and votes (by action, as the forest sees
        the context now), explanation (`Explanation.as_dict` of the first ten trees; rewards in [0, 1]), and in shadow
        mode forest_action, forest_propensity, forest_value. What needs the forest is None while it warms up.
        """
        event = self._desk.state.event(read_event_id(event_id, "$"))
        if event is None:
            raise UnknownEventError(f"No event '{event_id}' waits or is remembered.", path="$.event_id")
        return explain_event(self._desk, event)

    def add_action(self, name: Any) -> ActionChange:
        """Add an action; refused when the name was used before or the capacity is spent."""
        return actions.add(self._desk, name)

    def disable_action(self, name: Any) -> ActionChange:
        """Take an action out of play for now; rewards of its waiting events are still learned."""
        return actions.change(self._desk, DISABLE, name)

    def enable_action(self, name: Any) -> ActionChange:
        """Bring a disabled action back."""
        return actions.change(self._desk, ENABLE, name)

    def remove_action(self, name: Any) -> ActionChange:
        """Take an action out of play for ever; rewards of its waiting events are still learned."""
        return actions.change(self._desk, REMOVE, name)

    def expire(self, *, limit: int = 100) -> int:
        """End the wait of at most `limit` events whose window is over, and say how many it were.

        To be called about once a second, and again at once while it gives `limit`.
        """
        return rewarding.expire(self._desk, limit=limit)

    def status(self) -> Status:
        """Give everything that metrics and the page show; about a millisecond."""
        return overview(
            self._desk,
            snapshot_seq=self._snapshot_seq,
            snapshot_time=self._snapshot_time,
            snapshot_seconds=self._snapshot_seconds,
        )

    @property
    def failing(self) -> bool:
        """Whether the last commit failed: the alarm, and not ready when the project says to refuse."""
        return self._desk.journal.failure is not None

    @property
    def snapshot_due(self) -> bool:
        """Whether a snapshot should be taken now, by the project's intervals."""
        storage, n_new = self._desk.project.storage, self._desk.state.seq - self._snapshot_seq
        waited = time.monotonic() - self._last_snapshot >= storage.snapshot_seconds
        return not self.failing and (n_new >= storage.snapshot_events or (n_new > 0 and waited))

    def snapshot(self) -> Callable[[], None]:
        """Take the state now; the function given back writes it, and is to be called in a thread.

        Only this call holds up decisions (`Status.snapshot_seconds` says how long). The writing waits until the journal
        is as far, so that a snapshot never knows more than the journal; `StorageError` when the disk refuses that.
        """
        start, moment = time.perf_counter(), time.time()
        taken, commit, folder = take_snapshot(self._desk.state), self._desk.journal.tail, self.project.storage.folder
        seconds = time.perf_counter() - start
        self._last_snapshot = time.monotonic()

        def write() -> None:
            if commit.result():
                write_snapshot(taken, folder)
                self._snapshot_seq, self._snapshot_time = taken.header["seq"], moment
                self._snapshot_seconds = seconds

        return write

    def model(self) -> Callable[[], bytes]:
        """Take the forest now; the function given back makes the bytes of a saved forest, best in a thread."""
        if self.forest is None:
            left = self._desk.state.model.warm_up_left
            raise InvalidRequestError(f"There is no forest yet: {left} more contexts are needed to learn the bins.")
        header, arrays = self.forest._to_parts()
        return lambda: archive.pack(header, arrays)

    def backup(self, folder: Path) -> None:
        """Copy journal and snapshot into an empty folder while the service runs; may be called in a thread."""
        back_up(self.project, folder)
