"""Wrong propensities are found, and honest ones are not accused."""

from __future__ import annotations

import numpy as np
import pytest
from logs import changed, honest_log

from bandit_forest.evaluation import Level, evaluate, uniform

WRONG = {
    "times 0.75": lambda log, rng: log.propensities * 0.75,
    "times 1.3, cut off": lambda log, rng: np.minimum(log.propensities * 1.3, 1.0),
    "shuffled": lambda log, rng: rng.permutation(log.propensities),
    "one over the number of actions": lambda log, rng: np.full(len(log), 1 / log.n_actions),
}


def flags(log):
    return [finding.name for finding in evaluate(log, [uniform()]).findings if finding.level is not Level.SOUND]


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_propensities_are_found(wrong):
    for seed in range(5):
        log, _ = honest_log(seed=seed)
        propensities = WRONG[wrong](log, np.random.default_rng(seed))
        assert flags(changed(log, propensities=propensities))


def test_honest_logs_are_not_accused():
    assert sum(bool(flags(honest_log(2000, seed=seed)[0])) for seed in range(40)) <= 2


def test_lost_events_of_an_action_are_found():
    log, _ = honest_log(10_000)
    keep = (log.actions != 0) | (np.random.default_rng(0).random(len(log)) < 0.7)
    kept = log[keep]
    assert "sample ratio" in flags(kept)
    assert "mean weight by action" in flags(changed(kept))


def test_contradictions_are_found():
    log, _ = honest_log()
    assert "consistent probabilities" in flags(changed(log, probabilities=log.probabilities[::-1]))


def test_a_fault_in_a_part_of_the_log_is_found():
    log, _ = honest_log(20_000)
    propensities = log.propensities.copy()
    propensities[5000:7000] = np.random.default_rng(0).permutation(propensities[5000:7000])
    assert "mean weight over time" in flags(changed(log, propensities=propensities))


def test_rewards_that_have_not_come_yet_are_found():
    log, _ = honest_log()
    late = (np.arange(len(log)) > 3000) & (np.random.default_rng(0).random(len(log)) < 0.4)
    assert flags(changed(log, rewards=np.where(late, np.nan, log.rewards))) == ["events with a reward"]


def test_decisions_without_exploration_are_pointed_at():
    log, _ = honest_log()
    assert "exploration" in flags(changed(log, propensities=np.ones(len(log))))


def test_every_finding_says_what_it_means():
    log, _ = honest_log()
    evaluation = evaluate(log, [uniform()])
    for finding in (*evaluation.findings, *evaluation.policy_findings["uniform"]):
        assert finding.meaning[0].isupper()
        assert finding.meaning.endswith(".")
        assert finding.value
