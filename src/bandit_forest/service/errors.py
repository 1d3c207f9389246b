"""Why the service refuses a request: a code, a sentence, and the place in the request. Nothing has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from bandit_forest.errors import BanditForestError

if TYPE_CHECKING:
    from bandit_forest.service.journal.commits import Commit

__all__ = [
    "STATUSES",
    "ActionConflictError",
    "BodyTooLargeError",
    "CapacityError",
    "ConnectionLimitError",
    "DuplicateRewardError",
    "EventConflictError",
    "ForbiddenError",
    "HostError",
    "InternalError",
    "InvalidHttpError",
    "InvalidJsonError",
    "InvalidRequestError",
    "LateRewardError",
    "MediaTypeError",
    "MethodNotAllowedError",
    "NotFoundError",
    "RateLimitError",
    "ServiceError",
    "StorageError",
    "UnauthorizedError",
    "UnknownActionError",
    "UnknownEventError",
    "WaitingLimitError",
    "WarmingUpError",
]

STATUSES: dict[str, int] = {}
"""The HTTP status of each code of a refusal."""


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

    Examples
    --------
    >>> print(ServiceError("'$.reward' is missing.", path="$.reward").within("$.rewards[2]"))
    '$.rewards[2].reward' is missing.
    """

    code: ClassVar[str] = "refused"
    """A stable name of the reason, for programs."""
    status: ClassVar[int] = 500

    def __init_subclass__(cls) -> None:
        STATUSES[cls.code] = cls.status

    def __init__(self, message: str, *, path: str | None = None, commit: Commit | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.commit = commit

    def within(self, place: str) -> Self:
        """Return the same refusal for an item of a batch, which is at a place of the request."""
        path = place if self.path is None else place + self.path[1:]
        return type(self)(self.message.replace("'$", f"'{place}", 1), path=path, commit=self.commit)


class InvalidHttpError(ServiceError):
    """What came is not a request of HTTP."""

    code, status = "invalid_http", 400


class InvalidJsonError(ServiceError):
    """The body is not JSON."""

    code, status = "invalid_json", 400


class UnauthorizedError(ServiceError):
    """No key, or one that the project does not know."""

    code, status = "unauthorized", 401


class ForbiddenError(ServiceError):
    """A key of the project, but not for this."""

    code, status = "forbidden", 403


class HostError(ServiceError):
    """The request was sent to another name: a page of somebody else may be behind it."""

    code, status = "unknown_host", 403


class NotFoundError(ServiceError):
    """There is nothing at this place."""

    code, status = "not_found", 404


class UnknownActionError(ServiceError):
    """The action to enable, disable or remove is not there."""

    code, status = "unknown_action", 404


class UnknownEventError(ServiceError):
    """No such event waits or is remembered."""

    code, status = "unknown_event", 404


class WarmingUpError(ServiceError):
    """The forest is not made yet: features are learned from the first lessons."""

    code, status = "warming_up", 404


class MethodNotAllowedError(ServiceError):
    """There is something at this place, but not for this method."""

    code, status = "method_not_allowed", 405


class ActionConflictError(ServiceError):
    """The action cannot be added or changed as asked: the name is taken, or no action would be left."""

    code, status = "action_conflict", 409


class CapacityError(ServiceError):
    """The forest has no room for another action."""

    code, status = "no_capacity", 409


class DuplicateRewardError(ServiceError):
    """The event has its reward already, and the project refuses a second one."""

    code, status = "duplicate_reward", 409


class EventConflictError(ServiceError):
    """The event is known, and is not the one that is asked for."""

    code, status = "event_conflict", 409


class LateRewardError(ServiceError):
    """The reward came after the event's window."""

    code, status = "late_reward", 410


class BodyTooLargeError(ServiceError):
    """The body is larger than the project allows."""

    code, status = "too_large", 413


class MediaTypeError(ServiceError):
    """The body is not declared as JSON. Asking for it keeps web pages of others from posting here."""

    code, status = "unsupported_media_type", 415


class InvalidRequestError(ServiceError):
    """The request is malformed: a context outside its schema, an unknown action, a reward outside its range."""

    code, status = "invalid_request", 422


class RateLimitError(ServiceError):
    """More requests per second than the project allows a key."""

    code, status = "rate_limited", 429


class WaitingLimitError(ServiceError):
    """As many events wait for their reward as the project allows."""

    code, status = "too_many_waiting", 429


class InternalError(ServiceError):
    """A failure of the service itself, which is logged."""

    code, status = "internal_error", 500


class StorageError(ServiceError):
    """The journal cannot be written now (a full disk, say), and the project says to refuse; try again later."""

    code, status = "storage_unavailable", 503


class ConnectionLimitError(ServiceError):
    """As many connections are open as the project allows."""

    code, status = "too_many_connections", 503
