"""A stream that does not end: memory under a small bound, and learning that goes on, over fifty million events.

The world becomes another one half-way, so that a forest that has stopped learning would show it. Run it with
`python benchmarks/endless.py`; it prints a line for each twentieth of the stream.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from rich.console import Console

from bandit_forest import BanditForest, Greedy
from bandit_forest.worlds import Drifting, HiddenTree


def main() -> None:
    """Play, and print reward and memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=50_000_000)
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--nodes", type=int, default=2**12, help="most nodes of a tree")
    parser.add_argument("--log", type=int, default=2**16, help="events that are remembered")
    parser.add_argument("--lifetime", type=int, default=2_000_000, help="events after which a tree is replaced")
    options = parser.parse_args()
    console = Console(highlight=False)
    before, after = (HiddenTree(n_variables=20, n_actions=4, depth=4, structure_seed=seed) for seed in (0, 1))
    world = Drifting(before=before, after=after, change_at=options.events // 2)
    forest = BanditForest(
        n_variables=20,
        n_actions=4,
        n_trees=options.trees,
        max_nodes=options.nodes,
        growth=Greedy(log_capacity=options.log, lifetime=options.lifetime),
    )
    step, window, seconds, most = options.events // 20, np.zeros(2), 0.0, 0
    for number, batch in enumerate(world.batches(options.events, seed=1, batch_size=step // 20), start=1):
        start = time.perf_counter()
        played = forest.play(batch.contexts, batch.rewards)
        seconds += time.perf_counter() - start
        scored = batch.scored_rewards[np.arange(len(played.actions)), played.actions]
        window += scored.sum(), batch.comparator_rewards.sum()
        most = max(most, forest.n_bytes)
        if number % 20 == 0:
            console.print(
                f"{forest.n_events:>12,} events: {window[0] / window[1]:.1%} of the optimum, "
                f"{forest.n_nodes / forest.n_trees:,.0f} nodes a tree, at most {most / 1e6:.1f} MB, "
                f"{forest.n_events / seconds:,.0f} events/s"
            )
            window[:] = 0.0


if __name__ == "__main__":
    main()
