"""What the comparator has earned on a stream, as finished trials tell: their regret and reward add up to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.experiments.run.records import read_records, result_files

__all__ = ["ComparatorSums", "comparator_sums"]

ComparatorSums = dict[tuple[str, int], NDArray[np.float64]]
"""Sums by data set and seed: the comparator's reward, summed up to each point of the run."""


def comparator_sums(out: Path, run: dict[str, Any]) -> ComparatorSums:
    """Return the comparator's rewards in all trials of a folder that were played as those of a run will be.

    Parameters
    ----------
    out
        The folder of all results.
    run
        Description of the run that is to be started.
    """
    sums: ComparatorSums = {}
    for path in result_files(out) if run["data"] else ():
        records = read_records(path)
        if records.run is None or any(records.run[name] != run[name] for name in ("points", "comparator")):
            continue
        for (name, seed), trial in records.trials.items():
            world = records.settings[name]["world"]["name"]
            if world in run["data"] and records.run["data"].get(world) == run["data"][world]:
                sums.setdefault((world, seed), trial.regret + trial.reward)
    return sums
