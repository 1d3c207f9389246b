"""More threads than groups of trees: some have none, and the linear part is still learned once."""

from __future__ import annotations

import numpy as np
import pytest

from bandit_forest import BanditForest

pytestmark = pytest.mark.core


@pytest.mark.parametrize("n_trees", [1, 4, 10, 15])
def test_threads_without_trees_change_nothing(n_trees):
    rng = np.random.default_rng(3)
    contexts, actions = rng.integers(0, 2, (3000, 20), dtype=np.uint8), rng.integers(0, 3, 3000)
    rewards, propensities = (contexts[:, 0] == actions).astype(float), np.full(3000, 1 / 3)
    forests = [BanditForest(n_variables=20, n_actions=3, n_trees=n_trees, n_threads=n) for n in (1, 2, 3)]
    for forest in forests:
        forest.learn_many(contexts, actions, rewards, propensities=propensities)
    saved = {forest._to_bytes() for forest in forests}
    assert len(saved) == 1
