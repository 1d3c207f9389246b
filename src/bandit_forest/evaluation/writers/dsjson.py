"""Logs as Vowpal Wabbit's dsjson format."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from bandit_forest.atomic import replacing
from bandit_forest.bandit.pairs.model import ID
from bandit_forest.errors import refuse
from bandit_forest.evaluation.features import action_features, known_of, rows_of, tag_of
from bandit_forest.evaluation.log import Log, Offered, Source
from bandit_forest.evaluation.writers.events import rewarded

__all__ = ["write_dsjson"]


def write_dsjson(log: Source, path: str | os.PathLike[str], *, progress: Callable[[int], object] | None = None) -> int:
    """Write a log as dsjson, for `vw --cb_explore K --dsjson`; return the number of events written.

    Events without a reward are left out. Features are in `c.features`, the variables of contexts that are 1 in
    `c.context`. There is no `_multi` and no `_labelIndex`: actions have no features, and Vowpal Wabbit reads the label
    of such events from `_label_Action`, which must come before `c`.

    A log with offers is written for `vw --cb_explore_adf --dsjson`. Features of the context are in `c.context`, those
    of each offered action in `c._multi`, in an object `action` after a `_tag` with the action's id. So `-q ca` makes
    the products of both sides. The label has a `_labelIndex`, from 0.

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
    with replacing(path) as stream:
        for batch in log.batches():
            for event in _events(rewarded(batch), n_written):
                stream.write(f"{json.dumps(event, ensure_ascii=False, allow_nan=False)}\n".encode())
                n_written += 1
            n_read += len(batch)
            if progress is not None:
                progress(n_read)
    return n_written


def _events(log: Log, first: int) -> Iterator[dict[str, Any]]:
    contexts = _contexts(log) if log.offers is None else [_offer(offer) for offer in log.offers]
    for place, context in enumerate(contexts):
        event: dict[str, Any] = {
            "_label_cost": 0.0 - float(log.rewards[place]),
            "_label_probability": float(log.propensities[place]),
            "_label_Action": int(log.actions[place]) + 1,
            **({} if log.offers is None else {"_labelIndex": int(log.actions[place])}),
            "Version": "1",
            "EventId": str(log.columns["event_id"][place]) if "event_id" in log.columns else str(first + place),
        }
        if log.times is not None:
            event["Timestamp"] = datetime.fromtimestamp(float(log.times[place]), UTC).isoformat()
        n_actions = log.n_actions if log.offers is None else len(log.offers[place].actions)
        if log.probabilities is not None:
            event["a"] = list(range(1, n_actions + 1))
        event["c"] = context
        if log.probabilities is not None:
            event["p"] = log.probabilities[place, :n_actions].tolist()
        if log.versions is not None:
            event["VWState"] = {"m": str(log.versions[place])}
        yield event


def _contexts(log: Log) -> list[dict[str, Any]]:
    variables = [_key(name) for name in log.variable_names]
    contexts: list[dict[str, Any]] = []
    for place, features in enumerate(rows_of(log)):
        context: dict[str, Any] = {}
        if features:
            context["features"] = _object(features)
        if log.contexts is not None:
            context["context"] = {variables[one]: 1 for one in log.contexts[place].nonzero()[0].tolist()}
        contexts.append(context)
    return contexts


def _offer(offer: Offered) -> dict[str, Any]:
    actions = [{"_tag": tag_of(action[ID]), "action": _object(action_features(action))} for action in offer.actions]
    return {"context": _object(known_of(offer.context)), "_multi": actions}


def _object(features: dict[str, Any]) -> dict[str, Any]:
    return {_key(name): _finite(name, value) for name, value in features.items()}


def _key(name: str) -> str:
    """Return a name that Vowpal Wabbit does not take for one of its own words, which begin with an underscore."""
    plain = name.replace("%", "%25")
    return f"%5F{plain[1:]}" if plain.startswith("_") else plain


def _finite(name: str, value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        refuse(name, "write_dsjson", "finite numbers, which JSON can hold", value)
    if isinstance(value, (list, tuple)):
        refuse(name, "write_dsjson", "no lists of texts, which Vowpal Wabbit reads from its text format only", value)
    return value if isinstance(value, (bool, int, float)) else str(value)
