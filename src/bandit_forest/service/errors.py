"""Refusals of requests by the service: a code, a message, and the place in the request. Nothing has changed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Self

import msgspec

from bandit_forest.errors import BanditForestError, refusal

if TYPE_CHECKING:
    from bandit_forest.service.journal.commits import Commit

__all__ = [
    "STATUSES",
    "InvalidRequestError",
    "Mismatch",
    "ServiceError",
    "StorageError",
    "decided_here",
    "invalid",
    "invalid_type",
    "listed",
    "mismatch",
    "other_request",
    "too_many_waiting",
]

STATUSES = {
    "invalid_http": 400,  # what came is not a request of HTTP
    "invalid_json": 400,  # the body is not JSON
    "unauthorized": 401,  # no key, or one that the project does not know
    "forbidden": 403,  # a key of the project, but not for this
    "unknown_host": 403,  # the request was sent to another name: a page of somebody else may be behind it
    "not_found": 404,
    "unknown_action": 404,  # the action to enable, disable or remove is not there
    "unknown_event": 404,  # no such event waits or is remembered
    "warming_up": 404,  # the forest is not made yet: features are learned from the first lessons
    "wrong_project": 404,  # the path is of fixed actions and the project's are offered, or the other way round
    "method_not_allowed": 405,
    "action_conflict": 409,  # the name of an action is taken, an id is offered twice, or no action would be left
    "no_capacity": 409,  # the forest has no room for another action
    "duplicate_reward": 409,  # the event has its reward already, and the project refuses a second one
    "event_conflict": 409,  # the event is known, and is not the one that is asked for
    "late_reward": 410,  # the reward came after the event's window
    "too_large": 413,  # the body is larger than the project allows
    "unsupported_media_type": 415,  # asking for JSON keeps web pages of others from posting here
    "invalid_request": 422,  # a context outside its schema, an unknown action, a reward outside its range
    "rate_limited": 429,  # more requests per second than the project allows a key
    "too_many_waiting": 429,  # as many events wait for their reward as the project allows
    "internal_error": 500,  # a failure of the service itself, which is logged
    "storage_unavailable": 503,  # the journal cannot be written now, and the project says to refuse; try again later
    "too_stale": 503,  # a replica is further behind than the project allows
    "too_many_connections": 503,  # as many connections are open as the project allows
}
"""The HTTP status of each code of a refusal."""

_MOST_LISTED = 20
_WRONG_FIELD = re.compile(r"Object (missing required|contains unknown) field `(.*)`")


class ServiceError(BanditForestError):
    """A request that the service refuses.

    Parameters
    ----------
    code
        A stable name of the reason, for programs: one of `STATUSES`.
    message
        What is wrong and what to do, in a sentence; it never holds a secret.
    path
        The place in the request, such as `$.context.age`, or None.
    commit
        Commit that must end before the answer is sent, since the answer tells of an earlier operation; or None.

    Examples
    --------
    >>> print(ServiceError("invalid_request", "'$.reward' is missing.", path="$.reward").within("$.rewards[2]"))
    '$.rewards[2].reward' is missing.
    """

    def __init__(self, code: str, message: str, *, path: str | None = None, commit: Commit | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = STATUSES[code]
        self.message = message
        self.path = path
        self.commit = commit

    def __str__(self) -> str:
        return self.message

    def within(self, place: str) -> Self:
        """Put the refusal at the place of its item in a batch, and return it."""
        self.path = place if self.path is None else place + self.path[1:]
        self.message = self.message.replace("'$", f"'{place}", 1)
        return self


class InvalidRequestError(ServiceError):
    """The request is malformed."""

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__("invalid_request", message, path=path)


class StorageError(ServiceError):
    """The journal cannot be written now, for example because the disk is full."""

    def __init__(self, message: str) -> None:
        super().__init__("storage_unavailable", message)


class Mismatch(NamedTuple):
    """The parts of msgspec's sentence about a value that is not of its type."""

    rule: str
    """What is wrong, beginning in lower case."""
    path: str
    """The place of the value, such as `$.reward`."""
    missing: str | None
    """Name of a field that is needed and not there."""
    unknown: str | None
    """Name of a field that is there and not known."""


def mismatch(error: msgspec.ValidationError) -> Mismatch:
    """Return the parts of the sentence of an error."""
    message, _, place = str(error).partition(" - at `")
    kind, name = found.groups() if (found := _WRONG_FIELD.match(message)) else ("", "")
    return Mismatch(
        rule=message[0].lower() + message[1:],
        path=place.rstrip("`") or "$",
        missing=name if kind == "missing required" else None,
        unknown=name if kind == "contains unknown" else None,
    )


def invalid_type(error: msgspec.ValidationError) -> InvalidRequestError:
    """Return the refusal of a request that is not of its type, with its place.

    Examples
    --------
    >>> try:
    ...     msgspec.convert({"reward": "1"}, dict[str, float])
    ... except msgspec.ValidationError as error:
    ...     print(invalid_type(error))
    '$[...]' is wrong: expected `float`, got `str`.
    """
    rule, path, missing, unknown = mismatch(error)
    field = missing or unknown
    place = path if field is None else f"{path}.{field}"
    return InvalidRequestError(f"'{place}' is wrong: {rule}.", path=place)


def invalid(path: str, rule: str, value: object) -> InvalidRequestError:
    """Return the refusal of a value that a rule of the project does not allow."""
    return InvalidRequestError(refusal(f"'{path}'", rule, value), path=path)


def listed(names: Iterable[str]) -> str:
    """Return names as a sentence tells them: the first of many.

    Examples
    --------
    >>> listed(["red", "blue"]), listed("abcdefghijklmnopqrstuvwxyz")
    ('red, blue', 'a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, ...')
    """
    first = list(islice(names, _MOST_LISTED + 1))
    return ", ".join(first if len(first) <= _MOST_LISTED else [*first[:-1], "..."])


def other_request(event_id: str, commit: Commit | None = None) -> ServiceError:
    """Return the refusal of a request whose event is known from another one."""
    message = (
        f"The event '{event_id}' is known from another request: the same one gets the same answer again, and another "
        "one needs an event_id of its own."
    )
    return ServiceError("event_conflict", message, path="$.event_id", commit=commit)


def decided_here(event_id: str) -> ServiceError:
    """Return the refusal to learn an event from elsewhere that is one of the service's own."""
    message = f"The event '{event_id}' was decided here and waits: send its reward instead."
    return ServiceError("event_conflict", message, path="$.event_id")


def too_many_waiting(most: int) -> ServiceError:
    """Return the refusal of an event for which there is no room."""
    return ServiceError(
        "too_many_waiting",
        f"{most} events wait for their reward, as many as [limits] waiting_events allows: send "
        "rewards, or wait until the oldest expire.",
    )
