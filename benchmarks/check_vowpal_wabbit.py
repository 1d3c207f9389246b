"""Is Vowpal Wabbit given what we think? Feed it in two independent ways, and compare all its actions.

The bake-off lets its own loop read a file (`--cbify`). Here the first events of every set are also played through its
Python interface, where each action of an event is an example of its own. A second table counts the weights of its
model: as many as there are variables and pairs for each action, unless some of them share one. Run
`python benchmarks/check_vowpal_wabbit.py --data FOLDER`.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from contest.adf import play_adf
from contest.dataset import dataset_sizes
from contest.policies.vowpal_wabbit import N_BITS, play_vowpal_wabbit
from contest.stream import Stream, binary_contexts, make_stream

LINEAR = "--squarecb --gamma_scale 100 -l 0.5"
PAIRS = f"{LINEAR} -q ::"
N_BINS = 5
DEFAULT_BITS = 18
MANY_BITS = 28
"""Enough for hardly any two weights to be the same, so that both ways must do the same: four gigabytes that are
reserved, of which little is used."""
ALL_EQUAL = "all"
BITS = (DEFAULT_BITS, N_BITS, MANY_BITS)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets, as Parquet")
    parser.add_argument("--sets", nargs="+", help="names of sets; all if absent")
    parser.add_argument("--events", type=int, default=1000)
    arguments = parser.parse_args()
    console = Console(width=120)
    actions, weights = _actions_table(arguments.events), _weights_table(arguments.events)
    for name in arguments.sets or sorted(dataset_sizes(arguments.data)):
        for mode in ("clean", "fractional"):
            stream = make_stream(arguments.data, name=name, mode=mode, shuffle=0, n_events=arguments.events)
            actions.add_row(name, mode, *_compare(stream, LINEAR), *_compare(stream, PAIRS))
        weights.add_row(name, *(text for n_bits in BITS for text in _count(stream, n_bits)))
    console.print(actions, weights)
    for column, setting in ((2, LINEAR), (5, PAIRS)):
        shares = list(actions.columns[column].cells)
        console.print(f"{setting}: all actions equal on {shares.count(ALL_EQUAL)} of {len(shares)} streams")


def _actions_table(n_events: int) -> Table:
    table = Table(
        title=f"first {n_events:,} events: equal actions of file and Python interface, average reward of each"
    )
    for column in ("set", "rewards", "linear", "file", "Python", "pairs", "file", "Python"):
        table.add_column(column, justify="left" if column in ("set", "rewards") else "right")
    return table


def _weights_table(n_events: int) -> Table:
    table = Table(title=f"pairs, first {n_events:,} events: weights learned, and weights in its model")
    table.add_column("set")
    for n_bits in BITS:
        table.add_column(f"-b {n_bits}: learned", justify="right")
        table.add_column("in the model", justify="right")
    return table


def _compare(stream: Stream, arguments: str) -> tuple[str, str, str]:
    """Return the share of equal actions, and the average reward of both ways."""
    ways = (
        play_vowpal_wabbit(stream, arguments=arguments, n_bins=N_BINS, n_bits=MANY_BITS).actions,
        play_adf(stream, arguments=arguments, n_bins=N_BINS, n_bits=MANY_BITS),
    )
    events = np.arange(stream.n_events)
    file, python = (f"{stream.rewards[events, actions].mean():.3f}" for actions in ways)
    share = ALL_EQUAL if (ways[0] == ways[1]).all() else f"{(ways[0] == ways[1]).mean():.1%}"
    return share, file, python


def _count(stream: Stream, n_bits: int) -> tuple[str, str]:
    """Return the number of weights that a stream of fractional rewards makes it learn, and that of its model."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "model.txt")
        arguments = f"{PAIRS} --readable_model {model}"
        actions = play_vowpal_wabbit(stream, arguments=arguments, n_bins=N_BINS, n_bits=n_bits).actions
        in_model = len(re.findall(r"^\d+:", model.read_text(), re.MULTILINE))
    return f"{_n_learned(binary_contexts(stream, n_bins=N_BINS), actions):,}", f"{in_model:,}"


def _n_learned(contexts: NDArray[np.uint8], actions: NDArray[np.intp]) -> int:
    """Return the number of different constants, variables and pairs, for each action that was taken with them."""
    constant = contexts.shape[1]
    learned = set()
    for context, action in zip(contexts, actions.tolist(), strict=True):
        variables = np.flatnonzero(context).tolist()
        learned |= {(action, constant, constant)} | {(action, variable, constant) for variable in variables}
        learned |= {(action, *pair) for pair in combinations_with_replacement(variables, 2)}
    return len(learned)


if __name__ == "__main__":
    main()
