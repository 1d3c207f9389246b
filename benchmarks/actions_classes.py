"""The bake-off's sets with classes as offered actions, whose only feature is the class: pairs beside fixed actions.

Run `python benchmarks/actions_classes.py --data FOLDER`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from bandit_forest import PairForest
from bandit_forest.encoding import ContextEncoder
from contest.game import Game
from contest.policies.forest import play_default
from contest.split import SPLIT
from contest.stream import Stream, make_stream


def main() -> None:
    """Print the average reward of both forests on each set, and their means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets, as Parquet")
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--mode", default="clean")
    arguments = parser.parse_args()
    print("| set | classes | events | fixed actions | pairs |\n|---|---|---|---|---|")
    means = []
    for name in SPLIT.reporting:
        stream = make_stream(arguments.data, name=name, mode=arguments.mode, shuffle=0, n_events=arguments.events)
        means.append([_mean(stream, play(stream)) for play in (play_default, play_pairs)])
        fixed, pairs = means[-1]
        print(f"| {name} | {stream.n_actions} | {stream.n_events:,} | {fixed:.1f} | {pairs:.1f} |", flush=True)
    fixed, pairs = np.mean(means, axis=0)
    print(f"| mean | | | {fixed:.1f} | {pairs:.1f} |")


def play_pairs(stream: Stream) -> Game:
    """Play the forest over pairs: a class is an action with one binary variable of its own, and a name."""
    encoder = ContextEncoder()
    contexts = encoder.fit_transform(stream.columns)
    forest = PairForest(
        n_context_variables=encoder.n_variables,
        n_action_variables=stream.n_actions,
        thresholds=encoder.thresholds,
        seed=stream.shuffle,
    )
    classes, names = np.eye(stream.n_actions, dtype=np.uint8), np.arange(stream.n_actions, dtype=np.uint64)
    actions = np.empty(stream.n_events, dtype=np.intp)
    start = time.perf_counter()
    for event, context in enumerate(contexts):
        decision = forest.decide(context, classes, names=names)
        taken = [decision.action]
        reward = stream.rewards[event, taken]
        forest.learn_many(
            context[np.newaxis], classes[taken], reward, propensities=[decision.propensity], names=names[taken]
        )
        actions[event] = decision.action
    return Game(actions, time.perf_counter() - start)


def _mean(stream: Stream, game: Game) -> float:
    return 100.0 * float(stream.rewards[np.arange(stream.n_events), game.actions].mean())


if __name__ == "__main__":
    main()
