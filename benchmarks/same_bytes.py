"""One forest, learned in four ways from the same log.

One process; shards in processes; shards on a Ray cluster; and on Ray while a worker and then a node are killed with
SIGKILL. Prints one SHA-256 for each, and fails unless they are equal.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bandit_forest import BanditForest
from bandit_forest.distributed.learning import learn_in_shards
from bandit_forest.distributed.local import Local
from bandit_forest.distributed.on_ray import Ray
from bandit_forest.distributed.shards import Lessons
from bandit_forest.worlds import HiddenTree
from bandit_forest.worlds.datasets import load

NODES = 3


def main() -> None:
    """Learn the log in all ways and compare."""
    arguments = _arguments()
    lessons = _lessons(arguments.events, arguments.data)
    start = BanditForest(n_variables=lessons.contexts.shape[1], n_actions=7, n_trees=arguments.trees, seed=1)

    def in_shards(launcher: Any) -> BanditForest:
        return learn_in_shards(start, lessons, launcher=launcher, n_shards=arguments.shards)

    digests = [
        _timed("one process", lambda: _alone(start, lessons)),
        _timed(f"Local(2), {arguments.shards} shards", lambda: in_shards(Local(2))),
        *_on_ray(in_shards),
    ]
    assert len(set(digests)) == 1, "the forests differ"
    print(f"One forest of {arguments.trees} trees from {arguments.events:,} events in {len(digests)} ways.")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--trees", type=int, default=40)
    parser.add_argument("--shards", type=int, default=10)
    parser.add_argument("--data", type=Path, help="Folder with Cover Type; a synthetic world when not given.")
    return parser.parse_args()


def _lessons(n_events: int, data: Path | None) -> Lessons:
    """Return logged events of a policy that draws uniformly."""
    world = HiddenTree(n_variables=50, n_actions=7) if data is None else load("covtype", data).world()
    batches = list(world.batches(n_events, seed=0))
    contexts = np.concatenate([batch.contexts for batch in batches])
    rewards = np.concatenate([batch.rewards for batch in batches])
    actions = np.random.default_rng(0).integers(0, 7, n_events)
    return Lessons(contexts, actions, np.ascontiguousarray(rewards[np.arange(n_events), actions], dtype=np.float64))


def _alone(start: BanditForest, lessons: Lessons) -> BanditForest:
    forest: BanditForest = pickle.loads(pickle.dumps(start))
    forest.learn_many(*lessons, propensities=np.full(len(lessons.rewards), 1 / 7))
    return forest


def _timed(name: str, learn: Callable[[], BanditForest]) -> str:
    began = time.perf_counter()
    forest = learn()
    seconds = time.perf_counter() - began
    digest = hashlib.sha256(pickle.dumps(forest)).hexdigest()
    print(f"{digest}  {name}, {seconds:.1f} s", flush=True)
    return digest


def _on_ray(in_shards: Callable[[Ray], BanditForest]) -> list[str]:
    """Return the digests on a cluster of three nodes: left in peace, and with a worker and then a node killed."""
    import ray
    from ray.cluster_utils import Cluster

    memory = 512 * 2**20
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": memory})
    nodes = [cluster.add_node(num_cpus=1, object_store_memory=memory) for _ in range(NODES - 1)]
    try:
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        launcher = Ray()
        in_peace = _timed(f"Ray, {NODES} nodes", lambda: in_shards(launcher))
        killer = threading.Thread(target=_kill, args=(nodes[0],))
        killer.start()
        killed = _timed("Ray, a worker and a node killed", lambda: in_shards(launcher))
        killer.join()
        return [in_peace, killed]
    finally:
        ray.shutdown()
        cluster.shutdown()


def _kill(node: Any) -> None:
    """Kill the first worker that trains on a node, then the node itself as soon as it trains again."""
    for what in ("worker", "node"):
        worker = _training_worker(node)
        raylet = node.all_processes["raylet"][0].process.pid
        os.kill(worker if what == "worker" else raylet, signal.SIGKILL)
        print(f"killed a {what}", flush=True)


def _training_worker(node: Any) -> int:
    """Wait for a process of a node that trains a shard, and return its number."""
    raylet = node.all_processes["raylet"][0].process.pid
    deadline = time.monotonic() + 120.0
    while time.monotonic() < deadline:
        for process in Path("/proc").glob("[0-9]*"):
            try:
                name = (process / "cmdline").read_bytes()
                parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if name.startswith(b"ray::_work") and int(parent) == raylet:
                return int(process.name)
        time.sleep(0.02)
    raise TimeoutError("No worker of the node trains a shard.")


if __name__ == "__main__":
    main()
