"""Logs as Vowpal Wabbit's dsjson format."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bandit_forest.errors import refuse
from bandit_forest.evaluation.features import rows_of
from bandit_forest.evaluation.log import Log, Source
from bandit_forest.evaluation.writers.events import rewarded

__all__ = ["write_dsjson"]


def write_dsjson(log: Source, path: str | os.PathLike[str], *, progress: Callable[[int], object] | None = None) -> int:
    """Write a log as dsjson, for `vw --cb_explore K --dsjson`; return the number of events written.

    Events without a reward are left out. Features are in `c.features`, the variables of contexts that are 1 in
    `c.context`. There is no `_multi` and no `_labelIndex`: actions have no features, and Vowpal Wabbit reads the label
    of such events from `_label_Action`, which must come before `c`.

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
            for event in _events(rewarded(batch), n_written):
                file.write(f"{json.dumps(event, ensure_ascii=False, allow_nan=False)}\n")
                n_written += 1
            n_read += len(batch)
            if progress is not None:
                progress(n_read)
    return n_written


def _events(log: Log, first: int) -> Iterator[dict[str, Any]]:
    variables = [_key(name) for name in log.variable_names]
    for place, features in enumerate(rows_of(log)):
        contexts: dict[str, Any] = {}
        if features:
            contexts["features"] = {_key(name): _finite(name, value) for name, value in features.items()}
        if log.contexts is not None:
            contexts["context"] = {variables[one]: 1 for one in log.contexts[place].nonzero()[0].tolist()}
        event: dict[str, Any] = {
            "_label_cost": 0.0 - float(log.rewards[place]),
            "_label_probability": float(log.propensities[place]),
            "_label_Action": int(log.actions[place]) + 1,
            "Version": "1",
            "EventId": str(log.columns["event_id"][place]) if "event_id" in log.columns else str(first + place),
        }
        if log.times is not None:
            event["Timestamp"] = datetime.fromtimestamp(float(log.times[place]), UTC).isoformat()
        if log.probabilities is not None:
            event["a"] = list(range(1, log.n_actions + 1))
        event["c"] = contexts
        if log.probabilities is not None:
            event["p"] = log.probabilities[place].tolist()
        if log.versions is not None:
            event["VWState"] = {"m": str(log.versions[place])}
        yield event


def _key(name: str) -> str:
    """Return a name that Vowpal Wabbit does not take for one of its own words, which begin with an underscore."""
    plain = name.replace("%", "%25")
    return f"%5F{plain[1:]}" if plain.startswith("_") else plain


def _finite(name: str, value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        refuse(name, "write_dsjson", "finite numbers, which JSON can hold", value)
    return value
