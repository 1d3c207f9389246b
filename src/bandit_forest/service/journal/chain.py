"""The chain over the entries of a journal: the link of an entry depends on all before it, so that a change is found."""

from __future__ import annotations

from hashlib import blake2b

from msgspec import msgpack

from bandit_forest.service.journal.entries import Entry

__all__ = ["NO_LINK", "first_link", "next_link"]

_BYTES = 16
NO_LINK = bytes(_BYTES)
"""What the first file of a journal goes on from."""

_encode = msgpack.Encoder().encode


def first_link(previous: bytes, identity: str) -> bytes:
    """Return the link before the first entry of a file, which goes on from the last link of the file before it."""
    return blake2b(previous + identity.encode(), digest_size=_BYTES).digest()


def next_link(previous: bytes, entry: Entry) -> bytes:
    """Return the link of an entry that follows another.

    Examples
    --------
    >>> entry = Entry(1, 0.0, "reward", "e1", reward=1)
    >>> link = next_link(NO_LINK, entry)
    >>> link == next_link(NO_LINK, entry._replace(reward=1.0)), link == next_link(link, entry)
    (True, False)
    """
    seq, time, kind, event_id, action, propensity, reward, context, available, forest_action, *forest = entry
    texts = (kind, event_id, action, context, available, forest_action)
    numbers = [None if number is None else number + 0.0 for number in (time, propensity, reward, *forest)]
    return blake2b(previous + _encode((seq, texts, numbers)), digest_size=_BYTES).digest()  # SQLite has no -0.0
