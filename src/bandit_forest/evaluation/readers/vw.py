"""Logs in Vowpal Wabbit's text format: `action:cost:probability | features`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from bandit_forest.errors import refuse
from bandit_forest.evaluation.features import columns_of, unescape
from bandit_forest.evaluation.log import BATCH_SIZE, Log
from bandit_forest.evaluation.readers.lines import LineSource, located_log

__all__ = ["VwText", "read_vw"]

_LABEL = re.compile(r"\s*(\d+):([^\s:|]+):([^\s:|]+)(?=[\s|])")
_NAMES = {"actions": "action", "rewards": "cost", "propensities": "probability"}


def read_vw(
    path: str | os.PathLike[str],
    *,
    actions: Sequence[str] | int | None = None,
    variable_names: Sequence[str] | None = None,
    reward_range: tuple[float, float] = (0.0, 1.0),
) -> VwText:
    """Return the log in a file of Vowpal Wabbit's text format, one line per event.

    Actions count from 1 in the file, and a cost is minus a reward. Features become columns; those of the namespaces
    `number`, `text` and `flag`, which `write_vw` uses, by their names, others as `namespace.name`. A feature that an
    event lacks is missing.

    Parameters
    ----------
    path
        The file.
    actions
        Names of the actions, or their number; the largest action of the file when None.
    variable_names
        Variables of the namespace `context`, which then become the contexts of the log.
    reward_range
        The least and the largest possible reward.
    """
    return VwText(path, actions=actions, variable_names=variable_names, reward_range=reward_range)


class VwText(LineSource):
    """Reader of Vowpal Wabbit's text format; see `read_vw`."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        actions: Sequence[str] | int | None,
        variable_names: Sequence[str] | None,
        reward_range: tuple[float, float],
    ) -> None:
        super().__init__(path, reward_range=reward_range)
        self._variables = None if variable_names is None else {name: at for at, name in enumerate(variable_names)}
        self.n_events, largest = 0, 0
        for number, line in self.lines():
            self.n_events += 1
            largest = max(largest, int(self._label(number, line)[1]))
        n_actions = actions if isinstance(actions, int) else largest if actions is None else len(actions)
        if largest > n_actions:
            refuse("actions", "read_vw", f"at least {largest}, as in {self.path.name}", actions)
        names = None if actions is None or isinstance(actions, int) else actions
        self.action_names = tuple(names or (f"action {number}" for number in range(n_actions)))

    def batches(self, batch_size: int = BATCH_SIZE) -> Iterator[Log]:
        """Return the events from the first to the last, in batches."""
        rows: list[tuple[int, str]] = []
        for row in self.lines():
            rows.append(row)
            if len(rows) == batch_size:
                yield self._log(rows)
                rows = []
        if rows:
            yield self._log(rows)

    def _label(self, number: int, line: str) -> re.Match[str]:
        match = _LABEL.match(line)
        if match is None or int(match[1]) < 1:
            rule = "action:cost:probability with an action of at least 1, one line per event"
            self.refuse("label", number, 1, rule, line.partition("|")[0].strip())
        return match

    def _log(self, rows: list[tuple[int, str]]) -> Log:
        labels = [self._label(number, line) for number, line in rows]
        columns: dict[str, Any] = {
            "actions": [int(label[1]) - 1 for label in labels],
            "rewards": [0.0 - self._number(row, label, 2, "cost") for row, label in zip(rows, labels, strict=True)],
            "propensities": [
                self._number(row, label, 3, "probability") for row, label in zip(rows, labels, strict=True)
            ],
            "action_names": self.action_names,
            "reward_range": self.reward_range,
        }
        events = [
            self._features(number, line, line.index("|", label.end()))
            for (number, line), label in zip(rows, labels, strict=True)
        ]
        if self._variables is not None:
            columns["contexts"] = self._contexts(rows, events, self._variables)
            columns["variable_names"] = tuple(self._variables)
        columns["features"] = columns_of(events) or None
        return located_log(self.path.name, [number for number, _ in rows], _NAMES, columns)

    def _number(self, row: tuple[int, str], label: re.Match[str], group: int, name: str) -> float:
        try:
            return float(label[group])
        except ValueError:
            self.refuse(name, row[0], label.start(group) + 1, "a number", label[group])

    def _features(self, number: int, line: str, start: int) -> dict[str, Any]:
        features: dict[str, Any] = {}
        place = start
        for section in line[start + 1 :].split("|"):
            place += 1
            namespace = "" if not section or section[0].isspace() else section.split()[0]
            at = place + len(namespace)
            kind = unescape(namespace.partition(":")[0])
            for found in re.finditer(r"\S+", section[len(namespace) :]):
                try:
                    name, value = _feature(kind, found[0])
                except ValueError:
                    rule = "a name, or a name and a number after a colon"
                    self.refuse("feature", number, at + found.start() + 1, rule, found[0])
                features[name] = value
            place += len(section)
        return features

    def _contexts(
        self, rows: list[tuple[int, str]], events: list[dict[str, Any]], variables: dict[str, int]
    ) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """Return the variables of the namespace `context`, and take them out of the features."""
        contexts = np.zeros((len(rows), len(variables)), dtype=np.uint8)
        for event, ((number, _), features) in enumerate(zip(rows, events, strict=True)):
            for name in [name for name in features if name.startswith("context.")]:
                variable, value = name.removeprefix("context."), features.pop(name)
                if variable not in variables or value not in (0.0, 1.0):
                    self.refuse("context", number, None, "one of the variables, at 0 or 1", f"{variable}:{value:g}")
                contexts[event, variables[variable]] = value
        return contexts


@lru_cache(maxsize=2**16)  # the same features come again and again
def _feature(kind: str, text: str) -> tuple[str, Any]:
    """Return the name and the value of a feature of a namespace."""
    if kind in ("text", "flag"):
        name, sign, value = text.partition("=")
        if sign and (kind == "text" or value in ("true", "false")):
            return unescape(name), unescape(value) if kind == "text" else value == "true"
    name, _, value = text.partition(":")
    plain = unescape(name) if kind in ("", "number") else f"{kind}.{unescape(name)}"
    return plain, float(value) if value else 1.0
