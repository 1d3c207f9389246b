"""Why the service refuses a request: a code, a sentence, and the place in the request. Nothing has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from bandit_forest.errors import BanditForestError

if TYPE_CHECKING:
    from bandit_forest.service.journal.commits import Commit

__all__ = [
    "ActionError",
    "CapacityError",
    "DuplicateRewardError",
    "EventConflictError",
    "InvalidRequestError",
    "LateRewardError",
    "ServiceError",
    "StorageError",
    "UnknownActionError",
    "UnknownEventError",
    "WaitingLimitError",
]


class ServiceError(BanditForestError):
    """A request that the service refuses.

    Parameters
    ----------
    message
        What is wrong and what to do, in a sentence; it never holds a secret.
    path
        The place in the request, such as `$.context.age`, or None.
    commit
        To be awaited before the answer is sent, since the answer tells of an earlier operation; or None.
    """

    code: ClassVar[str] = "refused"
    """A stable name of the reason, for programs."""

    def __init__(self, message: str, *, path: str | None = None, commit: Commit | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.commit = commit


class InvalidRequestError(ServiceError):
    """The request is malformed: a context outside its schema, an unknown action, a reward outside its range."""

    code = "invalid_request"


class UnknownEventError(ServiceError):
    """No such event waits or is remembered."""

    code = "unknown_event"


class LateRewardError(ServiceError):
    """The reward came after the event's window."""

    code = "late_reward"


class DuplicateRewardError(ServiceError):
    """The event has its reward already, and the project refuses a second one."""

    code = "duplicate_reward"


class EventConflictError(ServiceError):
    """The event to learn was decided here and waits for its reward."""

    code = "event_conflict"


class UnknownActionError(ServiceError):
    """The action to enable, disable or remove is not there."""

    code = "unknown_action"


class ActionError(ServiceError):
    """The action cannot be added or changed as asked: the name is taken, or no action would be left."""

    code = "action_conflict"


class CapacityError(ServiceError):
    """The forest has no place for another action."""

    code = "no_capacity"


class WaitingLimitError(ServiceError):
    """As many events wait for their reward as the project allows."""

    code = "too_many_waiting"


class StorageError(ServiceError):
    """The journal cannot be written now (a full disk, say), and the project says to refuse; try again later."""

    code = "storage_unavailable"
