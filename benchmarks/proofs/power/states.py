"""The states that a power cut may leave: what was synchronised, and any part of the rest.

Names (created, renamed, removed) reach the disk in their order, when their folder is synchronised at the latest.
Contents reach it in any order, when their file is synchronised at the latest; a write may be torn between sectors.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from proofs.power.record import Change, Disk, Step

__all__ = ["CrashState", "crash_states"]

_SECTOR = 512
_RANDOM_SUBSETS = 8
_NAMES = "cru"


class CrashState(NamedTuple):
    """What a power cut may leave, and how far it had been acknowledged."""

    files: dict[str, bytes]
    acknowledged: int


def crash_states(changes: list[Change], rng: random.Random) -> Iterator[CrashState]:
    """Return states of every moment before a synchronisation: subsets of what was pending."""
    disk, acknowledged = Disk(), 0  # what is on the disk for sure
    names: dict[str, int] = {}  # as the process sees them
    pending: list[Step] = []
    for number, change in enumerate(changes):
        if change.kind == "a":
            acknowledged = int(change.data)
        elif change.kind == "s":
            for chosen in _choices(pending, rng):
                yield CrashState(disk.after(chosen).files(), acknowledged)
            is_folder = change.path == "."
            inode = names.get(change.path)
            for step in [step for step in pending if _is_synced(step, inode, is_folder=is_folder)]:
                disk.apply(step)
                pending.remove(step)
        else:
            pending.append(_step(change, names, number))
    for chosen in _choices(pending, rng):
        yield CrashState(disk.after(chosen).files(), acknowledged)


def _step(change: Change, names: dict[str, int], number: int) -> Step:
    """Return the step of a change, and follow the names."""
    if change.kind == "c":
        names[change.path] = number
    step = Step(change, names.setdefault(change.path, number))
    if change.kind == "r":
        names[change.data.decode()] = names.pop(change.path)
    elif change.kind == "u":
        del names[change.path]
    return step


def _is_synced(step: Step, inode: int | None, *, is_folder: bool) -> bool:
    return step.change.kind in _NAMES if is_folder else step.change.kind not in _NAMES and step.inode == inode


def _choices(pending: list[Step], rng: random.Random) -> Iterator[list[Step]]:
    """Return parts of what is pending: each prefix, all but one, one alone, torn writes, and some at random."""
    steps = _without_repeats(pending)
    names = [step for step in steps if step.change.kind in _NAMES]
    contents = [step for step in steps if step.change.kind not in _NAMES]
    for n_names in range(len(names) + 1):
        there = names[:n_names]
        for n_contents in range(len(contents) + 1):
            yield there + contents[:n_contents]
        for out in range(len(contents)):
            yield there + contents[:out] + contents[out + 1 :]
            yield [*there, contents[out]]
            yield from ([*there, *contents[:out], torn] for torn in _torn(contents[out]))
        for _ in range(_RANDOM_SUBSETS if contents else 0):
            yield there + [step for step in contents if rng.random() < 0.5]


def _without_repeats(pending: list[Step]) -> list[Step]:
    """Leave out writes in the middle of many to the same place: the mark has hundreds that nobody waited for."""
    places: dict[tuple[int, int, int], list[Step]] = {}
    for step in pending:
        if step.change.kind == "w":
            places.setdefault((step.inode, step.change.offset, len(step.change.data)), []).append(step)
    out = {id(step) for same in places.values() for step in same[1:-2]}
    return [step for step in pending if id(step) not in out]


def _torn(step: Step) -> Iterator[Step]:
    """Return a write of which only the first sectors, or only the later ones, have reached the disk."""
    change = step.change
    cut = (len(change.data) // _SECTOR // 2) * _SECTOR
    if change.kind == "w" and cut:
        yield Step(change._replace(data=change.data[:cut]), step.inode)
        yield Step(change._replace(data=change.data[cut:], offset=change.offset + cut), step.inode)
