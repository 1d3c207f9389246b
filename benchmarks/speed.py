"""Speed and memory of the paper's forest beside Vowpal Wabbit, on the same events in the same run.

Each measurement has a process of its own and one core. Run it on an idle machine: `make bench`.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from bandit_forest import BanditForest
from bandit_forest.errors import BanditForestError
from bandit_forest.worlds.datasets import load
from rivals import Measurement, play_forest, play_vowpal_wabbit

VOWPAL_WABBIT = "--squarecb"
FOREST_SIZES = (25, 50, 100, 200)


def main() -> None:
    """Measure, print tables and write the figures to a file."""
    arguments = _arguments()
    console = Console(width=120)
    worlds = ["hidden tree"] + (["covtype"] if _has_covtype(arguments.data, console) else [])
    results: dict[str, Any] = {"events": arguments.events, "python": sys.version.split()[0]}
    for world in worlds:
        forest = _alone(play_forest, world, arguments.data, arguments.events, arguments.seed, 100)
        rival = _alone(play_vowpal_wabbit, world, arguments.data, arguments.events, arguments.seed, VOWPAL_WABBIT)
        console.print(_rival_table(world, arguments.events, forest, rival))
        results[world] = {"forest": forest._asdict(), "vowpal_wabbit": rival._asdict()}
    sizes = {
        n_trees: _alone(play_forest, worlds[-1], arguments.data, arguments.events // 4, arguments.seed, n_trees)
        for n_trees in FOREST_SIZES
    }
    console.print(_size_table(worlds[-1], arguments.events // 4, sizes))
    pair = _alone(_pair_microseconds, worlds[-1], arguments.data, arguments.seed)
    console.print(f"one decide + learn from Python, 100 trees, after 105,000 events: {pair:.1f} µs")
    imported = min(_import_seconds() for _ in range(5))
    console.print(f"import bandit_forest: {1000 * imported:.0f} ms more than an empty interpreter")
    results |= {
        "sizes": {str(n_trees): size._asdict() for n_trees, size in sizes.items()},
        "pair_microseconds": pair,
        "import_seconds": imported,
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(results, indent=1) + "\n")
    console.print(f"figures written to {arguments.out}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", help="folder of covtype.data.gz; Cover Type is left out where it is not found")
    parser.add_argument("--out", type=Path, default=Path("out/speed.json"))
    return parser.parse_args()


def _has_covtype(data: str | None, console: Console) -> bool:
    try:
        load("covtype", data)
    except BanditForestError as error:
        console.print(f"Cover Type is left out: {error}")
        return False
    return True


def _alone(function: Callable[..., Any], *arguments: object) -> Any:
    """Call a function in a fresh process, so that memory and caches are its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def _rival_table(world: str, n_events: int, forest: Measurement, rival: Measurement) -> Table:
    table = Table(title=f"{world}, first {n_events:,} events, one core")
    for column in ("policy", "events/s", "ratio to vw", "average reward", "bytes per tree", "peak MB"):
        table.add_column(column, justify="left" if column == "policy" else "right")
    for name, measured in (("BanditForest.paper, 100 trees", forest), (f"vw {VOWPAL_WABBIT}", rival)):
        table.add_row(
            name,
            f"{n_events / measured.seconds:,.0f}",
            f"{rival.seconds / measured.seconds:.2f}",
            f"{measured.average_reward:.4f}",
            "" if measured.bytes_per_tree is None else f"{measured.bytes_per_tree:,.0f}",
            f"{measured.peak_megabytes:,.0f}",
        )
    tenths = " ".join(f"{n_events / 10 / seconds / 1000:.0f}" for seconds in forest.window_seconds)
    table.caption = f"the forest by tenths of the stream, thousand events/s: {tenths}"
    return table


def _size_table(world: str, n_events: int, sizes: dict[int, Measurement]) -> Table:
    table = Table(title=f"cost by number of trees: {world}, first {n_events:,} events")
    for column in ("trees", "events/s", "µs per event", "ns per event and tree"):
        table.add_column(column, justify="right")
    for n_trees, measured in sizes.items():
        cost = measured.seconds / n_events
        table.add_row(str(n_trees), f"{1 / cost:,.0f}", f"{1e6 * cost:.1f}", f"{1e9 * cost / n_trees:.0f}")
    return table


def _pair_microseconds(world: str, data: str | None, seed: int) -> float:
    from streams import batches, make_world

    size = make_world(world, data)
    forest = BanditForest.paper(n_variables=size.n_variables, n_actions=size.n_actions, seed=seed)
    stream = list(batches(world, data, 150_000, seed))
    for batch in stream[:14]:
        forest.play(batch.contexts, batch.rewards)
    contexts, rewards = stream[14].contexts, stream[14].rewards
    times = []
    for context, reward in zip(contexts, rewards, strict=True):
        start = time.perf_counter()
        decision = forest.decide(context)
        forest.learn(context, decision.action, reward[decision.action], propensity=decision.propensity)
        times.append(time.perf_counter() - start)
    return 1e6 * float(np.median(times))


def _import_seconds() -> float:
    def timed(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    return timed("import bandit_forest") - timed("pass")


if __name__ == "__main__":
    main()
