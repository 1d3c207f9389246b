"""The decision service without HTTP: the whole state and its rules."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from bandit_forest.forest import BanditForest
from bandit_forest.service.project import Project
from bandit_forest.service.refusals import ServiceError
from bandit_forest.service.results import ActionChange, Decided, Learned, Rewarded, Status

__all__ = ["DECIDE_FIELDS", "LEARN_FIELDS", "REWARD_FIELDS", "Decider"]

DECIDE_FIELDS = frozenset({"context", "available_actions", "event_id", "action", "propensity"})
REWARD_FIELDS = frozenset({"event_id", "reward"})
LEARN_FIELDS = frozenset({"context", "action", "reward", "propensity", "event_id"})


class Decider:
    """Decide now, reward later, lose nothing.

    Made by `Decider.open`. All methods belong to one thread (the event loop's), are synchronous and short; each checks
    first (raising a `ServiceError` before anything has changed), then applies the operation in memory, hands it to the
    journal, and gives back a result whose `commit` must be awaited before anybody is told.

    Parameters of requests are raw JSON values and need no checks before; a refusal names the place, from `$` on.
    """

    @classmethod
    def open(cls, project: Project, *, clock: Callable[[], float] = time.time) -> Self:
        """Start: lock the storage folder, load the last good snapshot, replay the journal, start the writer thread.

        Parameters
        ----------
        project
            What is decided. Its context, reward range, capacity and forest must be those that the storage folder was
            made with; everything else may change between two starts.
        clock
            Seconds since 1970; time enters the state through journalled operations only.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Stop: write what is queued, take a last snapshot when there is something new, release the folder."""
        raise NotImplementedError

    @property
    def project(self) -> Project:
        """What is decided."""
        raise NotImplementedError

    @property
    def forest(self) -> BanditForest | None:
        """The forest; None while the bins are learned. For reading only."""
        raise NotImplementedError

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
        raise NotImplementedError

    def decide_many(self, events: Any) -> list[Decided | ServiceError]:
        """Decide a batch: each item an object with the fields of `decide`, each answered or refused on its own.

        The same as `decide` one after the other, but faster. All results share one commit. Paths begin with
        `$.events[3]`.
        """
        raise NotImplementedError

    def reward(self, event_id: Any, reward: Any) -> Rewarded:
        """Learn the reward of a waiting event.

        Parameters
        ----------
        event_id
            As `decide` gave it.
        reward
            A number in the project's range.
        """
        raise NotImplementedError

    def reward_many(self, rewards: Any) -> list[Rewarded | ServiceError]:
        """Reward a batch: each item an object with `event_id` and `reward`. Paths begin with `$.rewards[3]`."""
        raise NotImplementedError

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
        raise NotImplementedError

    def learn_many(self, events: Any) -> list[Learned | ServiceError]:
        """Learn a batch: each item an object with the fields of `learn`. Paths begin with `$.events[3]`."""
        raise NotImplementedError

    def mean_rewards(self, context: Any) -> dict[str, float] | None:
        """Give the estimated mean reward of each enabled action, in the project's units; None while warming up."""
        raise NotImplementedError

    def explain(self, event_id: Any) -> dict[str, Any]:
        """Tell what is known of an event that waits or is remembered, ready for JSON.

        event_id, time, action, propensity, model_version, state ('waiting', 'rewarded', 'expired', 'learned'), reward,
        reward_time, variables (the names of those that are set), mean_rewards and votes (by action, as the forest sees
        the context now), and in shadow mode forest_action, forest_propensity, forest_value.
        """
        raise NotImplementedError

    def add_action(self, name: Any) -> ActionChange:
        """Add an action; refused when the name was used before or the capacity is spent."""
        raise NotImplementedError

    def disable_action(self, name: Any) -> ActionChange:
        """Take an action out of play for now; rewards of its waiting events are still learned."""
        raise NotImplementedError

    def enable_action(self, name: Any) -> ActionChange:
        """Bring a disabled action back."""
        raise NotImplementedError

    def remove_action(self, name: Any) -> ActionChange:
        """Take an action out of play for ever; rewards of its waiting events are still learned."""
        raise NotImplementedError

    def expire(self, *, limit: int = 100) -> int:
        """End the wait of at most `limit` events whose window is over, and say how many it were.

        To be called about once a second, and again at once while it gives `limit`.
        """
        raise NotImplementedError

    def status(self) -> Status:
        """Give everything that metrics and the page show; well under a millisecond."""
        raise NotImplementedError

    @property
    def failing(self) -> bool:
        """Whether the last commit failed: the alarm, and not ready when the project says to refuse."""
        raise NotImplementedError

    @property
    def snapshot_due(self) -> bool:
        """Whether a snapshot should be taken now, by the project's intervals."""
        raise NotImplementedError

    def snapshot(self) -> Callable[[], None]:
        """Take the state now; the function given back writes it, and is to be called in a thread.

        Only this call holds up decisions (`Status.snapshot_seconds` says how long); one at a time.
        """
        raise NotImplementedError

    def model(self) -> Callable[[], bytes]:
        """Take the forest now; the function given back makes the bytes of a saved forest, best in a thread."""
        raise NotImplementedError

    def backup(self, folder: Path) -> None:
        """Copy journal and snapshot into an empty folder while the service runs; may be called in a thread."""
        raise NotImplementedError
