"""A second way to feed Vowpal Wabbit, which shares nothing with the first: its Python interface, event by event.

Here each action of an event is an example of its own, with features named after the action, and we draw the action from
the probabilities that it predicts, by the same pseudo-random numbers as `--cbify` does.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contest.stream import Stream, binary_contexts

__all__ = ["play_adf"]

MULTIPLIER, INCREMENT = 0xEECE66D5DEECE66D, 2**31 - 1
"""Of the linear congruential generator of Vowpal Wabbit."""
ROUNDING = 1e-6
PAIRS_OF_FILE, PAIRS_HERE = "-q ::", "-q ff"
"""All pairs of features, here without the constant, which has a namespace of its own."""


def play_adf(stream: Stream, *, arguments: str, n_bins: int, n_bits: int) -> NDArray[np.intp]:
    """Return the actions of Vowpal Wabbit on a stream.

    Parameters
    ----------
    stream
        The events.
    arguments
        Its setting, as for the file.
    n_bins
        Number of bins of a numeric column.
    n_bits
        Bits of its table of weights.
    """
    from vowpalwabbit import Workspace

    arguments = arguments.replace(PAIRS_OF_FILE, PAIRS_HERE)
    learner = Workspace(f"--cb_explore_adf {arguments} -b {n_bits} --noconstant --quiet")
    first_seed = learner.hash_space("vw")
    actions = np.empty(stream.n_events, dtype=np.intp)
    for event, context in enumerate(binary_contexts(stream, n_bins=n_bins)):
        examples = [_example(action, np.flatnonzero(context)) for action in range(stream.n_actions)]
        probabilities = np.array(learner.predict(examples), dtype=np.float32)
        action = _draw(probabilities, _uniform(first_seed + event))
        cost = 1.0 - stream.rewards[event, action]
        examples[action] = f"0:{cost:g}:{probabilities[action]} {examples[action]}"
        learner.learn(examples)
        actions[event] = action
    learner.finish()
    return actions


def _example(action: int, variables: NDArray[np.intp]) -> str:
    features = " ".join(f"a{action}_f{variable}" for variable in variables)
    return f"|features {features} |constant a{action}"


def _draw(probabilities: NDArray[np.float32], uniform: float) -> int:
    """Return the action drawn; the probabilities are added up from the action of least predicted cost on.

    The likeliest action is the one of least cost. It has what the others leave, so that rounding can make it a little
    unlikelier than others of the same cost.
    """
    ranks = np.where(probabilities > probabilities.max() - ROUNDING, probabilities.max(), probabilities)
    order = np.argsort(-ranks, kind="stable")
    sums = np.cumsum(probabilities[order])
    place = int(np.searchsorted(sums, uniform * sums[-1], side="right"))
    return int(order[min(place, len(order) - 1)])


def _uniform(seed: int) -> Any:
    """Return a number in [0, 1) made of 23 bits of a seed."""
    bits = (MULTIPLIER * seed + INCREMENT) % 2**64 >> 25 & 0x7FFFFF
    return struct.unpack("f", struct.pack("I", bits | 127 << 23))[0] - 1.0
