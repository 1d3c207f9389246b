"""How a forest recovers when its world becomes another, with and without a lifetime of its trees.

Run it with `python benchmarks/drift.py`: the share of the best possible reward, by 25,000 events.
"""

from __future__ import annotations

import numpy as np
from rich.console import Console

from bandit_forest import BanditForest, Greedy
from bandit_forest.worlds import Drifting, HiddenTree

N_EVENTS, CHANGE_AT, WINDOW = 350_000, 150_000, 25_000


def main() -> None:
    """Play a sudden and a gradual change, and print a line for each lifetime."""
    console = Console(highlight=False, width=150)
    before, after = HiddenTree(structure_seed=0), HiddenTree(structure_seed=1)
    for change_over in (1, 100_000):
        world = Drifting(before=before, after=after, change_at=CHANGE_AT, change_over=change_over)
        console.print(f"a change with event {CHANGE_AT:,}, over {change_over:,} events")
        for lifetime in (None, 100_000, 50_000, 20_000):
            console.print(f"lifetime {lifetime}: {' '.join(f'{share:.1%}' for share in _shares(world, lifetime))}")


def _shares(world: Drifting, lifetime: int | None) -> list[float]:
    growth = Greedy(lifetime=lifetime)
    forest = BanditForest(n_variables=world.n_variables, n_actions=world.n_actions, growth=growth, seed=1)
    shares = []
    for batch in world.batches(N_EVENTS, seed=1, batch_size=WINDOW):
        played = forest.play(batch.contexts, batch.rewards)
        scored = batch.scored_rewards[np.arange(len(played.actions)), played.actions]
        shares.append(float(scored.sum() / batch.comparator_rewards.sum()))
    return shares


if __name__ == "__main__":
    main()
