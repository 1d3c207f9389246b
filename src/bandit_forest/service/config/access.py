"""The tables of a project file with the keys and the address of the service."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from bandit_forest.errors import refuse
from bandit_forest.service.config.tables import Table

__all__ = ["Keys", "Server"]

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_KEY = re.compile(r"env:\w+|sha256:[0-9a-fA-F]{64}")
_SHORTEST_KEY = 16


class Keys(Table, frozen=True):
    """References to the keys of the service, never the keys themselves. Empty: no key is needed.

    A reference is "env:NAME", the name of an environment variable that holds a key, or "sha256:...", the SHA-256 digest
    of a key in hexadecimal digits.

    Parameters
    ----------
    decide
        Keys for deciding, rewarding, learning and explaining.
    admin
        Keys for everything.
    """

    decide: tuple[str, ...] = ()
    admin: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, keys in (("decide", self.decide), ("admin", self.admin)):
            if not all(map(_KEY.fullmatch, keys)):  # what stands there may be a key: it is not shown
                refuse(name, "[keys]", "a list of texts 'env:NAME' or 'sha256:' and 64 hexadecimal digits", "...")

    def digests(self, environment: Mapping[str, str] = os.environ) -> dict[str, tuple[bytes, ...]]:
        """Return the SHA-256 digests of the keys for "decide" and for "admin"; a key must not have both roles."""
        listed = {"decide": self.decide, "admin": self.admin}
        made = {name: tuple(_digest(key, name, environment) for key in keys) for name, keys in listed.items()}
        if {*made["decide"]} & {*made["admin"]}:
            refuse("admin", "[keys]", "keys of their own, none of which is also under 'decide'", "...")
        return made


class Server(Table, frozen=True):
    """Address on which the service listens.

    Parameters
    ----------
    host
        Host to listen on, by default loopback; any other host needs keys.
    port
        Port to listen on; 0 takes a free port.
    hosts
        Names and addresses that a request may be sent to, without ports, beside loopback. Empty: any name with keys;
        loopback only without keys, so foreign web pages cannot reach the service under another name.
    """

    host: Annotated[str, Meta(min_length=1)] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65_535)] = 8420
    hosts: tuple[str, ...] = ()

    def known_hosts(self, *, with_keys: bool) -> frozenset[str] | None:
        """Return the names that a request may be sent to, in lower case; None: any."""
        if with_keys and not self.hosts:
            return None
        return frozenset(host.lower() for host in (*self.hosts, *_LOOPBACK))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in _LOOPBACK


def _digest(key: str, name: str, environment: Mapping[str, str]) -> bytes:
    kind, _, rest = key.partition(":")
    if kind == "sha256":
        return bytes.fromhex(rest)
    value = environment.get(rest, "").strip()  # no header has space around its value
    if not value:
        refuse(name, "[keys]", f"a key in the environment: set it with 'export {rest}=...' before the start", None)
    if len(value) < _SHORTEST_KEY:
        rule = f"a key of at least {_SHORTEST_KEY} characters in '{rest}', such as 'openssl rand -hex 16' prints"
        refuse(name, "[keys]", rule, "a shorter one")
    return hashlib.sha256(value.encode()).digest()
