"""Trees on several machines play as one forest does, also when one of them comes back from a failure."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from copy import copy
from pathlib import Path

import numpy as np
import pytest

from bandit_forest import BanditForest, Greedy
from bandit_forest.distributed.simulation import LocalShards, OutOfPlaceError, Shard, ShardedSimulation
from random_world import world

PARAMETERS = {"n_variables": 9, "n_actions": 4, "n_trees": 12, "seed": 3}


def batches(n_batches=20, size=100):
    contexts, rewards = world(PARAMETERS, n_events=n_batches * size, fractional=False, seed=1)
    return [(contexts[at : at + size], rewards[at : at + size]) for at in range(0, n_batches * size, size)]


def alone(forest, played):
    """Play batches with one forest."""
    chosen = []
    for contexts, rewards in played:
        decided = forest.decide_many(contexts)
        earned = rewards[np.arange(len(contexts)), decided.actions]
        forest.learn_many(contexts, decided.actions, earned, propensities=decided.propensities)
        chosen.append(decided)
    return chosen


@pytest.mark.core
@pytest.mark.parametrize("linear", [True, False])
def test_shards_play_as_one_forest_does(linear):
    forest = BanditForest(**PARAMETERS, growth=Greedy(linear=linear))
    one = copy(forest)
    simulation = ShardedSimulation(forest, LocalShards(forest, 2))
    for (contexts, rewards), decided in zip(batches(), alone(one, batches()), strict=True):
        played = simulation.play(contexts, rewards)
        np.testing.assert_array_equal(played.actions, decided.actions)
        np.testing.assert_array_equal(played.propensities, decided.propensities)
    assert simulation.forest().__getstate__() == one.__getstate__()


def test_a_shard_that_came_back_is_refused_and_taught():
    forest = BanditForest(**PARAMETERS)
    one, shards = copy(forest), LocalShards(forest, 2)
    alone(one, batches())
    simulation = ShardedSimulation(forest, shards)
    for number, (contexts, rewards) in enumerate(batches()):
        if number in (5, 12):
            shards.shards[1] = Shard(forest, range(1, 3))
        simulation.play(contexts, rewards)
    assert simulation.forest().__getstate__() == one.__getstate__()


def test_a_message_for_another_moment_is_refused():
    forest = BanditForest(**PARAMETERS)
    with pytest.raises(OutOfPlaceError, match="A message for position 7 came to a shard at 0"):
        Shard(forest, range(0, 1)).estimate(7, np.zeros((1, 9), dtype=np.uint8))


ON_RAY = """
import os, signal
from copy import copy
import numpy as np, ray
from bandit_forest import BanditForest
from bandit_forest.distributed.simulation import RayShards, ShardedSimulation
from test_sharded_simulation import PARAMETERS, alone, batches

ray.init(address="local", num_cpus=2, log_to_driver=False, logging_level="ERROR")
forest = BanditForest(**PARAMETERS)
one, shards = copy(forest), RayShards(forest, 2)
simulation = ShardedSimulation(forest, shards)
for number, (contexts, rewards) in enumerate(batches()):
    if number == 7:
        ray.kill(shards.shards[1], no_restart=False)
    simulation.play(contexts, rewards)
alone(one, batches())
print("same" if simulation.forest().__getstate__() == one.__getstate__() else "different")
"""


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")
def test_an_actor_that_is_killed_comes_back_and_is_taught():
    here = Path(__file__).parent
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (here, here.parent)))}
    command = [sys.executable, "-c", ON_RAY]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert ended.stdout.split() == ["same"], ended.stderr
