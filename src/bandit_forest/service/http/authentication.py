"""Rights of keys, and rate limits."""

from __future__ import annotations

import hashlib
import hmac
from enum import IntEnum
from functools import lru_cache

from bandit_forest.service.config.access import Keys
from bandit_forest.service.errors import ServiceError

__all__ = ["Access", "RateLimit", "Role", "role_needed"]

_ANYBODY = b""
_DECIDE_PATHS = ("/v1/decide", "/v1/rank", "/v1/reward", "/v1/learn", "/v1/explain/", "/openapi.json")


class Role(IntEnum):
    """Rights of a key; each role includes those below it."""

    PUBLIC = 0
    DECIDE = 1
    ADMIN = 2


def role_needed(path: str, public: frozenset[str] = frozenset()) -> Role:
    """Return the role that a path needs; a path that is not listed needs the highest role.

    Examples
    --------
    >>> role_needed("/v1/decide"), role_needed("/metrics"), role_needed("/healthz", frozenset({"/healthz"}))
    (<Role.DECIDE: 1>, <Role.ADMIN: 2>, <Role.PUBLIC: 0>)
    """
    if path in public:
        return Role.PUBLIC
    return Role.DECIDE if path.startswith(_DECIDE_PATHS) else Role.ADMIN


@lru_cache
def _without_port(host: bytes) -> str:
    name = host.decode("latin-1").lower()
    return name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]


class RateLimit:
    """A bucket of tokens for each key, with the tokens of one second.

    Parameters
    ----------
    per_second
        Requests per second; 0: no limit.

    Examples
    --------
    >>> limit = RateLimit(2.0)
    >>> [limit.admits(b"key", now) for now in (0.0, 0.0, 0.0, 0.5)]
    [True, True, False, True]
    """

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._size = max(1.0, per_second)
        self._buckets: dict[bytes, tuple[float, float]] = {}

    def admits(self, key: bytes, now: float) -> bool:
        """Take a token of the key's bucket, if there is one."""
        if self._per_second == 0.0:
            return True
        tokens, since = self._buckets.get(key, (self._size, now))
        tokens = min(self._size, tokens + (now - since) * self._per_second)
        admitted = tokens >= 1.0
        self._buckets[key] = (tokens - admitted, now)
        return admitted


class Access:
    """Admits requests by their key. Without any key in the project, everybody may do everything.

    Parameters
    ----------
    keys
        Keys of the project.
    requests_per_second
        Requests per second for each key; 0: no limit.
    public
        Paths that need no key and count for no limit.
    hosts
        Accepted values of the header `Host`; None: all.
    """

    def __init__(
        self, keys: Keys, *, requests_per_second: float, public: frozenset[str], hosts: frozenset[str] | None = None
    ) -> None:
        self._digests = [(digest, Role[name.upper()]) for name, digests in keys.digests().items() for digest in digests]
        self._limit = RateLimit(requests_per_second)
        self._public = public
        self._hosts = hosts

    def check_host(self, host: bytes | None) -> None:
        """Refuse a request that was sent to another name than the service's; the header may be missing."""
        if self._hosts is not None and host is not None and _without_port(host) not in self._hosts:
            raise ServiceError("unknown_host", "The service is not known by this name: add it to [server] hosts.")

    def admit(self, path: str, authorization: bytes | None, now: float) -> None:
        """Admit a request by its `authorization` header, or refuse it; the clock of `now` never goes back."""
        needed = role_needed(path, self._public)
        if needed is Role.PUBLIC:
            return
        who = self._authenticated(authorization, needed) if self._digests else _ANYBODY
        if not self._limit.admits(who, now):
            raise ServiceError(
                "rate_limited", "There are more requests per second than the project allows; try again in a second."
            )

    def _authenticated(self, authorization: bytes | None, needed: Role) -> bytes:
        """Return the digest of the key. The comparison takes the same time for every key."""
        scheme, _, key = (authorization or b"").partition(b" ")
        given = hashlib.sha256(key.strip()).digest()
        role = Role.PUBLIC
        for digest, opens in self._digests:
            if hmac.compare_digest(digest, given):
                role = max(role, opens)
        if scheme.lower() != b"bearer" or role is Role.PUBLIC:
            raise ServiceError("unauthorized", "A key of the project is needed: send 'Authorization: Bearer KEY'.")
        if role < needed:
            raise ServiceError("forbidden", "This needs a key for administration.")
        return given
