"""Logs as Vowpal Wabbit's text format."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from bandit_forest.atomic import replacing
from bandit_forest.bandit.pairs.model import ID
from bandit_forest.errors import refuse
from bandit_forest.evaluation.features import action_features, escape, known_of, rows_of, tag_of
from bandit_forest.evaluation.log import Log, Offered, Source
from bandit_forest.evaluation.writers.events import rewarded

__all__ = ["vw_lines", "write_vw"]


def write_vw(log: Source, path: str | os.PathLike[str], *, progress: Callable[[int], object] | None = None) -> int:
    """Write a log in Vowpal Wabbit's text format, for `vw --cb_explore`; return the number of events written.

    Events without a reward are left out. Numbers, texts and flags are in the namespaces `number`, `text` and `flag`,
    the variables of contexts that are 1 in `context`. Spaces, colons and bars in names and texts are percent-encoded.

    A log with offers is written for `vw --cb_explore_adf`: a line `shared` for each event, one line for each offered
    action, whose tag is its id, and an empty line. Namespaces begin with `context_` and `action_`, so that `-q ca`
    makes the products of both sides; lists of texts go to `context_labels` and `action_labels`.

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
            lines = vw_lines(rewarded(batch))
            stream.writelines(f"{line}\n".encode() for line in lines)
            n_written, n_read = n_written + len(lines), n_read + len(batch)
            if progress is not None:
                progress(n_read)
    return n_written


def vw_lines(log: Log) -> list[str]:
    """Return the text of each event: one line, or several where it offers actions, of which the last is empty.

    Examples
    --------
    >>> import numpy as np
    >>> features = {"age": np.array([35.5]), "city": np.array(["New York"])}
    >>> log = Log(actions=[1], rewards=[1.0], propensities=[0.25], features=features, action_names=2)
    >>> vw_lines(log)
    ['2:-1.0:0.25 |number age:35.5 |text city=New%20York']
    """
    outcomes = zip(log.actions.tolist(), log.rewards.tolist(), log.propensities.tolist(), strict=True)
    labels = [(action, f"{0.0 - reward!r}:{propensity!r}") for action, reward, propensity in outcomes]
    if log.offers is not None:
        return [_offer(offer, *label) for offer, label in zip(log.offers, labels, strict=True)]
    variables = [escape(name) for name in log.variable_names]
    lines = []
    for event, ((action, outcome), features) in enumerate(zip(labels, rows_of(log), strict=True)):
        sections = _sections(features)
        if log.contexts is not None:
            ones = log.contexts[event].nonzero()[0].tolist()
            sections.append(" ".join(["|context", *(variables[place] for place in ones)]))
        lines.append(f"{action + 1}:{outcome} {' '.join(sections) or '|'}")
    return lines


def _offer(offer: Offered, taken: int, outcome: str) -> str:
    lines = [f"shared {' '.join(_sections(known_of(offer.context), 'context_')) or '|'}"]
    for place, action in enumerate(offer.actions):
        label = f"0:{outcome} " if place == taken else ""
        sections = _sections(action_features(action), "action_")
        lines.append(f"{label}'{tag_of(action[ID])} {' '.join(sections) or '|'}")
    return "\n".join([*lines, ""])


def _sections(features: Mapping[str, Any], side: str = "") -> list[str]:
    kinds: dict[str, list[str]] = {"number": [], "text": [], "flag": [], "labels": []}
    for name, value in features.items():
        if not name:
            refuse("features", "write_vw", "columns that have a name", name)
        if isinstance(value, bool):
            kinds["flag"].append(f"{escape(name)}={str(value).lower()}")
        elif isinstance(value, (int, float)):
            kinds["number"].append(f"{escape(name)}:{float(value)!r}")
        elif side and isinstance(value, (list, tuple)):
            kinds["labels"] += [f"{escape(name)}={escape(label)}" for label in value] or [escape(name)]
        else:
            kinds["text"].append(f"{escape(name)}={escape(str(value))}")
    return [" ".join([f"|{side}{kind}", *words]) for kind, words in kinds.items() if words]
