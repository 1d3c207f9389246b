"""Vowpal Wabbit: its own loop over a file of events, with features named by texts."""

from __future__ import annotations

import tempfile
import time
from functools import lru_cache, partial
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contest.game import Contestant, Game
from contest.stream import Stream, binary_contexts

__all__ = ["FIVE_BINS", "N_BITS", "TWENTY_BINS", "events_text", "play_vowpal_wabbit", "settings"]

N_BITS = 24
"""Bits of its table of weights. Its default of 18 is too small for pairs of variables: `--cbify` gives the low bits of
a hash to the actions, so that many pairs share a weight (`python benchmarks/check_vowpal_wabbit.py`)."""
PAIRS = ("", " -q ::")
GREEDINESS = (10, 100, 1000, 10_000)
RATES = (0.1, 0.5, 2)
OTHERS = (
    "--squarecb --gamma_scale 100 -l 0.5 --loss0 -1 --loss1 0",
    "--regcbopt --mellowness 0.01 -l 0.5",
    "--epsilon 0.05 -l 0.5",
    "--bag 5 -l 0.5",
)


def settings() -> list[str]:
    """Return the arguments of all settings of the grid."""
    square = [
        f"--squarecb --gamma_scale {scale} -l {rate}{pairs}" for scale, rate, pairs in product(GREEDINESS, RATES, PAIRS)
    ]
    return square + [f"{other}{pairs}" for other, pairs in product(OTHERS, PAIRS)]


def play_vowpal_wabbit(stream: Stream, *, arguments: str, n_bins: int, n_bits: int = N_BITS) -> Game:
    """Play Vowpal Wabbit; the time includes that of reading its file.

    The actions are those that it writes itself, one per event. The file tells the cost of every action, and `--cbify`
    shows its learner the cost of the one that it took.
    """
    from vowpalwabbit import Workspace

    with tempfile.TemporaryDirectory() as folder:
        events, actions = Path(folder, "events.txt"), Path(folder, "actions.txt")
        events.write_text(events_text(stream, n_bins=n_bins))
        start = time.perf_counter()
        Workspace(
            f"--cbify {stream.n_actions} --cbify_cs --cb_explore_adf {arguments} -b {n_bits} --quiet"
            f" -d {events} -p {actions}"
        ).finish()
        seconds = time.perf_counter() - start
        return Game(_read_actions(actions), seconds)


@lru_cache(maxsize=2)
def events_text(stream: Stream, *, n_bins: int) -> str:
    """Return a stream in Vowpal Wabbit's format: the cost of each action, then the names of the variables that are 1.

    Names are texts. Whole numbers would be taken as hashes, whose low bits `--cbify` needs for the actions.
    """
    contexts = binary_contexts(stream, n_bins=n_bins)
    names = np.array([f"f{variable}" for variable in range(contexts.shape[1])])
    costs = (1.0 - stream.rewards).tolist()
    return "".join(
        f"{' '.join(f'{action}:{cost:g}' for action, cost in enumerate(row, 1))} | {' '.join(names[context == 1])}\n"
        for row, context in zip(costs, contexts, strict=True)
    )


def _read_actions(path: Path) -> NDArray[np.intp]:
    return np.array(path.read_text().split(), dtype=np.intp) - 1


def _contestants(policy: str, n_bins: int) -> tuple[Contestant, ...]:
    return tuple(
        Contestant(policy, arguments, partial(play_vowpal_wabbit, arguments=arguments, n_bins=n_bins))
        for arguments in settings()
    )


FIVE_BINS = _contestants("vw5", 5)
TWENTY_BINS = _contestants("vw20", 20)
