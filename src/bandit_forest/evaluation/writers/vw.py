"""Logs as Vowpal Wabbit's text format."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bandit_forest.errors import refuse
from bandit_forest.evaluation.features import escape, rows_of
from bandit_forest.evaluation.log import Log, Source
from bandit_forest.evaluation.writers.events import rewarded

__all__ = ["vw_lines", "write_vw"]


def write_vw(log: Source, path: str | os.PathLike[str], *, progress: Callable[[int], object] | None = None) -> int:
    """Write a log in Vowpal Wabbit's text format, for `vw --cb_explore`; return the number of events written.

    Events without a reward are left out. Numbers, texts and flags go to namespaces of these names, the variables of
    contexts that are 1 to `context`. Names and texts are percent-encoded where they hold spaces, colons or bars.

    Parameters
    ----------
    log
        A `Log`, or a reader of a file.
    path
        The file to write.
    progress
        Called with the number of events read so far, every now and then.
    """
    n_written = n_read = 0
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        for batch in log.batches():
            lines = vw_lines(rewarded(batch))
            file.writelines(f"{line}\n" for line in lines)
            n_written, n_read = n_written + len(lines), n_read + len(batch)
            if progress is not None:
                progress(n_read)
    return n_written


def vw_lines(log: Log) -> list[str]:
    """Return one line per event.

    Examples
    --------
    >>> import numpy as np
    >>> features = {"age": np.array([35.5]), "city": np.array(["New York"])}
    >>> log = Log(actions=[1], rewards=[1.0], propensities=[0.25], features=features, action_names=2)
    >>> vw_lines(log)
    ['2:-1.0:0.25 |number age:35.5 |text city=New%20York']
    """
    variables = [escape(name) for name in log.variable_names]
    events = zip(log.actions.tolist(), log.rewards.tolist(), log.propensities.tolist(), rows_of(log), strict=True)
    lines = []
    for event, (action, reward, propensity, features) in enumerate(events):
        sections = _sections(features)
        if log.contexts is not None:
            ones = log.contexts[event].nonzero()[0].tolist()
            sections.append(" ".join(["|context", *(variables[place] for place in ones)]))
        lines.append(f"{action + 1}:{0.0 - reward!r}:{propensity!r} {' '.join(sections) or '|'}")
    return lines


def _sections(features: dict[str, Any]) -> list[str]:
    kinds: dict[str, list[str]] = {"number": [], "text": [], "flag": []}
    for name, value in features.items():
        if not name:
            refuse("features", "write_vw", "columns that have a name", name)
        if isinstance(value, bool):
            kinds["flag"].append(f"{escape(name)}={str(value).lower()}")
        elif isinstance(value, (int, float)):
            kinds["number"].append(f"{escape(name)}:{float(value)!r}")
        else:
            kinds["text"].append(f"{escape(name)}={escape(str(value))}")
    return [" ".join([f"|{kind}", *words]) for kind, words in kinds.items() if words]
