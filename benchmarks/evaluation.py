"""Speed and memory of `evaluate` on one core: a log of one million events, three policies, all estimators.

    OPENBLAS_NUM_THREADS=1 python benchmarks/evaluation.py

Seconds are those of the processor, so that other processes do not count. Memory is the peak of the whole process, with
the log. Batch reads are compared with a loop over single calls.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest import BanditForest
from bandit_forest.evaluation import Log, always, as_it_stands, evaluate, uniform

N_VARIABLES, N_ACTIONS = 94, 7
N_LEARNED, N_READ = 20_000, 5_000


def make_log(n_events: int, *, seed: int) -> Log:
    """Return the log of a policy that explores, in a world where a few variables matter."""
    rng = np.random.default_rng(seed)
    contexts = rng.integers(0, 2, (n_events, N_VARIABLES), dtype=np.uint8)
    worth = contexts[:, :6] @ np.random.default_rng(0).normal(size=(6, N_ACTIONS))  # the same world for every seed
    chances = np.exp(worth - worth.max(axis=1, keepdims=True))
    probabilities = 0.8 * chances / chances.sum(axis=1, keepdims=True) + 0.2 / N_ACTIONS
    drawn = (probabilities.cumsum(axis=1) < rng.random((n_events, 1))).sum(axis=1)
    actions = np.minimum(drawn, N_ACTIONS - 1)
    rows = np.arange(n_events)
    rewards = (rng.random(n_events) < 1 / (1 + np.exp(-worth[rows, actions]))).astype(np.float64)
    return Log(
        actions=actions,
        rewards=rewards,
        propensities=probabilities[rows, actions],
        contexts=contexts,
        action_names=N_ACTIONS,
    )


def map_rows(read: Callable[[Any], object], contexts: NDArray[np.uint8]) -> list[object]:
    """Return what single calls read."""
    return [read(row) for row in contexts]


def seconds_of(call: Callable[[], object]) -> float:
    """Return the processor's seconds of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--trees", type=int, default=32, help="of the forest that is evaluated")
    options = parser.parse_args()
    log = make_log(options.events, seed=2)
    forest = BanditForest(n_variables=N_VARIABLES, n_actions=N_ACTIONS, n_trees=options.trees)
    part = make_log(N_LEARNED, seed=1)
    forest.learn_many(part.contexts, part.actions, part.rewards, propensities=part.propensities)

    contexts = part.encoded(None)[:N_READ]
    for name in ("mean_rewards", "propensities"):
        apart = seconds_of(partial(map_rows, getattr(forest, name), contexts))
        together = seconds_of(partial(getattr(forest, f"{name}_many"), contexts))
        print(
            f"{name}_many: {N_READ / together:,.0f} contexts/s, {apart / together:.1f} times the rate of single calls"
        )

    policies = [as_it_stands(forest, name="new"), always(0), uniform()]
    seconds = seconds_of(lambda: print(evaluate(log, policies).verdict("new")))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{options.events:,} events, {N_VARIABLES} variables, {N_ACTIONS} actions: {seconds:.1f} s, {peak:.2f} GB")


if __name__ == "__main__":
    main()
