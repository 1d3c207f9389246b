"""A running comparison of two policies: its sums are those of the whole log."""

from __future__ import annotations

import random

import pytest

from bandit_forest.evaluation import snips
from bandit_forest.evaluation.statistics.comparison import POLICY, Comparison, forest_weight, uniform_weight


def test_sums_by_blocks_are_those_of_the_log() -> None:
    rng = random.Random(1)
    comparison, weights, rewards = Comparison(), [], []
    for _ in range(2500):
        weight = uniform_weight(rng.uniform(0.05, 0.9), 4)
        rewards.append(float(rng.random() < 0.4))
        weights.append(weight[0])
        comparison.add(rewards[-1], (weight[0], 0.0))
    sums, _ = comparison.summary()
    assert sums.estimate(POLICY, "snips", 0.95) == pytest.approx(snips(weights, rewards))
    again = Comparison.from_json(comparison.to_json())
    assert again.summary()[0].estimate(POLICY, "snips", 0.95) == sums.estimate(POLICY, "snips", 0.95)


def test_weights() -> None:
    assert uniform_weight(1.0, 4) == (0.25, 1 / 16)
    assert forest_weight(0.25, 4, agrees=True) == (4.0, 4.0)
    assert forest_weight(0.25, 4, agrees=False) == (0.0, 4.0)
    assert forest_weight(1.0, 4, agrees=False) == (0.0, 0.0)
    assert uniform_weight(1e-6, 2, largest=30.0)[0] == 30.0


def test_one_event_that_was_as_good_as_impossible_does_not_decide_for_ever() -> None:
    comparison = Comparison()
    for number in range(5000):
        propensity = 5e-324 if number == 1000 else 0.5
        comparison.add(float(number % 2), uniform_weight(propensity, 2, largest=comparison.largest_weight))
    sums, _ = comparison.summary()
    assert sums.effective_sample_size(POLICY) > 1500
