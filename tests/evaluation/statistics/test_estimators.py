"""The estimators, against arithmetic by hand, Open Bandit Pipeline, Vowpal Wabbit's estimators and coba."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from bandit_forest.evaluation import confidence_sequence, direct, doubly_robust, ips, snips
from bandit_forest.evaluation.statistics.evidence import Evidence, expected_squares, logged_evidence, weights_of
from bandit_forest.evaluation.statistics.special import student_quantile
from bandit_forest.evaluation.statistics.sums import Sums

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
    degrees = (influence**2).sum() ** 2 / (influence**4).sum()
    assert estimate.high - estimate.value == pytest.approx(student_quantile(0.975, degrees) * error)


def test_on_policy_weights_give_the_mean_reward():
    for estimator in (ips, snips):
        estimate = estimator(np.ones(4), REWARDS)
        assert estimate.value == pytest.approx(REWARDS.mean())
        assert estimate.standard_error == pytest.approx(REWARDS.std(ddof=1) / 2)


def test_a_single_event_has_no_width_to_speak_of():
    assert math.isinf(ips([1.0], [1.0]).standard_error)


def evidence(n_events: int, seed: int, *, error: float = 0.1) -> Evidence:
    """Return events of a policy with weights 1/9 and 9, and of a model of the rewards with this standard error."""
    rng = np.random.default_rng(seed)
    taken = rng.random(n_events) < 0.1
    weights = np.where(taken, 9.0, 1 / 9)
    means = rng.random((n_events, 2))
    rewards = (rng.random(n_events) < means[:, 0]).astype(float)
    model = means + error * rng.normal(size=means.shape)
    squares = np.full(n_events, 0.1 * 81 + 0.9 / 81)
    return Evidence(rewards, weights, squares, model[:, 0], 0.9 * model[:, 0] + 0.1 * model[:, 1])


def test_sums_of_parts_are_those_of_the_whole():
    first, second = evidence(60, 0), evidence(90, 1)
    joined = Evidence(*(np.concatenate(pair) for pair in zip(first, second, strict=True)))
    whole, parts = Sums(1).add([joined]), Sums(1).add([first]) + Sums(1).add([second])
    for name in ("snips", "dr", "ips", "dm"):
        assert parts.estimate(0, name, 0.95) == pytest.approx(whole.estimate(0, name, 0.95))


def test_a_difference_is_that_of_influences_on_the_same_events():
    rng = np.random.default_rng(1)
    first, second = rng.random(500), rng.random(500)
    sums = Sums(2).add([logged_evidence(first), logged_evidence(second)])
    difference, paired = sums.difference(0, 1, "snips", 0.95), first - second
    assert difference.value == pytest.approx(paired.mean())
    assert difference.standard_error == pytest.approx(paired.std(ddof=1) / math.sqrt(500))
    degrees = min(((x - x.mean()) ** 2).sum() ** 2 / ((x - x.mean()) ** 4).sum() for x in (first, second))
    radius = student_quantile(0.975, degrees) * difference.standard_error
    assert difference.high - difference.value == pytest.approx(radius)


def test_a_good_model_makes_the_doubly_robust_interval_narrower_and_a_bad_one_not_wider():
    for error, narrower in ((0.05, 0.9), (100.0, 1.001)):
        sums = Sums(1).add([evidence(20_000, 2, error=error)])
        plain, robust = (sums.estimate(0, name, 0.95) for name in ("snips", "dr"))
        assert robust.standard_error < narrower * plain.standard_error
        assert robust.value == pytest.approx(plain.value, abs=3 * plain.standard_error)


def test_a_model_counts_less_where_few_events_are_left():
    """With two events of weight the least variance is zero by chance: the estimate stays near SNIPS."""
    weights = np.array([50.0, 50.0, *[0.0] * 998])
    rewards, model = np.array([1.0, 0.0, *[0.0] * 998]), np.array([0.9, 0.1, *[0.5] * 998])
    sums = Sums(1).add([Evidence(rewards, weights, weights**2, model, np.full(1000, 0.9))])
    plain, robust = (sums.estimate(0, name, 0.95) for name in ("snips", "dr"))
    assert abs(robust.value - plain.value) < 0.01


def test_heavy_weights_that_did_not_come_are_allowed_for():
    table, logged = np.tile([0.0, 1.0], (50, 1)), np.tile([0.99, 0.01], (50, 1))
    squares = expected_squares(table, logged)
    assert squares == pytest.approx(np.full(50, 100.0))
    weights = np.array([100.0, *[0.0] * 49])
    rewards, zeros = np.tile([1.0, 0.0], 25), np.zeros(50)
    seen = Sums(1).add([Evidence(rewards, weights + 1, zeros, zeros, zeros)])
    expected = Sums(1).add([Evidence(rewards, weights + 1, 4 * (weights + 1) ** 2, zeros, zeros)])
    ratio = expected.estimate(0, "snips", 0.95).standard_error / seen.estimate(0, "snips", 0.95).standard_error
    assert ratio == pytest.approx(2.0)
    assert expected.effective_sample_size(0) == pytest.approx(seen.effective_sample_size(0) / 4)
    assert expected.estimate(0, "ips", 0.95) == seen.estimate(0, "ips", 0.95)  # as in other tools


def test_actions_that_are_never_taken_have_no_weight():
    assert expected_squares(np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]])).tolist() == [0.25]


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
