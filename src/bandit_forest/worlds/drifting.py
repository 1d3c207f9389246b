"""A world that changes into another one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bandit_forest.errors import refuse
from bandit_forest.validation import check_int
from bandit_forest.worlds.contexts import Bits, Floats
from bandit_forest.worlds.synthetic import StationaryWorld, SyntheticWorld

__all__ = ["Drifting"]


class Drifting(SyntheticWorld):
    """A world whose rewards change to those of another world, suddenly or gradually; the contexts do not change.

    Parameters
    ----------
    before
        World at the beginning of the stream; the contexts are always those of this world.
    after
        World of the rewards at the end of the stream, with the same numbers of variables and actions.
    change_at
        Event, counted from 0, at which the change begins.
    change_over
        Number of events over which the expected rewards move from one world to the other; 1 is a sudden change.

    Examples
    --------
    >>> from bandit_forest.worlds import HiddenTree
    >>> before, after = HiddenTree(structure_seed=0), HiddenTree(structure_seed=1)
    >>> world = Drifting(before=before, after=after, change_at=500)
    >>> batch = next(world.batches(1000, seed=0))
    >>> bool((batch.scored_rewards[500:] == after.expected_rewards(batch.contexts[500:])).all())
    True
    """

    def __init__(
        self, *, before: StationaryWorld, after: StationaryWorld, change_at: int, change_over: int = 1
    ) -> None:
        sizes = before.n_variables, before.n_actions
        if (after.n_variables, after.n_actions) != sizes:
            refuse("after", "Drifting", f"a world of {sizes[0]} variables and {sizes[1]} actions like 'before'", after)
        super().__init__(name="drifting", law=before.law, n_actions=before.n_actions)
        self._before, self._after = before, after
        self._change_at = check_int(change_at, "change_at", "Drifting", low=0)
        self._change_over = check_int(change_over, "change_over", "Drifting")

    def _expected_rewards_at(self, events: NDArray[np.int64], contexts: Bits) -> Floats:
        progress = np.clip((events - self._change_at + 1) / self._change_over, 0.0, 1.0)[:, np.newaxis]
        before, after = self._before.expected_rewards(contexts), self._after.expected_rewards(contexts)
        return (1.0 - progress) * before + progress * after
