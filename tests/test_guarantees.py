"""The paper's guarantees, measured over seeded runs on cheap worlds: `benchmarks/guarantees.py` has the full size."""

import numpy as np
import pytest

from harness.guarantee_runs import N_FOREST_WORLDS, Setting

RUNS = 200


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting",
    [
        Setting("Lemma 1", n_variables=4, n_actions=2, gap=0.5, delta=0.1),
        Setting("Lemma 3", n_variables=4, n_actions=4, gap=0.6, delta=0.1),
        Setting("Theorem 1", n_variables=4, n_actions=2, gap=0.5, delta=0.1),
    ],
    ids=lambda setting: setting.statement,
)
def test_few_runs_are_wrong_and_none_needs_more_events_than_the_bound(setting):
    outcomes = [setting.run(seed) for seed in range(RUNS)]
    assert sum(outcome.is_wrong for outcome in outcomes) <= setting.delta * RUNS
    assert max(outcome.events / outcome.bound for outcome in outcomes) <= 1.0
    assert len({outcome.events for outcome in outcomes}) > 20  # the runs do differ


@pytest.mark.slow
@pytest.mark.core
def test_small_forests_become_the_optimal_forests():
    setting = Setting("Theorem 3", n_variables=4, n_actions=4, gap=0.1)
    seeds = [world + N_FOREST_WORLDS * stream for world in range(2) for stream in range(20)]
    outcomes = [setting.run(seed) for seed in seeds]
    assert sum(outcome.is_wrong for outcome in outcomes) <= setting.delta * len(seeds)
    assert max(outcome.events / outcome.bound for outcome in outcomes) <= 1.0


@pytest.mark.slow
def test_events_grow_with_the_logarithm_of_the_variables():
    # Each time, 16 times the variables add about log 16 to a logarithm: far from 16 times the events.
    needed = [
        np.mean([Setting("Lemma 1", n_variables, 2, gap=0.5).run(seed).events for seed in range(8)])
        for n_variables in (4, 64, 1024)
    ]
    first, second = np.diff(needed)
    assert 0 < first < 0.5 * needed[0]
    assert 0 < second < 0.5 * needed[0]


@pytest.mark.slow
def test_events_grow_in_proportion_to_the_actions():
    needed = [
        np.mean([Setting("Lemma 3", 2, n_actions, gap=0.6).run(seed).events for seed in range(20)])
        for n_actions in (2, 4, 8, 16)
    ]
    power, _ = np.polyfit(np.log([2, 4, 8, 16]), np.log(needed), 1)
    assert 0.9 < power < 1.3  # proportional, but for a logarithm
