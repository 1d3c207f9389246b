"""The bake-off's sets with classes as offered actions, whose only feature is the class: pairs beside fixed actions.

Run `python benchmarks/actions_classes.py --data FOLDER`. With `--half choosing` the other half of the sets is played,
with `--parts` each part of both forests alone.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest import Greedy, PairForest
from bandit_forest.encoding import ContextEncoder
from contest.game import Game
from contest.policies.forest import play_default
from contest.split import SPLIT
from contest.stream import Stream, make_stream

Play = Callable[[Stream], Game]

_NO_SPLIT = 2**24  # events that a node never has
_MANY_CLASSES = 6


def main() -> None:
    """Print the average reward of both forests on each set, and means over the sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets, as Parquet")
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--mode", default="clean")
    parser.add_argument("--half", choices=SPLIT._fields, default="reporting")
    parser.add_argument("--parts", action="store_true", help="play each part of both forests alone too")
    arguments = parser.parse_args()
    players = {"fixed actions": play_default, "pairs": play_pairs} | (parts() if arguments.parts else {})
    print(f"| set | classes | events | {' | '.join(players)} |\n|{'---|' * (3 + len(players))}")
    rows, n_classes = [], []
    for name in getattr(SPLIT, arguments.half):
        stream = make_stream(arguments.data, name=name, mode=arguments.mode, shuffle=0, n_events=arguments.events)
        rows.append([_windows_of(stream, play(stream)) for play in players.values()])
        n_classes.append(stream.n_actions)
        print(f"| {name} | {stream.n_actions} | {stream.n_events:,} | {_shown(np.array(rows[-1])[:, 0])} |", flush=True)
    many = np.array(n_classes) >= _MANY_CLASSES
    for label, chosen in (("all sets", many | True), ("up to 5 classes", ~many), ("6 classes and more", many)):
        means = np.array(rows)[chosen].mean(axis=0)
        for part, window in enumerate(("", ", first 1,000 events", ", last fifth")):
            print(f"| {label}{window} | | {chosen.sum()} sets | {_shown(means[:, part])} |")


def parts() -> dict[str, Play]:
    """Return players with trees or line alone, and with or without a forest of named actions."""
    growth_of_pairs = PairForest(n_context_variables=1, n_action_variables=1).parameters["growth"]
    players: dict[str, Play] = {"pairs, no named actions": partial(play_pairs, n_named_actions=0)}
    for part, changes in (("trees", {"linear": False}), ("line", {"min_events": _NO_SPLIT})):
        pair_growth = replace(growth_of_pairs, **changes)
        players[f"fixed actions, {part}"] = partial(play_default, growth=replace(Greedy(), **changes))
        players[f"pairs, {part}"] = partial(play_pairs, growth=pair_growth)
        players[f"pairs, no named actions, {part}"] = partial(play_pairs, growth=pair_growth, n_named_actions=0)
    return players


def play_pairs(stream: Stream, **parameters: Any) -> Game:
    """Play the forest over pairs: a class is an action with one binary variable of its own, and a name."""
    encoder = ContextEncoder()
    contexts = encoder.fit_transform(stream.columns)
    forest = PairForest(
        n_context_variables=encoder.n_variables,
        n_action_variables=stream.n_actions,
        thresholds=encoder.thresholds,
        seed=stream.shuffle,
        **parameters,
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


def _windows_of(stream: Stream, game: Game) -> list[float]:
    """Return the average reward of all events, of the first 1,000, and of the last fifth, in per cent."""
    rewards = 100.0 * stream.rewards[np.arange(stream.n_events), game.actions]
    windows = rewards, rewards[:1000], rewards[-(-4 * stream.n_events // 5) :]
    return [float(window.mean()) for window in windows]


def _shown(numbers: NDArray[np.float64]) -> str:
    return " | ".join(f"{number:.1f}" for number in numbers)


if __name__ == "__main__":
    main()
