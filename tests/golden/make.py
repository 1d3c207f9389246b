"""Writes the golden files of the current format version: run once for each format, never again."""

from pathlib import Path

import numpy as np

from bandit_forest import BanditForest, Elimination, Greedy, archive
from bandit_forest.rules import UniformOverRemaining

FOLDER = Path(__file__).parent
NAME = f"format-{archive.FORMAT_VERSION}"


def stream(n_events: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the events of tests/forest/test_archive.py."""
    rng = np.random.default_rng(seed)
    contexts = rng.integers(0, 2, (n_events, 20), dtype=np.uint8)
    means = np.full((n_events, 3), 0.1)
    means[np.arange(n_events), contexts[:, 3] + contexts[:, 7]] = 0.9
    return contexts, (rng.random(means.shape) < means).astype(float)


ELIMINATION = BanditForest(
    n_variables=20,
    n_actions=3,
    n_trees=5,
    max_depth=(1, 3),
    growth=Elimination(delta=0.5, tolerance=(0.4, 0.8), remaining_actions="path", estimate="weights", test_interval=8),
    exploration=UniformOverRemaining(draw="tree", quorum=0.5),
    seed=11,
)
GREEDY = BanditForest(n_variables=20, n_actions=3, n_trees=3, growth=Greedy(log_capacity=2**10), seed=11)

for name, forest, n_events in ((NAME, ELIMINATION, 5000), (f"{NAME}-greedy", GREEDY, 1500)):
    if not (FOLDER / f"{name}.bf").exists():
        forest.play(*stream(n_events, seed=0))
        forest.save(FOLDER / f"{name}.bf")
        played = forest.play(*stream(200, seed=2))
        np.savez(FOLDER / f"{name}-continued.npz", actions=played.actions, propensities=played.propensities)
