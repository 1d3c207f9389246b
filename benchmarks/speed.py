"""Speed and memory of the forests beside Vowpal Wabbit, on the same events in the same run.

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

from bandit_forest.errors import BanditForestError
from bandit_forest.worlds.datasets import load
from contest.policies.vowpal_wabbit import N_BITS
from harness.rivals import ForestKind, Measurement, make_forest, play_forest, play_vowpal_wabbit
from harness.streams import batches, make_world

RIVALS = ("--squarecb", "--squarecb -q ::", f"--squarecb -q :: -b {N_BITS}")
FORESTS = (
    ForestKind(),
    ForestKind(n_threads=2),
    ForestKind(fractions=True),
    ForestKind(n_trees=8),
    ForestKind(n_trees=100, paper=True),
)
FOREST_SIZES = (8, 16, 32, 64)


def main() -> None:
    """Measure, print tables and write the figures to a file."""
    arguments = _arguments()
    console = Console(width=170)
    worlds = ["hidden tree"] + (["covtype"] if _has_covtype(arguments.data, console) else [])
    results: dict[str, Any] = {"events": arguments.events, "python": sys.version.split()[0]}
    for world in worlds:
        stream = world, arguments.data, arguments.events, arguments.seed
        rivals = {f"vw {settings}": _alone(play_vowpal_wabbit, *stream, settings) for settings in RIVALS}
        forests = {kind.label: _alone(play_forest, *stream, kind) for kind in FORESTS}
        console.print(_rival_table(world, arguments.events, forests, rivals))
        results[world] = {name: one._asdict() for name, one in (forests | rivals).items()}
    quarter = worlds[-1], arguments.data, arguments.events // 4, arguments.seed
    sizes = {n_trees: _alone(play_forest, *quarter, ForestKind(n_trees=n_trees)) for n_trees in FOREST_SIZES}
    console.print(_size_table(worlds[-1], arguments.events // 4, sizes))
    single = _alone(_call_microseconds, *quarter)
    for name, (median, rare, longest) in single.items():
        console.print(
            f"one {name} from Python after {arguments.events // 4:,} events: median {median:.1f} µs, "
            f"99.99th percentile {rare:.0f} µs, longest {longest:.0f} µs"
        )
    imported = min(_import_seconds() for _ in range(5))
    console.print(f"import bandit_forest: {1000 * imported:.0f} ms more than an empty interpreter")
    results |= {
        "sizes": {str(n_trees): size._asdict() for n_trees, size in sizes.items()},
        "call_microseconds": single,
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


def _rival_table(world: str, n_events: int, forests: dict[str, Measurement], rivals: dict[str, Measurement]) -> Table:
    table = Table(title=f"{world}, first {n_events:,} events")
    ratios = [f"ratio to {name}" for name in rivals]
    for column in ("policy", "events/s", *ratios, "average reward", "bytes per tree", "peak MB"):
        table.add_column(column, justify="left" if column == "policy" else "right")
    for name, measured in (forests | rivals).items():
        table.add_row(
            name,
            f"{n_events / measured.seconds:,.0f}",
            *(f"{rival.seconds / measured.seconds:.2f}" for rival in rivals.values()),
            f"{measured.average_reward:.4f}",
            "" if measured.bytes_per_tree is None else f"{measured.bytes_per_tree:,.0f}",
            f"{measured.peak_megabytes:,.0f}",
        )
    name, first = next(iter(forests.items()))
    tenths = " ".join(f"{n_events / 10 / seconds / 1000:.0f}" for seconds in first.window_seconds)
    table.caption = f"{name}, by tenths of the stream, thousand events/s: {tenths}"
    return table


def _size_table(world: str, n_events: int, sizes: dict[int, Measurement]) -> Table:
    table = Table(title=f"cost by number of trees: {world}, first {n_events:,} events")
    for column in ("trees", "events/s", "µs per event", "ns per event and tree"):
        table.add_column(column, justify="right")
    for n_trees, measured in sizes.items():
        cost = measured.seconds / n_events
        table.add_row(str(n_trees), f"{1 / cost:,.0f}", f"{1e6 * cost:.1f}", f"{1e9 * cost / n_trees:.0f}")
    return table


def _call_microseconds(world: str, data: str | None, n_events: int, seed: int) -> dict[str, list[float]]:
    """Return median, 99.99th percentile and maximum of the time of single calls while trees are renewed."""
    forest = make_forest(make_world(world, data), seed, ForestKind())
    *stream, last = batches(world, data, n_events, seed)
    for batch in stream:
        forest.play(batch.contexts, batch.rewards)
    times: dict[str, list[float]] = {"decide": [], "learn": []}
    for context, reward in zip(last.contexts, last.rewards, strict=True):
        start = time.perf_counter()
        decision = forest.decide(context)
        decided = time.perf_counter()
        forest.learn(context, decision.action, reward[decision.action], propensity=decision.propensity)
        times["decide"].append(decided - start)
        times["learn"].append(time.perf_counter() - decided)
    return {name: (1e6 * np.percentile(values, (50, 99.99, 100))).tolist() for name, values in times.items()}


def _import_seconds() -> float:
    def timed(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    return timed("import bandit_forest") - timed("pass")


if __name__ == "__main__":
    main()
