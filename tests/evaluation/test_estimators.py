"""The estimators, against arithmetic by hand, Open Bandit Pipeline, Vowpal Wabbit's estimators and coba."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from bandit_forest.evaluation import confidence_sequence, direct, doubly_robust, ips, snips
from bandit_forest.evaluation.statistics.estimate import Ratios
from bandit_forest.evaluation.statistics.estimators import weights_of
from bandit_forest.evaluation.statistics.special import student_quantile

VECTORS = Path(__file__).parent / "vectors" / "obp-0.5.7.json"

ACTIONS = np.array([0, 1, 1, 2])
REWARDS = np.array([1.0, 0.0, 1.0, 0.5])
PROPENSITIES = np.array([0.5, 0.25, 0.5, 0.2])
TABLE = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.2, 0.2, 0.6], [0.1, 0.1, 0.8]])
MEANS = np.array([[0.6, 0.4, 0.2]] * 4)
WEIGHTS = weights_of(TABLE, ACTIONS, PROPENSITIES)


def test_by_hand():
    assert np.allclose(WEIGHTS, [1.0, 4.0, 0.4, 4.0], rtol=1e-12)
    assert ips(WEIGHTS, REWARDS).value == pytest.approx((1 + 0 + 0.4 + 2) / 4)
    assert snips(WEIGHTS, REWARDS).value == pytest.approx(3.4 / 9.4)
    policy = np.array([0.45, 0.4, 0.32, 0.26])
    assert direct(TABLE, MEANS).value == pytest.approx(policy.mean())
    errors = np.array([0.4, -4 * 0.4, 0.4 * 0.6, 4 * 0.3])
    assert doubly_robust(WEIGHTS, REWARDS, ACTIONS, TABLE, MEANS).value == pytest.approx((policy + errors).mean())


def test_the_delta_method_by_hand():
    value = 3.4 / 9.4
    influence = WEIGHTS * (REWARDS - value) / WEIGHTS.mean()
    error = math.sqrt((influence**2).sum() / 3 / 4)
    estimate = snips(WEIGHTS, REWARDS)
    assert estimate.standard_error == pytest.approx(error)
    degrees = 2 / ((influence**4).sum() / (influence**2).sum() ** 2 - 1 / 4)
    assert estimate.high - estimate.value == pytest.approx(student_quantile(0.975, degrees) * error)


def test_on_policy_weights_give_the_mean_reward():
    for estimator in (ips, snips):
        estimate = estimator(np.ones(4), REWARDS)
        assert estimate.value == pytest.approx(REWARDS.mean())
        assert estimate.standard_error == pytest.approx(REWARDS.std(ddof=1) / 2)


def test_a_single_event_has_no_width_to_speak_of():
    assert math.isinf(ips([1.0], [1.0]).standard_error)


def test_sums_of_parts_are_those_of_the_whole():
    rng = np.random.default_rng(0)
    numerators, denominators = rng.random((50, 2)), rng.random((50, 2))
    whole = Ratios(2).add(numerators, denominators)
    parts = Ratios(2).add(numerators[:20], denominators[:20]) + Ratios(2).add(numerators[20:], denominators[20:])
    assert parts.difference(0, 1, 0.95) == pytest.approx(whole.difference(0, 1, 0.95))


def test_a_difference_is_that_of_influences_on_the_same_events():
    rng = np.random.default_rng(1)
    numerators = rng.random((500, 2))
    ratios = Ratios(2).add(numerators, np.ones((500, 2)))
    paired = numerators[:, 0] - numerators[:, 1]
    difference = ratios.difference(0, 1, 0.95)
    assert difference.value == pytest.approx(paired.mean())
    assert difference.standard_error == pytest.approx(paired.std(ddof=1) / math.sqrt(500))
    centred = paired - paired.mean()
    degrees = 2 / ((centred**4).sum() / (centred**2).sum() ** 2 - 1 / 500)
    assert difference.high - difference.value == pytest.approx(
        student_quantile(0.975, degrees) * difference.standard_error
    )


def test_open_bandit_pipeline():
    vectors = json.loads(VECTORS.read_text())
    actions, rewards, propensities, table, means = (
        np.array(vectors[name]) for name in ("action", "reward", "pscore", "pi_e", "qhat")
    )
    weights = weights_of(table, actions, propensities)
    ours = {
        "ipw": ips(weights, rewards),
        "snipw": snips(weights, rewards),
        "dm": direct(table, means),
        "dr": doubly_robust(weights, rewards, actions, table, means),
    }
    for name, estimate in ours.items():
        assert estimate.value == pytest.approx(vectors["obp"][name][0], abs=1e-9)


def streams():
    """Logs of several lengths, with small and large weights."""
    for seed, n_events in enumerate([2, 30, 400, 5000]):
        rng = np.random.default_rng(seed)
        propensities = rng.uniform(0.02 if seed % 2 else 0.3, 1, n_events)
        rewards = rng.integers(0, 2, n_events).astype(float) if seed % 2 else rng.random(n_events)
        yield propensities, rewards, rng.random(n_events)


def add_all(interval, *columns):
    for event in zip(*(column.tolist() for column in columns), strict=True):
        interval.add_example(*event)


def test_the_interval_of_vowpal_wabbits_estimators():
    gaussian = pytest.importorskip("estimators.bandits.gaussian", reason="needs vw-estimators")
    for propensities, rewards, probabilities in streams():
        theirs = gaussian.Interval()
        add_all(theirs, propensities, rewards, probabilities)
        estimate = ips(probabilities / propensities, rewards)
        assert (estimate.low, estimate.high) == pytest.approx(theirs.get(), abs=1e-9)


def test_the_confidence_sequence_of_vowpal_wabbits_estimators():
    cs = pytest.importorskip("estimators.bandits.cs", reason="needs vw-estimators")
    for propensities, rewards, probabilities in streams():
        for reward_range in ((0.0, 1.0), (-1.0, 3.0)):
            theirs = cs.Interval(*reward_range)
            add_all(theirs, propensities, rewards, probabilities)
            weights = probabilities / propensities
            ours = confidence_sequence(weights, rewards, reward_range=reward_range, clip=False)
            assert ours == pytest.approx(theirs.get(), abs=1e-9)


def test_coba():
    coba = pytest.importorskip("coba", reason="needs coba")
    rng = np.random.default_rng(3)
    actions, rewards = rng.integers(0, 3, 200), rng.random(200)
    propensities, contexts = rng.uniform(0.1, 1, 200), rng.integers(0, 2, (200, 2))
    interactions = [
        coba.LoggedInteraction(tuple(context), action, reward, propensity, actions=[0, 1, 2])
        for context, action, reward, propensity in zip(
            contexts.tolist(), actions.tolist(), rewards.tolist(), propensities.tolist(), strict=True
        )
    ]
    table = np.array([0.2, 0.5, 0.3])

    class Fixed:
        params: dict[str, object] = {}  # noqa: RUF012, as coba reads it

        def score(self, context, actions, action):
            return table[action]

    environment = type("Logged", (), {"params": {}, "read": lambda self: iter(interactions)})()
    evaluator = coba.SequentialCB(learn=None, eval="ips", record=["reward"])
    theirs = [row["reward"] for row in evaluator.evaluate(environment, Fixed())]
    assert ips(table[actions] / propensities, rewards).value == pytest.approx(np.mean(theirs), abs=1e-9)
