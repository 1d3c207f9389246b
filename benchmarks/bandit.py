"""Cost of `Bandit` beside the forest inside it: a decision of a dict, and a frame that is learned.

    python benchmarks/bandit.py

The frame has 15 features of mixed kinds, some values missing, and 12 actions. The same events
are learned in turns, by a `Bandit` from the frame and by its forest from the encoded array; the best of several rounds
counts.
"""

from __future__ import annotations

import argparse
import copy
import statistics
import time
from typing import Any

import numpy as np
import pandas as pd

from bandit_forest import Bandit
from bandit_forest.bandit.features.tables import checked_columns, read_table

ACTIONS = [f"offer {letter}" for letter in "abcdefghijkl"]
REWARD_RANGE = (0.0, 250.0)


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    events = make_frame(arguments.events, arguments.seed)
    bandit = Bandit(actions=ACTIONS, reward_range=REWARD_RANGE, capacity=len(ACTIONS))
    bandit.learn_many(events, "action", "revenue", propensities="propensity")
    microseconds = decide_microseconds(bandit, events)
    print(f"Bandit.decide of a dict of 15 features, {bandit.version:,} events learned: {microseconds:.1f} µs")
    rates = learning_rates(bandit, make_frame(arguments.events, arguments.seed + 1), arguments.rounds)
    print(f"Bandit.learn_many of a frame: {rates['frame']:,.0f} events per second of processor time")
    print(f"BanditForest.learn_many of the encoded array: {rates['array']:,.0f} events per second of processor time")
    print(f"ratio: {rates['frame'] / rates['array']:.2f}")


def make_frame(n_events: int, seed: int) -> pd.DataFrame:
    """Return logged events of a uniform policy."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {f"number {name}": rng.normal(size=n_events).round(3) for name in range(6)}
    columns |= {f"flag {name}": rng.random(n_events) < 0.5 for name in range(4)}
    columns |= {f"text {name}": rng.choice([f"value {n}" for n in range(8)], n_events) for name in range(4)}
    columns["age"] = np.where(rng.random(n_events) < 0.1, np.nan, rng.integers(18, 90, n_events))
    frame = pd.DataFrame(columns)
    frame["action"] = rng.choice(ACTIONS, n_events)
    is_liked = frame["action"] == np.where(frame["flag 0"], ACTIONS[0], ACTIONS[1])
    frame["revenue"] = np.where(is_liked, rng.uniform(50, 250, n_events), rng.uniform(0, 20, n_events)).round(2)
    frame["propensity"] = 1 / len(ACTIONS)
    return frame


def decide_microseconds(bandit: Bandit, events: pd.DataFrame, n_decisions: int = 5000) -> float:
    """Return the median time of a decision."""
    features = events.drop(columns=["action", "revenue", "propensity"]).head(n_decisions)
    contexts = features.astype(object).where(features.notna(), None).to_dict("records")
    times = []
    for context in contexts:
        start = time.perf_counter()
        bandit.decide(context)
        times.append(time.perf_counter() - start)
    return 1e6 * statistics.median(times)


def learning_rates(bandit: Bandit, events: pd.DataFrame, n_rounds: int) -> dict[str, float]:
    """Return events per second of processor time, by what is learned: the frame, or the encoded array."""
    table = read_table(events, "benchmark").without(["action", "revenue", "propensity"])
    matrix = bandit.model.schema.encode_many(checked_columns(bandit.model.schema, table))
    indices = np.array([bandit.registry.indices[name] for name in events["action"]])
    rewards, propensities = events["revenue"].to_numpy() / REWARD_RANGE[1], events["propensity"].to_numpy()
    best = {"frame": 0.0, "array": 0.0}
    for _ in range(n_rounds):
        one, forest = copy.deepcopy(bandit), copy.deepcopy(bandit.forest("benchmark"))
        start = time.process_time()
        one.learn_many(events, "action", "revenue", propensities="propensity")
        middle = time.process_time()
        forest.learn_many(matrix, indices, rewards, propensities=propensities)
        end = time.process_time()
        best["frame"] = max(best["frame"], len(events) / (middle - start))
        best["array"] = max(best["array"], len(events) / (end - middle))
    return best


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=20_000, help="events that are learned before and while measuring")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, of which the best counts")
    parser.add_argument("--seed", type=int, default=0, help="of the events")
    return parser.parse_args()


if __name__ == "__main__":
    main()
