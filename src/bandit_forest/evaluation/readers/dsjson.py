"""Logs in Vowpal Wabbit's dsjson format: one JSON object per line."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from bandit_forest.errors import refuse
from bandit_forest.evaluation.features import columns_of, unescape, untag
from bandit_forest.evaluation.log import Log, Offered
from bandit_forest.evaluation.readers.lines import LineSource, located_log, numbered_names, seconds_of
from bandit_forest.evaluation.readers.offers import with_ids

__all__ = ["DsJson", "read_dsjson"]

_WHOLE = re.compile(r"\d{1,18}")
_COST = "_label_cost"
_NAMES = {"actions": "_label_Action", "rewards": _COST, "propensities": "_label_probability"}


def read_dsjson(
    path: str | os.PathLike[str],
    *,
    actions: Sequence[str] | int | None = None,
    variable_names: Sequence[str] | None = None,
    reward_range: tuple[float, float] = (0.0, 1.0),
) -> DsJson:
    """Return the log in a file of dsjson, one object per line.

    The label is `_label_Action` (from 1; or `_labelIndex`, from 0), `_label_cost` and `_label_probability`; `a` and `p`
    are all actions and their probabilities. Features are the values of `c`; a value of an inner object is named
    `outer.inner`. Lines with a late reward only (`RewardValue`) are left out.

    If the first event has `_multi`, the features of each offered action, the log has offers. The id of an action is its
    `_tag`, its feature `id`, or the text of all its features: the first of the three that is present. The other
    features of `c` are those of the context, and also columns of the log; inner objects `context` and `action` are left
    out of the names of features.

    Parameters
    ----------
    path
        The file.
    actions
        Names of the actions, or their number. None: the largest action of the file. With offers, names of the positions
        in an offer.
    variable_names
        Variables of `c.context`, which then become the contexts of the log; only with fixed actions.
    reward_range
        The least and the largest possible reward.
    """
    return DsJson(path, actions=actions, variable_names=variable_names, reward_range=reward_range)


class DsJson(LineSource[tuple[int, dict[str, Any]]]):
    """Reader of dsjson; see `read_dsjson`."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        actions: Sequence[str] | int | None,
        variable_names: Sequence[str] | None,
        reward_range: tuple[float, float],
    ) -> None:
        super().__init__(path, reward_range=reward_range)
        self._variables = None if variable_names is None else list(variable_names)
        self._has_offers = False
        self.n_events, largest = 0, 0
        for number, event in self._events():
            offered = self._offered(number, event)
            self._has_offers = bool(offered) if self.n_events == 0 else self._has_offers
            self.n_events += 1
            actions_of = event.get("a")
            given = actions_of if isinstance(actions_of, list) else []
            listed = [action for action in given if isinstance(action, int)]
            largest = max(largest, self._action(number, event), len(offered) if self._has_offers else 0, *listed)
        self.action_names = numbered_names(actions, largest, "read_dsjson", self.path.name)
        if self._has_offers and variable_names is not None:
            refuse("variable_names", "read_dsjson", "None for a log with offers", variable_names)

    def _events(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, line in self.lines():
            try:
                event = json.loads(line)
            except json.JSONDecodeError as error:
                self.refuse("line", number, error.colno, "JSON", error.msg)
            except (RecursionError, ValueError) as error:  # it nests too deeply, or a number has thousands of digits
                self.refuse("line", number, None, "JSON that can be held", str(error))
            if not isinstance(event, dict):
                self.refuse("line", number, 1, "a JSON object", event)
            if "RewardValue" not in event:
                yield number, event

    def _action(self, number: int, event: dict[str, Any]) -> int:
        place = event.get("_labelIndex")
        action = event.get("_label_Action", place + 1 if isinstance(place, int) else None)
        if not isinstance(action, int) or isinstance(action, bool) or action < 1:
            self.refuse("_label_Action", number, None, "an int of at least 1", action)
        return action

    def _number(self, number: int, event: dict[str, Any], name: str) -> float:
        value = event.get(name)
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            self.refuse(name, number, None, "a number", value)
        try:
            return float(value)
        except OverflowError:
            self.refuse(name, number, None, "a number", value)

    def _log(self, rows: list[tuple[int, dict[str, Any]]]) -> Log:
        own = "context" if self._has_offers else "features"
        features = [self._flat(number, event.get("c", {}), own) for number, event in rows]
        columns: dict[str, Any] = {
            "actions": [self._action(*row) - 1 for row in rows],
            "rewards": [self.reward(self._number(*row, _COST), _COST, row[0]) for row in rows],
            "propensities": [self._number(*row, "_label_probability") for row in rows],
            "action_names": self.action_names,
            "reward_range": self.reward_range,
            "columns": columns_of([{"event_id": event["EventId"]} if "EventId" in event else {} for _, event in rows]),
        }
        if all("p" in event and "a" in event for _, event in rows):
            columns["probabilities"] = np.stack([self._probabilities(*row) for row in rows])
        if all("Timestamp" in event for _, event in rows):
            columns["times"] = [self._time(*row) for row in rows]
        states = [event.get("VWState") for _, event in rows]
        versions = [str(state["m"]) for state in states if isinstance(state, Mapping) and "m" in state]
        if len(versions) == len(rows):
            columns["versions"] = np.array([int(one) if _WHOLE.fullmatch(one) else one for one in versions])
        if self._variables is not None:
            columns["contexts"] = [[row.pop(f"context.{name}", 0) for name in self._variables] for row in features]
            columns["variable_names"] = self._variables
        if self._has_offers:
            offers = zip(features, rows, strict=True)
            columns["offers"] = [Offered(context, self._actions(*row)) for context, row in offers]
        columns["features"] = columns_of(features) or None
        return located_log(self.path.name, [number for number, _ in rows], _NAMES, columns)

    def _offered(self, number: int, event: dict[str, Any]) -> list[Any]:
        """Return what an event holds of each offered action."""
        values = event.get("c")
        offered = values.get("_multi", []) if isinstance(values, Mapping) else []
        if not isinstance(offered, list) or (self._has_offers and not offered):
            self.refuse("_multi", number, None, "a list of at least one action", offered)
        return offered

    def _actions(self, number: int, event: dict[str, Any]) -> list[dict[str, Any]]:
        offered = self._offered(number, event)
        actions = [self._flat(number, action, "action") for action in offered]
        tags = [untag(action["_tag"]) if isinstance(action.get("_tag"), str) else None for action in offered]
        return with_ids(actions, tags, lambda _, rule, value: self.refuse("_tag", number, None, rule, value))

    def _flat(self, number: int, values: object, own: str, prefix: str = "") -> dict[str, Any]:
        """Return the features of an object, and of objects inside it, in one; those of `own` by their names alone."""
        if not isinstance(values, Mapping):
            self.refuse("c", number, None, "an object of features", values)
        flat: dict[str, Any] = {}
        for key, value in values.items():
            name = prefix + unescape(key)
            if key.startswith("_") or value is None:
                continue  # Vowpal Wabbit's own words, and what is missing
            if isinstance(value, Mapping):
                flat |= self._flat(number, value, own, "" if name == own else f"{name}.")
            elif isinstance(value, list):
                flat |= self._flat(number, {str(place): one for place, one in enumerate(value)}, own, f"{name}.")
            else:
                flat[name] = value
        return flat

    def _probabilities(self, number: int, event: dict[str, Any]) -> list[float]:
        actions, probabilities = event["a"], event["p"]
        table = [0.0] * len(self.action_names)
        try:
            for action, probability in zip(actions, probabilities, strict=True):
                table[action - 1 if action > 0 else len(table)] = float(probability)
        except (IndexError, OverflowError, TypeError, ValueError):
            self.refuse("p", number, None, "one probability for each action in 'a'", probabilities)
        return table

    def _time(self, number: int, event: dict[str, Any]) -> float:
        try:
            return seconds_of(datetime.fromisoformat(event["Timestamp"]))
        except (TypeError, ValueError):
            self.refuse("Timestamp", number, None, "a time in ISO 8601", event["Timestamp"])
