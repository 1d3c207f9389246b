"""Requests by a grammar: valid ones, and what can be wrong with them."""

from __future__ import annotations

import json
import random
from typing import Any

__all__ = ["PATHS", "RANK_PATHS", "broken_bytes", "make_body"]

PATHS = (
    *("/v1/decide", "/v1/decide/batch", "/v1/reward", "/v1/reward/batch", "/v1/learn", "/v1/learn/batch"),
    *("/v1/actions/add", "/v1/actions/disable", "/v1/actions/enable", "/v1/actions/remove"),
)
RANK_PATHS = (
    "/v1/rank",
    "/v1/rank/batch",
    "/v1/reward",
    "/v1/reward/batch",
    "/v1/learn",
    "/v1/learn/batch",
    "/v1/decide",
)
_LISTS = {
    "/v1/decide/batch": "events",
    "/v1/rank/batch": "events",
    "/v1/reward/batch": "rewards",
    "/v1/learn/batch": "events",
}
_WEIRD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**53, 2**63, 2**64, -(2**63) - 1, 10**400, 1e308, -1e308, 5e-324, 0.5, 1.0000001),
    *("", "a", "x" * 300, "\x00", "\u2028", "\ud800", "\U0001f600", "constructor", "__proto__", "../..", "%00", "$.a"),
    *([], [[]], {}, {"a": {}}, [None] * 50, {"": 0}, {"age": 1}),
)

_PIECES = (b"[" * 2000, b'"', b"{", b"NaN", b"\xff", b"1e999", b"\\u12", b",", b"\r\n\r\n")


def make_body(path: str, rng: random.Random, *, is_offered: bool = False) -> bytes:
    """Return a body for a path of a project with fixed or offered actions: whole, or with mistakes in it."""
    items, one = _LISTS.get(path), _offered_item if is_offered else _item
    if items is None:
        body: Any = one(path, rng)
    else:
        body = {items: [one(path.removesuffix("/batch"), rng) for _ in range(rng.choice((0, 1, 2, 5)))]}
    for _ in range(rng.choice((0, 1, 1, 2, 4))):
        body = _spoil(body, rng)
    text = json.dumps(body, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
    return broken_bytes(text, rng) if rng.random() < 0.3 else text


def broken_bytes(text: bytes, rng: random.Random) -> bytes:
    """Return bytes with flips, cuts, doubled parts and insertions."""
    spoiled = bytearray(text)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(spoiled) + 1)
        kind = rng.randrange(5)
        if kind == 0 and at < len(spoiled):
            spoiled[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del spoiled[at : at + rng.choice((1, 3, 1000))]
        elif kind == 2:
            spoiled[at:at] = spoiled[at : at + rng.choice((1, 10, 100))]
        elif kind == 3:
            spoiled[at:at] = rng.randbytes(rng.choice((1, 4)))
        else:
            spoiled[at:at] = rng.choice(_PIECES)
    return bytes(spoiled)


def _item(path: str, rng: random.Random) -> dict[str, Any]:
    event_id = f"e{rng.randrange(2000)}"
    context = {"age": rng.randrange(100), "city": rng.choice(("Paris", "Nice")), "member": rng.random() < 0.5}
    if path == "/v1/decide":
        return {"context": context} | rng.choice(({}, {"event_id": event_id}, {"available_actions": ["a", "b"]}))
    if path == "/v1/reward":
        return {"event_id": event_id, "reward": rng.random()}
    if path == "/v1/learn":
        return {"context": context, "action": rng.choice("abc"), "reward": rng.random(), "propensity": rng.random()}
    return {"name": rng.choice(("a", "b", "c", f"n{rng.randrange(40)}"))}


def _offered_item(path: str, rng: random.Random) -> dict[str, Any]:
    item = _item("/v1/decide" if path == "/v1/rank" else path, rng)
    actions = [_action(number, rng) for number in rng.sample(range(50), rng.choice((1, 2, 10)))]
    if path == "/v1/rank":
        item.pop("available_actions", None)
        return item | {"actions": actions} | rng.choice(({}, {"n_ranked": 2}, {"mean_rewards": True}))
    return item | {"action": actions[0]} if path == "/v1/learn" else item


def _action(number: int, rng: random.Random) -> dict[str, Any]:
    price = rng.choice((None, rng.randrange(20), rng.random()))
    return {"id": rng.choice((number, f"a{number}")), "price": price, "kind": rng.choice(("phone", "case", "cable"))}


def _spoil(value: Any, rng: random.Random) -> Any:
    """Return a value with one mistake somewhere in it."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        name = rng.choice(list(value))
        kind = rng.randrange(4)
        if kind == 0:
            return {key: inner for key, inner in value.items() if key != name}
        if kind == 1:
            return value | {
                rng.choice(("unknown", "", "action", "propensity", "mean_rewards", name + " ")): rng.choice(_WEIRD)
            }
        return value | {name: _spoil(value[name], rng)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        at = rng.randrange(len(value))
        return [*value[:at], _spoil(value[at], rng), *value[at + 1 :]]
    return rng.choice(_WEIRD)
