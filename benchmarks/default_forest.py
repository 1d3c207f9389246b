"""What the default forest earns, and LinUCB beside it: synthetic worlds, and Cover Type where its file is found.

Run it with `python benchmarks/default_forest.py --data FOLDER`.
"""

from __future__ import annotations

import argparse
import statistics
import time

from rich.console import Console
from rich.table import Table

from bandit_forest import BanditForest
from bandit_forest.baselines import LinUCB
from bandit_forest.errors import BanditForestError
from bandit_forest.policy import Policy
from bandit_forest.simulation import simulate
from bandit_forest.worlds import HiddenTree, Linear, World, Xor
from bandit_forest.worlds.datasets import load

LAST = 100_000


def main() -> None:
    """Play each world with the defaults, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000, help="events of Cover Type")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", help="folder of covtype.data.gz; Cover Type is left out where it is not found")
    arguments = parser.parse_args()
    console = Console(width=140)
    table = Table(title=f"BanditForest with its defaults, seed {arguments.seed}")
    for column in (
        "world",
        "events",
        "average reward",
        "last 100,000",
        "best decisions",
        "decide, µs",
        "MB",
        "LinUCB",
        "last",
        "best",
    ):
        table.add_column(column, justify="left" if column == "world" else "right")
    worlds: list[tuple[str, World, int]] = [
        ("hidden tree, 3 of 100 variables", HiddenTree(), 200_000),
        ("exclusive or, 2 of 50", Xor(n_variables=50), 200_000),
        ("linear, 5 of 50", Linear(n_variables=50, n_relevant=5, n_actions=5), 200_000),
        ("linear, 50 of 50", Linear(n_variables=50, n_relevant=50, n_actions=5), 200_000),
    ]
    try:
        worlds.append(("Cover Type", load("covtype", arguments.data).world(), arguments.events))
    except BanditForestError as error:
        console.print(f"Cover Type is left out: {error}")
    for name, world, n_events in worlds:
        table.add_row(name, *_measure(world, n_events, arguments.seed))
    console.print(table)


def _measure(world: World, n_events: int, seed: int) -> list[str]:
    forest = BanditForest(n_variables=world.n_variables, n_actions=world.n_actions, seed=seed)
    rival = LinUCB(n_variables=world.n_variables, n_actions=world.n_actions)
    played, by_rival = (_play(policy, world, n_events, seed) for policy in (forest, rival))
    microseconds = _decide_microseconds(forest, world, seed)
    return [f"{n_events:,}", *played, f"{microseconds:.1f}", f"{forest.n_bytes / 1e6:,.0f}", *by_rival]


def _decide_microseconds(forest: BanditForest, world: World, seed: int) -> float:
    """Return the time of one decision from Python: the median over events that the forest has not met."""
    taken = []
    for context in next(world.batches(LAST // 10, seed=seed + 1, batch_size=LAST // 10)).contexts:
        start = time.perf_counter()
        forest.decide(context)
        taken.append(time.perf_counter() - start)
    return 1e6 * statistics.median(taken)


def _play(policy: Policy, world: World, n_events: int, seed: int) -> list[str]:
    """Return the average reward of all and of the last events, and the share of the best decisions."""
    before, end = simulate(policy, world, n_events=n_events, seed=seed, rows=[n_events - LAST, n_events])
    last = (end.average_reward * n_events - before.average_reward * (n_events - LAST)) / LAST
    return [f"{end.average_reward:.4f}", f"{last:.4f}", f"{end.optimal_share:.1%}"]


if __name__ == "__main__":
    main()
