"""What is read from a request: JSON, never more than the project allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from starlette.types import Message, Receive

from bandit_forest.service.errors import InvalidRequestError, ServiceError

__all__ = ["BodyTooLargeError", "InvalidJsonError", "MediaTypeError", "limited", "object_of", "parse_json", "read_body"]

_LONGEST_SHOWN = 80


class BodyTooLargeError(ServiceError):
    """The body is larger than the project allows."""

    code = "too_large"


class MediaTypeError(ServiceError):
    """The body is not declared as JSON. Asking for it keeps web pages of others from posting here."""

    code = "unsupported_media_type"


class InvalidJsonError(ServiceError):
    """The body is not JSON."""

    code = "invalid_json"


def limited(receive: Receive, headers: Mapping[bytes, bytes], most: int) -> Receive:
    """Refuse a body of more bytes: at once when it is declared, else while it is read.

    Parameters
    ----------
    receive
        What gives the body, in parts.
    headers
        Of the request.
    most
        Bytes that are allowed.
    """
    declared = headers.get(b"content-length")
    if declared is not None and declared.isdigit() and b"transfer-encoding" not in headers:
        if int(declared) > most:
            raise BodyTooLargeError(f"The body must have at most {most} bytes; it has {int(declared)}.")
        return receive  # the server reads no more than what is declared
    left = most

    async def receive_part() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise BodyTooLargeError(f"The body must have at most {most} bytes.")
        return message

    return receive_part


async def read_body(receive: Receive) -> bytes:
    """Read the whole body."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":  # what has come may look whole
            raise InvalidJsonError("The body is not JSON: the connection was closed before its end.", path="$")
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def parse_json(headers: Mapping[bytes, bytes], body: bytes | bytearray) -> Any:
    """Read a body that is declared as JSON."""
    if not headers.get(b"content-type", b"").lower().startswith(b"application/json"):
        raise MediaTypeError("The body must be JSON: send 'Content-Type: application/json'.")
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InvalidJsonError(f"The body is not JSON: {error}.", path="$") from None


def object_of(body: object, fields: frozenset[str]) -> dict[str, Any]:
    """Give back a JSON object that has no other fields.

    Examples
    --------
    >>> object_of({"event_id": "a"}, frozenset({"event_id", "reward"}))
    {'event_id': 'a'}
    >>> object_of({"rewrad": 1}, frozenset({"event_id", "reward"}))
    Traceback (most recent call last):
        ...
    bandit_forest.service.errors.InvalidRequestError: There is no field 'rewrad' here; there are event_id, reward.
    """
    if not isinstance(body, dict):
        raise InvalidRequestError("The body must be an object.", path="$")
    if not body.keys() <= fields:
        unknown = min(body.keys() - fields)[:_LONGEST_SHOWN]
        known = ", ".join(sorted(fields))
        raise InvalidRequestError(f"There is no field '{unknown}' here; there are {known}.", path=f"$.{unknown}")
    return body
