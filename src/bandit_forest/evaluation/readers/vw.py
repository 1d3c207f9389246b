"""Logs in Vowpal Wabbit's text format, with fixed actions: `action:cost:probability | features`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bandit_forest.errors import refuse
from bandit_forest.evaluation.features import columns_of
from bandit_forest.evaluation.log import Log
from bandit_forest.evaluation.readers.lines import located_log, numbered_names
from bandit_forest.evaluation.readers.vw_lines import LABEL_NAMES, VwLines
from bandit_forest.evaluation.readers.vw_offers import VwOffers, holds_offers

__all__ = ["VwText", "read_vw"]


def read_vw(
    path: str | os.PathLike[str],
    *,
    actions: Sequence[str] | int | None = None,
    variable_names: Sequence[str] | None = None,
    reward_range: tuple[float, float] = (0.0, 1.0),
) -> VwText | VwOffers:
    """Return the log in a file of Vowpal Wabbit's text format.

    A cost is minus a reward. A feature that an event lacks is missing.

    With fixed actions, each event is one line, and actions are numbered from 1. Features become columns, named
    `namespace.name`; features of the namespaces `number`, `text` and `flag`, which `write_vw` uses, keep their names.

    With features of actions (`--cb_explore_adf`), each event has an optional line `shared` and one line for each
    offered action. The line of the chosen action has the label, whose action is ignored. An empty line ends the event.
    The reader recognises such a file by its first two lines. Its log has offers: the id of an action is its tag (a
    whole number as an int) or, without a tag, the text of its features. The features of `shared` are those of the
    context, and also columns of the log.

    Parameters
    ----------
    path
        The file.
    actions
        Names of the actions, or their number. None: the largest action of the file. With offers, names of the positions
        in an offer.
    variable_names
        Variables of the namespace `context`, which then become the contexts of the log; only with fixed actions.
    reward_range
        The least and the largest possible reward.
    """
    if not holds_offers(path):
        return VwText(path, actions=actions, variable_names=variable_names, reward_range=reward_range)
    if variable_names is not None:
        refuse("variable_names", "read_vw", "None for a log with offers", variable_names)
    return VwOffers(path, actions=actions, reward_range=reward_range)


class VwText(VwLines[tuple[int, str]]):
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
            largest = max(largest, int(self._fixed(number, line)[1]))
        self.action_names = numbered_names(actions, largest, "read_vw", self.path.name)

    def _events(self) -> Iterator[tuple[int, str]]:
        return self.lines()

    def _fixed(self, number: int, line: str) -> re.Match[str]:
        """Return the label of a line, which must have one."""
        label = self._label(line)
        if label is None or int(label[1]) < 1:
            rule = "action:cost:probability with an action of at least 1, one line per event"
            self.refuse("label", number, 1, rule, line.partition("|")[0].strip())
        return label

    def _log(self, events: list[tuple[int, str]]) -> Log:
        numbers = [number for number, _ in events]
        labels = [self._fixed(number, line) for number, line in events]
        features = [self._features(number, line) for number, line in events]
        columns = self._outcomes(numbers, labels)
        columns["actions"] = [int(label[1]) - 1 for label in labels]
        if self._variables is not None:
            columns["contexts"] = self._contexts(numbers, features, self._variables)
            columns["variable_names"] = tuple(self._variables)
        columns["features"] = columns_of(features) or None
        return located_log(self.path.name, numbers, LABEL_NAMES, columns)

    def _contexts(
        self, numbers: list[int], events: list[dict[str, Any]], variables: dict[str, int]
    ) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """Return the variables of the namespace `context`, and take them out of the features."""
        contexts = np.zeros((len(numbers), len(variables)), dtype=np.uint8)
        for event, (number, features) in enumerate(zip(numbers, events, strict=True)):
            for name in [name for name in features if name.startswith("context.")]:
                variable, value = name.removeprefix("context."), features.pop(name)
                if variable not in variables or value not in (0.0, 1.0):
                    self.refuse("context", number, None, "one of the variables, at 0 or 1", f"{variable}:{value:g}")
                contexts[event, variables[variable]] = value
        return contexts
