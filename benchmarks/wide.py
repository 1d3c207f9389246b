"""Wide data: thousands of binary variables, and numbers at full resolution beside the same numbers in five bins.

Run it with `python benchmarks/wide.py`. Each line has a process of its own and one core.
"""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from bandit_forest import BanditForest, Greedy
from bandit_forest.encoding import ContextEncoder
from harness.rivals import run_vowpal_wabbit

N_VARIABLES, N_ACTIONS, N_SET = 5_000, 20, 20
N_NUMBERS = 60
N_EVENTS, N_NUMERIC_EVENTS, BATCH = 200_000, 100_000, 5_000


class Line(NamedTuple):
    """What one policy did."""

    seconds: float
    average_reward: float
    peak_megabytes: float


def main() -> None:
    """Print a table for each kind of wide data."""
    console = Console(width=120)
    binary = {
        "BanditForest": _alone(_play_binary, True),
        "BanditForest, linear=False": _alone(_play_binary, False),
        "vw --squarecb": _alone(_play_rival),
    }
    title = f"{N_VARIABLES:,} binary variables, {N_SET} set in each context, {N_ACTIONS} actions, {N_EVENTS:,} events"
    console.print(_table(title, binary, N_EVENTS))
    numeric = {
        "up to 255 thresholds": _alone(_play_numeric, None),
        "five one-hot bins": _alone(_play_numeric, 5),
    }
    console.print(_table(f"{N_NUMBERS} numbers, 5 actions, {N_NUMERIC_EVENTS:,} events", numeric, N_NUMERIC_EVENTS))


def _binary_batch(number: int) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Return contexts in which a few of many variables are set; the first of them tells the right action."""
    rng = np.random.default_rng(number)
    chosen = rng.integers(0, N_VARIABLES, (BATCH, N_SET)) ** 2 // N_VARIABLES  # small numbers more often
    contexts = np.zeros((BATCH, N_VARIABLES), np.uint8)
    contexts[np.arange(BATCH)[:, None], chosen] = 1
    right = chosen.min(axis=1) % N_ACTIONS
    rewards = np.where(np.arange(N_ACTIONS) == right[:, None], 0.9, 0.05)
    return contexts, (rng.random(rewards.shape) < rewards).astype(float)


def _play_binary(linear: bool) -> Line:
    forest = BanditForest(n_variables=N_VARIABLES, n_actions=N_ACTIONS, growth=Greedy(linear=linear), seed=1)
    earned, seconds = 0.0, 0.0
    for number in range(N_EVENTS // BATCH):
        contexts, rewards = _binary_batch(number)
        start = time.perf_counter()
        earned += float(forest.play(contexts, rewards).rewards.sum())
        seconds += time.perf_counter() - start
    return Line(seconds, earned / N_EVENTS, _peak_megabytes())


def _play_rival() -> Line:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "events.txt")
        with path.open("w") as file:
            for number in range(N_EVENTS // BATCH):
                for context, rewards in zip(*_binary_batch(number), strict=True):
                    costs = " ".join(f"{action + 1}:{1 - reward:g}" for action, reward in enumerate(rewards))
                    file.write(f"{costs} | {' '.join(f'f{variable}' for variable in np.flatnonzero(context))}\n")
        measured = run_vowpal_wabbit(path, N_ACTIONS, "--cbify_cs --cb_explore_adf --squarecb -b 24")
    return Line(measured.seconds, measured.average_reward, _peak_megabytes())


def _play_numeric(n_bins: int | None) -> Line:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(N_NUMERIC_EVENTS, N_NUMBERS))
    right = (numbers[:, 0] + numbers[:, 1] > 0) + 2 * (numbers[:, 2] > 0.5)
    rewards = (rng.random((N_NUMERIC_EVENTS, 5)) < np.where(np.arange(5) == right[:, None], 0.9, 0.1)).astype(float)
    encoder = ContextEncoder(n_bins=n_bins)
    contexts = encoder.fit_transform({f"number {i}": column for i, column in enumerate(numbers.T)})
    forest = BanditForest(n_variables=encoder.n_variables, n_actions=5, thresholds=encoder.thresholds, seed=1)
    start = time.perf_counter()
    earned = float(forest.play(contexts, rewards).rewards.mean())
    return Line(time.perf_counter() - start, earned, _peak_megabytes())


def _alone(function: Callable[..., Line], *arguments: Any) -> Line:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _table(title: str, lines: dict[str, Line], n_events: int) -> Table:
    table = Table(title=title)
    for column in ("policy", "events/s", "µs per event", "average reward", "peak MB of the process"):
        table.add_column(column, justify="left" if column == "policy" else "right")
    for name, line in lines.items():
        rate = n_events / line.seconds
        row = f"{rate:,.0f}", f"{1e6 / rate:.1f}", f"{line.average_reward:.4f}", f"{line.peak_megabytes:,.0f}"
        table.add_row(name, *row)
    return table


if __name__ == "__main__":
    main()
