"""An evaluation over many logs, in processes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bandit_forest.distributed.local import Local
from bandit_forest.distributed.mapping import map_over
from bandit_forest.evaluation import Log, evaluate, uniform
from bandit_forest.evaluation.opening import open_log
from bandit_forest.evaluation.writers import write_vw


def write_log(path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    contexts, actions = rng.integers(0, 2, (500, 4), dtype=np.uint8), rng.integers(0, 2, 500)
    rewards = (rng.random(500) < 0.3 + 0.4 * (contexts[:, 0] == actions)).astype(float)
    log = Log(actions=actions, rewards=rewards, propensities=np.full(500, 0.5), contexts=contexts, action_names=2)
    write_vw(log, path)


def value_of_uniform_play(path: Path) -> float:
    return evaluate(open_log(path), [uniform()]).estimate("uniform").value


def test_logs_are_evaluated_side_by_side_with_the_same_result(tmp_path: Path):
    paths = [tmp_path / f"log-{seed}.vw" for seed in range(3)]
    for seed, path in enumerate(paths):
        write_log(path, seed)
    assert map_over(value_of_uniform_play, paths, launcher=Local(2)) == [value_of_uniform_play(path) for path in paths]
