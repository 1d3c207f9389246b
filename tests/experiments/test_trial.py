"""The rows of a trial."""

from __future__ import annotations

import numpy as np
import pytest

from bandit_forest import BanditTree
from bandit_forest.baselines import Uniform
from bandit_forest.experiments.run.trial import LAST_EVENTS, play_trial, row_points
from bandit_forest.simulation import simulate
from bandit_forest.worlds import Classification, HiddenTree


@pytest.mark.parametrize("n_events", [1, 7, 100, 12_345, 100_000, 250_500, 10_000_000])
def test_rows_end_with_the_last_event_and_show_the_last_window(n_events: int):
    points = row_points(n_events)
    assert points == sorted(set(points))
    assert points[-1] == n_events
    assert len(points) in (min(n_events, 100), min(n_events, 100) + 1)
    assert n_events <= LAST_EVENTS or n_events - LAST_EVENTS in points


def test_a_trial_tells_the_same_as_a_simulation():
    world = HiddenTree(n_variables=10, n_actions=3, depth=2)
    make = lambda: BanditTree(n_variables=10, n_actions=3, max_depth=2, seed=1)  # noqa: E731
    told: list[tuple[int, float]] = []
    rows = list(play_trial(make(), world, n_events=25_130, seed=2, progress=lambda n, reward: told.append((n, reward))))
    expected = simulate(make(), world, n_events=25_130, seed=2, rows=row_points(25_130))
    assert [row.n_events for row in rows] == [row.n_events for row in expected]
    np.testing.assert_allclose([row.regret for row in rows], [row.regret for row in expected])
    np.testing.assert_allclose([row.reward / row.n_events for row in rows], [row.average_reward for row in expected])
    assert told[-1] == (25_130, pytest.approx(expected[-1].average_reward))
    assert 0 < rows[0].seconds <= rows[-1].seconds


def test_regret_is_counted_against_the_rewards_of_the_comparator():
    world = Classification(contexts=[[0, 1], [1, 0], [1, 1]], labels=[0, 1, -1])
    points = row_points(20_000)
    sums = np.cumsum(np.random.default_rng(0).integers(0, 200, size=len(points))).astype(float)
    player = Uniform(n_variables=2, n_actions=2)
    rows = list(play_trial(player, world, n_events=20_000, seed=0, comparator_sums=sums, progress=lambda *_: None))
    assert [row.n_events for row in rows] == points
    np.testing.assert_array_equal([row.regret + row.reward for row in rows], sums)
