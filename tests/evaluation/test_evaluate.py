"""Evaluation end to end: values that are known, verdicts in words, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from logs import changed, honest_log

from bandit_forest import BanditForest, InvalidArgumentError
from bandit_forest.encoding import ContextEncoder
from bandit_forest.evaluation import Log, always, as_it_stands, column, evaluate, logged_probabilities, snips, uniform
from bandit_forest.evaluation.models import ActionMeans, ForestMeans
from bandit_forest.evaluation.passing import WEIGHT_EDGES


def test_known_values_are_covered():
    log, means = honest_log()
    best = np.eye(3)[means.argmax(axis=1)]
    log = changed(log, columns={"best": means.argmax(axis=1), "p": best}, probabilities=log.probabilities)
    evaluation = evaluate(
        log, [uniform(), always(1), column("best"), column("p", name="table"), logged_probabilities()]
    )
    truth = {"uniform": means.mean(), "always 1": means[:, 1].mean(), "best": means.max(axis=1).mean()}
    for name, value in truth.items():
        for estimator in ("snips", "dr", "ips"):
            estimate = evaluation.estimate(name, estimator)
            assert abs(estimate.value - value) < 4 * estimate.standard_error
        low, high = evaluation.sequences[name]
        assert low <= value <= high
        gain = evaluation.gains[name]
        assert gain.low <= value - (log.probabilities * means).sum(axis=1).mean() <= gain.high
    assert evaluation.estimate("best") == evaluation.estimate("table")
    assert evaluation.estimate("logged").value == pytest.approx(log.rewards.mean())
    assert evaluation.estimate("logged probabilities").value == pytest.approx(log.rewards.mean())
    assert evaluation.effective_sample_size("logged probabilities") == pytest.approx(len(log))
    assert not evaluation.faults


def test_batches_and_estimators_agree_with_the_pure_functions():
    log, _ = honest_log(25_000)
    evaluation = evaluate(log, [always(2)])
    weights = (log.actions == 2) / log.propensities
    assert evaluation.estimate("always 2") == pytest.approx(snips(weights, log.rewards))


def test_weights_are_summed_up_by_their_size():
    log, _ = honest_log(25_000)
    sums = evaluate(log, [always(2)]).weight_sums["always 2"]
    weights = (log.actions == 2) / log.propensities
    assert sums.sum() == pytest.approx(weights.sum())
    assert sums[:4].sum() == 0  # a weight is 0, or at least 1
    edges = np.append(WEIGHT_EDGES, np.inf)
    assert sums[-1] == pytest.approx(weights[weights >= edges[-2]].sum())
    assert sums[5] == pytest.approx(weights[(weights >= edges[4]) & (weights < edges[5])].sum())


def test_verdicts():
    log, means = honest_log(20_000)
    log = changed(log, columns={"best": means.argmax(axis=1), "worst": means.argmin(axis=1)})
    evaluation = evaluate(log, [column("best"), column("worst")])
    assert evaluation.verdict("best").startswith("best is better than logged: +")
    assert evaluation.verdict("worst").startswith("worst is worse than logged: -")
    assert evaluation.is_better("best", "worst")
    assert not evaluation.is_better("worst")
    assert "does not decide" in evaluation.verdict("best", "best")
    few = evaluate(log[:100], [column("best")])
    assert few.verdict("best").startswith("No verdict about best: best: effective sample size is")
    assert not few.is_better("best")


def test_a_faulty_log_has_no_verdict():
    log, _ = honest_log(20_000)
    evaluation = evaluate(changed(log, propensities=np.full(len(log), 1 / 3)), [uniform()])
    assert evaluation.verdict("uniform").startswith("No verdict about uniform: the log is at fault")


def test_unknown_rewards_are_left_out():
    log, _ = honest_log()
    rewards = np.where(np.arange(len(log)) % 4 == 0, np.nan, log.rewards)
    evaluation = evaluate(changed(log, rewards=rewards), [uniform()])
    assert (evaluation.n_events, evaluation.n_rewarded) == (4000, 3000)
    assert evaluation.estimate("logged").value == pytest.approx(np.nanmean(rewards))


def test_other_ranges_of_rewards():
    log, _ = honest_log()
    shifted = changed(log, rewards=10 * log.rewards - 3, reward_range=(-3, 7))
    plain, moved = evaluate(log, [uniform()]), evaluate(shifted, [uniform()])
    for estimator in ("snips", "dr"):
        assert moved.estimate("uniform", estimator).value == pytest.approx(
            10 * plain.estimate("uniform", estimator).value - 3, abs=1e-6 if estimator == "snips" else 0.05
        )
    assert moved.sequences["uniform"] == pytest.approx([10 * limit - 3 for limit in plain.sequences["uniform"]])


def test_a_forest_as_it_stands():
    log, _ = honest_log()
    forest = BanditForest(n_variables=4, n_actions=3, n_trees=5)
    forest.learn_many(log.contexts, log.actions, log.rewards, propensities=log.propensities)
    target = as_it_stands(forest, name="new")
    assert np.array_equal(target.probabilities(log[:50]), forest.propensities_many(log.contexts[:50]))
    assert forest.n_events == len(log)


def test_actions_are_matched_by_name_and_unavailable_ones_never_taken():
    log, _ = honest_log(300)
    forest = BanditForest(n_variables=4, n_actions=3, n_trees=5, action_names=["c", "a", "b"])
    forest.learn_many(log.contexts, log.actions, log.rewards, propensities=log.propensities)
    available = np.ones((300, 3), dtype=bool)
    available[:100, 0] = log.actions[:100] == 0
    named = changed(log, action_names=["a", "b", "c"], available=available)
    table = as_it_stands(forest).probabilities(named)
    assert not table[~available].any()
    assert np.array_equal(table[100:], forest.propensities_many(log.contexts[100:])[:, [1, 2, 0]])
    assert not uniform().probabilities(named)[~available].any()
    with pytest.raises(InvalidArgumentError, match="one for the actions"):
        as_it_stands(forest).probabilities(changed(log, action_names=["a", "b", "other"]))


def test_features_through_an_encoder():
    log, _ = honest_log(500)
    features = {f"f{place}": log.contexts[:, place] for place in range(4)}
    encoder = ContextEncoder().fit(features)
    plain = Log(
        actions=log.actions, rewards=log.rewards, propensities=log.propensities, features=features, action_names=3
    )
    forest = BanditForest(n_variables=encoder.n_variables, n_actions=3, n_trees=5)
    evaluation = evaluate(plain, [as_it_stands(forest, encoder=encoder)])
    assert evaluation.names == ("logged", "BanditForest")


def test_means_never_know_the_reward_of_their_event():
    """Changing the rewards from an event on changes no means up to it."""
    log, _ = honest_log(3000)
    for make in (lambda: ForestMeans(4, 3), lambda: ActionMeans(3)):
        first, second = (
            make().predict_and_learn(log.contexts, log.actions, rewards, log.propensities)
            for rewards in (log.rewards, np.where(np.arange(3000) < 1500, log.rewards, 1 - log.rewards))
        )
        assert np.array_equal(first[:1501], second[:1501])
        assert not np.array_equal(first, second)


def test_json_holds_everything():
    log, _ = honest_log()
    document = json.loads(json.dumps(evaluate(log, [uniform()]).to_json()))
    assert document["policies"]["uniform"]["estimates"]["snips"]["value"] > 0
    assert document["verdicts"]["uniform"]
    assert {finding["level"] for finding in document["findings"]} <= {"sound", "caution", "stop"}


def test_progress_counts_events():
    told = []
    log, _ = honest_log()
    evaluate(log, [uniform()], progress=told.append)
    assert told[-1] == 4000


def test_refusals():
    log, _ = honest_log(50)
    for policies in ([], ["uniform"], [uniform(), uniform()], [always(0, name="logged")]):
        with pytest.raises(InvalidArgumentError, match="policies"):
            evaluate(log, policies)
    with pytest.raises(InvalidArgumentError, match="'action' of always"):
        evaluate(log, [always("nobody")])
    with pytest.raises(InvalidArgumentError, match="'column'"):
        evaluate(log, [column("nowhere")])
    with pytest.raises(InvalidArgumentError, match="confidence"):
        evaluate(log, [uniform()], confidence=1.0)
    with pytest.raises(InvalidArgumentError, match="at least one event"):
        evaluate(log[:0], [uniform()])
    with pytest.raises(InvalidArgumentError, match="sum to 1"):
        evaluate(changed(log, columns={"p": np.full((50, 3), 0.5)}), [column("p")])
