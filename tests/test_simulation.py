"""Simulation: exact sums, rows where they are wanted, and nothing of the world's time."""

from __future__ import annotations

import time

import numpy as np
import pytest

from bandit_forest.baselines import UCB, Uniform
from bandit_forest.errors import InvalidArgumentError
from bandit_forest.policy import Played
from bandit_forest.simulation import evenly_spaced, simulate
from bandit_forest.worlds import Batch, HiddenTree

WORLD = HiddenTree(n_variables=10, n_actions=3, depth=2, noise=0.1)


def uniform(seed: int = 0) -> Uniform:
    return Uniform(n_variables=10, n_actions=3, seed=seed)


def naive_rows(policy, world, n_events, seed):
    """Play one event after the other, and sum up after each."""
    (batch,) = world.batches(n_events, seed=seed, batch_size=n_events)
    regret = reward = optimal = 0.0
    for event in range(n_events):
        action, propensity = policy.decide(batch.contexts[event])
        policy.learn(batch.contexts[event], action, batch.rewards[event, action], propensity=propensity)
        scored = batch.scored_rewards[event]
        regret += batch.comparator_rewards[event] - scored[action]
        reward += batch.rewards[event, action]
        optimal += scored[action] == scored.max()
        yield event + 1, regret, reward / (event + 1), optimal / (event + 1)


@pytest.mark.parametrize("policy", [uniform, lambda: UCB(n_variables=10, n_actions=3)], ids=["Uniform", "UCB"])
def test_every_row_equals_the_sums_made_event_by_event(policy):
    rows = simulate(policy(), WORLD, n_events=300, seed=3, rows=range(1, 301))
    expected = list(naive_rows(policy(), WORLD, 300, seed=3))
    np.testing.assert_allclose([row[:4] for row in rows], expected, rtol=1e-12)


def test_rows_do_not_depend_on_which_others_are_wanted():
    few = simulate(uniform(), WORLD, n_events=25_000, seed=1, rows=[9_999, 10_000, 25_000])
    one = simulate(uniform(), WORLD, n_events=25_000, seed=1)
    assert [row.n_events for row in few] == [9_999, 10_000, 25_000]
    assert few[-1][2:4] == one[0][2:4]
    assert few[-1].regret == pytest.approx(one[0].regret, rel=1e-12)


def test_a_policy_that_knows_the_world_has_no_regret():
    class Oracle(Uniform):
        def play(self, contexts, rewards):
            actions = WORLD.expected_rewards(contexts).argmax(axis=1)
            return Played(actions, np.ones(len(actions)), rewards[np.arange(len(actions)), actions])

    (row,) = simulate(Oracle(n_variables=10, n_actions=3), WORLD, n_events=20_000, seed=0)
    assert row.regret == 0.0
    assert row.optimal_share == 1.0
    assert row.average_reward == pytest.approx(0.9, abs=0.01)


def test_uniform_draws_have_the_regret_of_uniform_draws():
    (row,) = simulate(uniform(), WORLD, n_events=20_000, seed=0)
    assert row.optimal_share == pytest.approx(1 / 3, abs=0.02)
    assert row.regret == pytest.approx(20_000 * 0.8 * 2 / 3, rel=0.05)


def test_regret_counts_against_the_reference_and_may_be_negative():
    class Modest:
        name, n_variables, n_actions = "modest", 10, 3

        def batches(self, n_events, *, seed, batch_size=10_000):
            rewards = np.ones((n_events, 3))
            yield Batch(np.zeros((n_events, 10), np.uint8), rewards, np.zeros(n_events), rewards)

    (row,) = simulate(uniform(), Modest(), n_events=50, seed=0)
    assert row.regret == -50.0


def test_only_the_time_of_the_policy_counts(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])

    class SlowWorld(HiddenTree):
        def batches(self, n_events, *, seed, batch_size=10_000):
            for batch in super().batches(n_events, seed=seed, batch_size=batch_size):
                clock[0] += 100.0
                yield batch

    class SlowPolicy(Uniform):
        def play(self, contexts, rewards):
            clock[0] += 1.0
            return super().play(contexts, rewards)

    world = SlowWorld(n_variables=10, n_actions=3, depth=2)
    rows = simulate(SlowPolicy(n_variables=10, n_actions=3), world, n_events=20_000, seed=0, rows=[5_000, 20_000])
    assert [row.seconds for row in rows] == [1.0, 3.0]


def test_progress_is_told_up_to_the_last_event():
    told: list[int] = []
    simulate(uniform(), WORLD, n_events=25_000, seed=0, rows=[5_000, 25_000], progress=told.append)
    assert told == [5_000, 10_000, 20_000, 25_000]


def test_a_policy_goes_on_from_what_it_has_learned():
    policy = UCB(n_variables=10, n_actions=3)
    simulate(policy, WORLD, n_events=1_000, seed=0)
    assert sum(policy._counts.taken) == 1_000
    simulate(policy, WORLD, n_events=500, seed=1)
    assert sum(policy._counts.taken) == 1_500


@pytest.mark.parametrize(("n_events", "n_rows", "expected"), [(10, 2, [5, 10]), (3, 10, [1, 2, 3]), (7, 1, [7])])
def test_evenly_spaced_rows_end_with_the_last_event(n_events, n_rows, expected):
    assert evenly_spaced(n_events, n_rows) == expected


@pytest.mark.parametrize(
    ("wrong", "parameter"),
    [
        ({"n_events": 0}, "n_events"),
        ({"n_events": "many"}, "n_events"),
        ({"seed": -1}, "seed"),
        ({"rows": [0, 5]}, "rows"),
        ({"rows": [11]}, "rows"),
        ({"rows": [5, 5]}, "rows"),
        ({"rows": [7, 5]}, "rows"),
        ({"rows": [2.5]}, "rows"),
    ],
)
def test_wrong_arguments_are_refused(wrong, parameter):
    with pytest.raises(InvalidArgumentError, match=f"The '{parameter}' of"):
        simulate(uniform(), WORLD, **({"n_events": 10, "seed": 0} | wrong))


@pytest.mark.parametrize("sizes", [{"n_variables": 9, "n_actions": 3}, {"n_variables": 10, "n_actions": 4}])
def test_a_policy_of_other_sizes_is_refused(sizes):
    with pytest.raises(InvalidArgumentError, match="one for 10 variables and 3 actions, like the world"):
        simulate(Uniform(**sizes), WORLD, n_events=10, seed=0)
