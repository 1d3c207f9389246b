"""Logs as Open Bandit Pipeline's dictionary of arrays, in an `.npz` file."""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.errors import refuse
from bandit_forest.evaluation.log import BATCH_SIZE, Log
from bandit_forest.evaluation.readers.lines import FileSource, located_log

__all__ = ["ObpArrays", "read_obp"]

_NAMES = {"actions": "action", "rewards": "reward", "propensities": "pscore", "probabilities": "pi_b"}
_COLUMNS = ("action", "reward", "pscore", "context", "pi_b", "expected_reward")


def read_obp(
    path: str | os.PathLike[str],
    *,
    actions: Sequence[str] | None = None,
    reward_range: tuple[float, float] = (0.0, 1.0),
) -> ObpArrays:
    """Return the log in an `.npz` file with the arrays of Open Bandit Pipeline's `bandit_feedback`.

    `action`, `reward` and `pscore` must be there; `context`, `pi_b` (the probabilities of all actions), `n_actions` and
    `expected_reward` may. Contexts of type uint8 or bool are those of the log, others are features x0, x1, ...

    Parameters
    ----------
    path
        The file.
    actions
        Names of the actions; those of the file, or their numbers, when None.
    reward_range
        The least and the largest possible reward.
    """
    return ObpArrays(path, actions=actions, reward_range=reward_range)


class ObpArrays(FileSource):
    """Reader of Open Bandit Pipeline's arrays; see `read_obp`."""

    def __init__(
        self, path: str | os.PathLike[str], *, actions: Sequence[str] | None, reward_range: tuple[float, float]
    ) -> None:
        super().__init__(path, reward_range=reward_range)
        try:
            with np.load(self.path, allow_pickle=False) as arrays:
                found = set(arrays.files)
                for name in ("action", "reward", "pscore"):
                    if name not in found:
                        refuse("arrays", self.path.name, f"a file with the array '{name}'", sorted(found))
                taken = arrays["action"]
                n_actions = int(arrays["n_actions"]) if "n_actions" in found else int(taken.max(initial=0)) + 1
                names = arrays["action_names"].tolist() if "action_names" in found else None
                self._feature_names = arrays["feature_names"].tolist() if "feature_names" in found else None
                self._variable_names = arrays["variable_names"].tolist() if "variable_names" in found else None
        except (ValueError, zipfile.BadZipFile, EOFError) as error:
            refuse("format", self.path.name, "an .npz file without pickled objects", str(error))
        self.n_events = len(taken)
        given = names if actions is None else actions
        self.action_names = tuple(given or (f"action {number}" for number in range(n_actions)))
        self._found = found

    def batches(self, batch_size: int = BATCH_SIZE) -> Iterator[Log]:
        """Return the events from the first to the last, in batches."""
        with ExitStack() as stack:
            archive = stack.enter_context(zipfile.ZipFile(self.path))
            members = {
                name: _Rows(stack.enter_context(archive.open(f"{name}.npy")))
                for name in _COLUMNS
                if name in self._found
            }
            for start in range(0, self.n_events, batch_size):
                n_rows = min(batch_size, self.n_events - start)
                yield self._log({name: rows.read(n_rows) for name, rows in members.items()}, start)

    def _log(self, arrays: dict[str, NDArray[Any]], start: int) -> Log:
        columns: dict[str, Any] = {
            "actions": arrays["action"],
            "rewards": arrays["reward"],
            "propensities": arrays["pscore"],
            "action_names": self.action_names,
            "reward_range": self.reward_range,
        }
        context = arrays.get("context")
        if context is not None and context.dtype in (np.uint8, np.bool_):
            columns["contexts"], columns["variable_names"] = context, self._variable_names
        elif context is not None:
            names = self._feature_names or [f"x{place}" for place in range(context.shape[1])]
            columns["features"] = dict(zip(names, context.T, strict=True))
        if "pi_b" in arrays:
            columns["probabilities"] = arrays["pi_b"].reshape(len(arrays["pi_b"]), -1)
        if "expected_reward" in arrays:
            columns["columns"] = {"expected_reward": arrays["expected_reward"]}
        rows = range(start, start + len(arrays["action"]))
        return located_log(self.path.name, rows, _NAMES, columns, unit="row")


class _Rows:
    """An array in an archive, read some rows at a time."""

    def __init__(self, stream: IO[bytes]) -> None:
        version = np.lib.format.read_magic(stream)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        self._shape, fortran, self._dtype = read_header(stream)
        self._stream, self._whole, self._start = stream, None, 0
        if fortran and len(self._shape) > 1:  # columns come one after the other: rows are only known at the end
            size = math.prod(self._shape) * self._dtype.itemsize
            self._whole = np.frombuffer(stream.read(size), self._dtype).reshape(self._shape[::-1]).T

    def read(self, n_rows: int) -> NDArray[Any]:
        """Return the next rows."""
        if self._whole is not None:
            self._start += n_rows
            rows: NDArray[Any] = self._whole[self._start - n_rows : self._start]
            return rows
        shape = (n_rows, *self._shape[1:])
        content = self._stream.read(math.prod(shape) * self._dtype.itemsize)
        return np.frombuffer(content, self._dtype).reshape(shape)
