"""Classified rows as a world: shuffled, looped, noisy; the right class earns the reward."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.errors import refuse
from bandit_forest.validation import check_actions, check_contexts, check_int, check_number
from bandit_forest.worlds.packing import pack, unpack
from bandit_forest.worlds.world import Batch

__all__ = ["Classification"]

_EVENTS_AT_ONCE = 1024  # so that the draws of the noise stay in the processor's cache


class Classification:
    """A world of rows with known classes, as in the paper's experiments (section 5).

    The rows are shuffled and played in a loop, from a random start on. At each event the value of each variable is
    inverted with probability `noise`. The action of the row's label earns 1, all others 0. The seed names a trial:
    order, start and noise depend on it only.

    Parameters
    ----------
    contexts
        One row of zeros and ones for each example, or rows packed in 64-bit words.
    labels
        The rewarded action of each row; -1 where no action is rewarded.
    n_actions
        Number of actions; by default one more than the largest label.
    n_variables
        Number of variables; needed only for packed rows.
    noise
        Probability with which the value of a variable is inverted, at most 0.5; exact to 32 bits.
    comparator
        The policy that regret is relative to: a function from noisy contexts to actions. By default the comparator
        takes the label, and earns 1 in each event with a rewarded action.
    name
        A short name for tables and files.

    Examples
    --------
    >>> world = Classification(contexts=[[0, 1], [1, 0], [1, 1]], labels=[0, 1, -1], noise=0.0)
    >>> batch = next(world.batches(3, seed=7))
    >>> bool((batch.contexts.sum(axis=1) == 2 - batch.rewards.sum(axis=1)).all())
    True
    """

    def __init__(
        self,
        *,
        contexts: Any,
        labels: ArrayLike,
        n_actions: int | None = None,
        n_variables: int | None = None,
        noise: float = 0.05,
        comparator: Callable[[NDArray[np.uint8]], ArrayLike] | None = None,
        name: str = "classification",
    ) -> None:
        owner = type(self).__name__
        self.name = name
        self._words, self.n_variables = _check_rows(contexts, n_variables, owner)
        self._labels, self.n_actions = _check_labels(labels, n_actions, len(self._words), owner)
        self.noise = check_number(noise, "noise", owner, "a number in [0, 0.5]", 0.0, 0.5)
        self._comparator = comparator
        # One row of rewards for each label; the last, which -1 reaches, rewards nothing.
        self._rewards = np.vstack([np.eye(self.n_actions), np.zeros(self.n_actions)])

    def batches(self, n_events: int, *, seed: int, batch_size: int = 10_000) -> Iterator[Batch]:
        """Return the first `n_events` events of the stream of a seed.

        Parameters
        ----------
        n_events
            Number of events in all.
        seed
            Name of the trial: the same seed gives the same events, whatever the size of the batches.
        batch_size
            Number of events of a batch; the last batch may have fewer.
        """
        owner = f"{type(self).__name__}.batches"
        n_events = check_int(n_events, "n_events", owner, low=0)
        seed = check_int(seed, "seed", owner, low=0)
        return self._stream(n_events, seed, check_int(batch_size, "batch_size", owner))

    def _stream(self, n_events: int, seed: int, batch_size: int) -> Iterator[Batch]:
        # Raw words of a bit generator are the same in every version of NumPy; its distributions need not be.
        shuffle, noise = (np.random.SFC64(part) for part in np.random.SeedSequence(seed).spawn(2))
        n_rows = len(self._words)
        order = np.argsort(shuffle.random_raw(n_rows), kind="stable")
        begin = int(shuffle.random_raw() % n_rows)
        for start in range(begin, begin + n_events, batch_size):
            stop = min(start + batch_size, begin + n_events)
            yield self._batch(order[np.arange(start, stop) % n_rows], noise)

    def _batch(self, rows: NDArray[np.intp], noise: np.random.SFC64) -> Batch:
        contexts = unpack(self._words[rows], self.n_variables)
        for start in range(0, len(rows), _EVENTS_AT_ONCE):
            some = contexts[start : start + _EVENTS_AT_ONCE]
            some ^= self._flips(len(some), noise)
        labels = self._labels[rows]
        rewards = self._rewards[labels]
        return Batch(contexts, rewards, self._comparator_rewards(contexts, labels, rewards), scored_rewards=rewards)

    def _flips(self, n_events: int, noise: np.random.SFC64) -> NDArray[np.uint8]:
        """Draw which variables are inverted."""
        words = -(-self.n_variables // 2)  # whole words for each event, so that batches may be cut anywhere
        draws = noise.random_raw(n_events * words).view(np.uint32).reshape(n_events, 2 * words)
        return (draws[:, : self.n_variables] < np.uint32(round(self.noise * 2**32))).view(np.uint8)

    def _comparator_rewards(
        self, contexts: NDArray[np.uint8], labels: NDArray[np.int64], rewards: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        if self._comparator is None:
            return (labels >= 0).astype(np.float64)
        actions = check_actions(self._comparator(contexts), "Classification.comparator", self.n_actions, len(labels))
        return rewards[np.arange(len(labels)), actions]


def _check_rows(contexts: Any, n_variables: int | None, owner: str) -> tuple[NDArray[np.uint64], int]:
    """Return the packed rows and the number of variables."""
    n_variables = check_int(_width(contexts) if n_variables is None else n_variables, "n_variables", owner)
    if isinstance(contexts, np.ndarray) and contexts.dtype == np.uint64:
        words = _check_words(contexts, n_variables, owner)
    else:
        words = pack(check_contexts(contexts, owner, n_variables))
    if len(words) == 0:
        refuse("contexts", owner, "a matrix with at least one row", contexts)
    return words, n_variables


def _check_words(words: NDArray[np.uint64], n_variables: int, owner: str) -> NDArray[np.uint64]:
    """Return packed rows without unpacking them, since a large data set would not fit in memory."""
    n_words, spare = -(-n_variables // 64), -n_variables % 64
    well_formed = words.ndim == 2 and words.shape[1] == n_words
    if not well_formed or (spare and (words[:, -1] >> np.uint64(64 - spare)).any()):
        refuse("contexts", owner, f"a matrix with rows of {n_words} words that hold {n_variables} bits", words)
    return words


def _width(contexts: Any) -> int:
    """Return the number of columns; 1 for a value that is not a matrix and will be refused as such."""
    try:
        shape: tuple[int, ...] = np.shape(contexts) if isinstance(contexts, (list, tuple)) else contexts.shape
    except (AttributeError, ValueError):
        return 1
    return shape[1] if len(shape) == 2 else 1


def _check_labels(labels: ArrayLike, n_actions: int | None, n_rows: int, owner: str) -> tuple[NDArray[np.int64], int]:
    """Return the labels and the number of actions."""
    rule = f"{n_rows} ints, each an action or -1"
    try:
        array = np.asarray(labels)
    except ValueError:
        refuse("labels", owner, rule, labels)
    if array.shape != (n_rows,) or array.dtype.kind not in "iu" or array.min() < -1:
        refuse("labels", owner, rule, labels)
    most = int(array.max()) + 1
    n_actions = check_int(most if n_actions is None else n_actions, "n_actions", owner, low=max(most, 1))
    return array.astype(np.int64), n_actions
