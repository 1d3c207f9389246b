"""Lines of Vowpal Wabbit's text format: labels, and features in namespaces."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar

from bandit_forest.evaluation.features import unescape
from bandit_forest.evaluation.readers.lines import LineSource

__all__ = ["LABEL_NAMES", "VwLines"]

Event = TypeVar("Event")

LABEL_NAMES = {"actions": "action", "rewards": "cost", "propensities": "probability"}
"""What the columns of a log are called in a label."""

_LABEL = re.compile(r"\s*(\d{1,18}):([^\s:|]+):([^\s:|]+)(?=[\s|]|$)")
_KINDS: Mapping[str, str] = MappingProxyType({kind: kind for kind in ("number", "text", "flag")})


class VwLines(LineSource[Event]):
    """A log in Vowpal Wabbit's text format."""

    def _label(self, line: str) -> re.Match[str] | None:
        """Return the action, the cost and the probability with which a line begins."""
        return _LABEL.match(line)

    def _outcomes(self, numbers: list[int], labels: list[re.Match[str]]) -> dict[str, Any]:
        """Return the columns of a log that are alike whatever its actions are."""
        rows = list(zip(numbers, labels, strict=True))
        return {
            "rewards": [self._reward(*row) for row in rows],
            "propensities": [self._number(*row, 3, "probability") for row in rows],
            "action_names": self.action_names,
            "reward_range": self.reward_range,
        }

    def _reward(self, number: int, label: re.Match[str]) -> float:
        cost = self._number(number, label, 2, LABEL_NAMES["rewards"])
        return self.reward(cost, LABEL_NAMES["rewards"], number, label.start(2) + 1)

    def _number(self, number: int, label: re.Match[str], group: int, name: str) -> float:
        try:
            return float(label[group])
        except ValueError:
            self.refuse(name, number, label.start(group) + 1, "a number", label[group])

    def _features(self, number: int, line: str, kinds: Mapping[str, str] = _KINDS) -> dict[str, Any]:
        """Return the features of a line, which begin at its first bar; `kinds` are those of our own namespaces."""
        features: dict[str, Any] = {}
        head, *sections = line.split("|")
        place = len(head)
        for section in sections:
            place += 1
            namespace = "" if not section or section[0].isspace() else section.split()[0]
            at = place + len(namespace)
            space = unescape(namespace.partition(":")[0])
            kind = kinds.get(space)
            for found in re.finditer(r"\S+", section[len(namespace) :]):
                try:
                    name, value = _feature(space, kind, found[0])
                except ValueError:
                    rule = "a name, or a name and a number after a colon"
                    self.refuse("feature", number, at + found.start() + 1, rule, found[0])
                features[name] = [*features.get(name, ()), *value] if kind == "labels" else value
            place += len(section)
        return features


@lru_cache(maxsize=2**16)  # the same features come again and again
def _feature(space: str, kind: str | None, text: str) -> tuple[str, Any]:
    """Return the name and the value of a feature of a namespace; of labels, one of them, or none."""
    name, sign, value = text.partition("=")
    if kind == "labels":
        return unescape(name), (unescape(value),) if sign else ()
    if sign and kind == "text":
        return unescape(name), unescape(value)
    if sign and kind == "flag" and value in ("true", "false"):
        return unescape(name), value == "true"
    name, _, value = text.partition(":")
    plain = unescape(name) if kind == "number" or not space else f"{space}.{unescape(name)}"
    return plain, float(value) if value else 1.0
