"""Logs in Vowpal Wabbit's text format whose events offer actions with features, one line for each action."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from bandit_forest.evaluation.features import columns_of, untag
from bandit_forest.evaluation.log import Log, Offered
from bandit_forest.evaluation.readers.lines import located_log, numbered_names
from bandit_forest.evaluation.readers.offers import with_ids
from bandit_forest.evaluation.readers.vw_lines import LABEL_NAMES, VwLines

__all__ = ["VwOffers", "holds_offers"]

_SHARED = re.compile(r"\s*shared(?=[\s|])")
_OF_OFFERS = re.compile(r"\s*(shared(?=[\s|])|[|'])")
_OF_CONTEXT, _OF_ACTION = (
    {f"{side}_{kind}": kind for kind in ("number", "text", "flag", "labels")} for side in ("context", "action")
)

Lines = list[tuple[int, str]]


def holds_offers(path: str | os.PathLike[str]) -> bool:
    """Return whether one of the first two lines is `shared` or has no label; with fixed actions every line has one."""
    if not Path(path).is_file():
        return False
    with Path(path).open(encoding="utf-8-sig", errors="replace", newline="\n") as file:
        return any(_OF_OFFERS.match(line) for line in islice(filter(str.strip, file), 2))


class VwOffers(VwLines[Lines]):
    """Reader of Vowpal Wabbit's text format where actions have features; see `read_vw`."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        actions: Sequence[str] | int | None,
        reward_range: tuple[float, float],
    ) -> None:
        super().__init__(path, reward_range=reward_range)
        self.n_events, largest = 0, 0
        for lines in self._events():
            self.n_events += 1
            largest = max(largest, len(lines) - bool(_SHARED.match(lines[0][1])))
        self.action_names = numbered_names(actions, largest, "read_vw", self.path.name)

    def _events(self) -> Iterator[Lines]:
        blocks = groupby(self.lines(empty=True), key=lambda row: not row[1].strip())
        return (list(lines) for is_empty, lines in blocks if not is_empty)

    def _log(self, events: list[Lines]) -> Log:
        offers, places, numbers, labels = [], [], [], []
        for lines in events:
            shared = bool(_SHARED.match(lines[0][1]))
            context = self._features(*lines[0], _OF_CONTEXT) if shared else {}
            offers.append(Offered(context, self._actions(lines[shared:])))
            place, number, label = self._chosen(lines[0][0], lines[shared:])
            places.append(place)
            numbers.append(number)
            labels.append(label)
        columns = self._outcomes(numbers, labels) | {
            "actions": places,
            "offers": offers,
            "features": columns_of([offer.context for offer in offers]) or None,
        }
        return located_log(self.path.name, numbers, LABEL_NAMES, columns)

    def _chosen(self, first: int, lines: Lines) -> tuple[int, int, re.Match[str]]:
        """Return the place of the action that was taken, the number of its line, and its label; an event has one."""
        found = [
            (place, number, label)
            for place, (number, line) in enumerate(lines)
            if (label := self._label(line)) is not None
        ]
        if len(found) != 1:
            rule = "action:cost:probability before the action that was taken, and before no other of its event"
            self.refuse("label", first, None, rule, f"{len(found)} labels")
        return found[0]

    def _actions(self, lines: Lines) -> list[dict[str, Any]]:
        return with_ids(
            [self._features(*row, _OF_ACTION) for row in lines],
            [self._tag(*row) for row in lines],
            lambda place, rule, value: self.refuse("tag", lines[place][0], None, rule, value),
        )

    def _tag(self, number: int, line: str) -> str | int | None:
        """Return the tag of an action; nothing else but a label may stand before its features."""
        head = line.partition("|")[0]
        label = self._label(line)
        word = head[0 if label is None else label.end() :].strip()
        if "|" not in line or (word and not word.startswith("'") and head[-1].isspace()) or len(word.split()) > 1:
            self.refuse("action", number, 1, "[action:cost:probability] ['tag] |features", line)
        return untag(word.removeprefix("'")) if word else None
