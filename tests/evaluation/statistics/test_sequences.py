"""Confidence sequences hold at all times, and know when they know nothing."""

from __future__ import annotations

import numpy as np
import pytest

from bandit_forest.evaluation.statistics.sequences import (
    LowerBound,
    ValueSequence,
    boundary,
    confidence_sequence,
    running_sums,
)
from bandit_forest.evaluation.statistics.special import chi_squared_tail, gamma_series, student_quantile


@pytest.mark.parametrize("a", [0.5, 1.0, 37.0, 4e4])
@pytest.mark.parametrize("ratio", [0.3, 1.0, 1.02])
def test_the_series_is_the_incomplete_gamma_function(a, ratio):
    special = pytest.importorskip("scipy.special", reason="needs SciPy")
    x = a * ratio
    log_gamma = a * np.log(x) - x + gamma_series(a, x)[0]
    share = special.gammainc(a, x)
    if share > 1e-200:
        assert log_gamma - special.gammaln(a) == pytest.approx(np.log(share), abs=1e-8)


@pytest.mark.parametrize(("statistic", "degrees"), [(0.1, 1), (11.07, 5), (150.0, 120)])
def test_the_tail_of_chi_squared(statistic, degrees):
    stats = pytest.importorskip("scipy.stats", reason="needs SciPy")
    assert chi_squared_tail(statistic, degrees) == pytest.approx(stats.chi2.sf(statistic, degrees), abs=1e-12)


@pytest.mark.parametrize("degrees", [4, 5.5, 12, 100])
@pytest.mark.parametrize("probability", [0.95, 0.975, 0.995])
def test_quantiles_of_student(probability, degrees):
    stats = pytest.importorskip("scipy.stats", reason="needs SciPy")
    assert student_quantile(probability, degrees) == pytest.approx(stats.t.ppf(probability, degrees), rel=0.02)


@pytest.mark.parametrize("variance", [0.0, 0.25, 10.0, 1e6])
def test_the_wealth_at_the_boundary_is_one_over_alpha(variance):
    deviation = boundary(variance, 0.05)
    log_wealth = gamma_series(variance + 1, deviation + variance + 1)[0] - gamma_series(1.0, 1.0)[0]
    assert log_wealth == pytest.approx(-np.log(0.05), abs=1e-9)


def test_the_bound_is_the_value_whose_deviation_is_at_the_boundary():
    values = np.random.default_rng(0).exponential(0.5, 400)
    bound = LowerBound()
    bound.add(values)
    totals, errors = running_sums(values)
    assert totals[-1] - 400 * bound.bound(0.05) == pytest.approx(boundary(errors[-1], 0.05), abs=1e-9)
    assert 0 < bound.bound(0.05) < values.mean()


def test_nothing_is_known_before_the_first_event():
    sequence = ValueSequence(reward_range=(-1.0, 3.0))
    assert sequence.value(0.95) == (-1.0, 3.0)
    assert sequence.gain(0.95) == (-4.0, 4.0)


def test_batches_do_not_matter():
    rng = np.random.default_rng(0)
    values = rng.exponential(size=300)
    whole, parts = LowerBound(), LowerBound()
    whole.add(values)
    for part in np.split(values, [1, 7, 200]):
        parts.add(part)
    assert parts.bound(0.05) == pytest.approx(whole.bound(0.05), abs=1e-12)


def test_the_value_and_the_gain_are_covered_at_every_look():
    """100 streams of heavy weights, each looked at 10 times."""
    missed = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        taken = rng.random(500) < 0.1
        weights, rewards = np.where(taken, 0.9 / 0.1, 0.1 / 0.9), (rng.random(500) < np.where(taken, 0.7, 0.4)) * 1.0
        value, gain = 0.9 * 0.7 + 0.1 * 0.4, 0.8 * 0.7 - 0.8 * 0.4
        sequence, inside = ValueSequence(), True
        for look in range(10):
            rows = slice(50 * look, 50 * look + 50)
            sequence.add(weights[rows], rewards[rows])
            (low, high), (least, most) = sequence.value(0.95), sequence.gain(0.95)
            inside &= low <= value <= high and least <= gain <= most
        missed += not inside
    assert missed <= 100 * 0.05


def test_intervals_shrink():
    rewards = np.tile([0.0, 1.0], 5000)
    narrow, wide = (confidence_sequence(np.ones(n), rewards[:n]) for n in (10_000, 100))
    assert narrow.high - narrow.low < (wide.high - wide.low) / 5
    assert narrow.low < 0.5 < narrow.high
