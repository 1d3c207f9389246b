"""Logs whose events offer actions with features: a PairBandit learns from them and is evaluated on them."""

from __future__ import annotations

import numpy as np
import pytest

from bandit_forest import InvalidArgumentError, PairBandit
from bandit_forest.evaluation import (
    Log,
    Offered,
    always,
    as_it_stands,
    evaluate,
    learn_along,
    replay,
    uniform,
)

FOREST = {"n_trees": 8}


def value(context, action):
    return 0.8 if (context["age"] >= 40) == (action["price"] >= 10) else 0.2


def offer_log(n_events, seed):
    """Return a log of a policy that takes the dearest more often, and the expected reward of each place."""
    rng = np.random.default_rng(seed)
    offers, probabilities, means = [], np.zeros((n_events, 4)), np.zeros((n_events, 4))
    for event in range(n_events):
        context = {"age": float(rng.integers(18, 80))}
        n_offered = int(rng.integers(2, 5))
        actions = [
            {"id": f"a{n}", "price": float(rng.integers(1, 20))} for n in rng.permutation(40)[:n_offered].tolist()
        ]
        prices = np.array([action["price"] for action in actions])
        probabilities[event, :n_offered] = 0.5 / n_offered
        probabilities[event, int(prices.argmax())] += 0.5
        means[event, :n_offered] = [value(context, action) for action in actions]
        offers.append(Offered(context, actions))
    actions = (probabilities.cumsum(axis=1) < rng.random(n_events)[:, None]).sum(axis=1)
    rows = np.arange(n_events)
    log = Log(
        actions=actions,
        rewards=(rng.random(n_events) < means[rows, actions]).astype(float),
        propensities=probabilities[rows, actions],
        probabilities=probabilities,
        offers=offers,
        features={"age": np.array([offer.context["age"] for offer in offers])},
        action_names=4,
    )
    return log, means


@pytest.fixture(scope="module")
def learned():
    log, _ = offer_log(3000, seed=1)
    bandit = PairBandit(forest=FOREST)
    return bandit, learn_along(log, bandit)


def test_a_bandit_learns_from_a_log_with_offers(learned):
    bandit, along = learned
    assert bandit.version == along.n_events == 3000
    assert along.gain.low > 0


def test_its_value_on_another_log_is_inside_the_interval_and_the_truth_is_known(learned):
    log, means = offer_log(4000, seed=2)
    target = as_it_stands(learned[0], name="new")
    table = target.probabilities(log)
    truth = float((table * means).sum(axis=1).mean())
    evaluation = evaluate(log, [target, uniform()])
    assert not evaluation.faults
    assert evaluation.effective_sample_size("new") > 200
    assert evaluation.is_better("new")
    for estimator in ("ips", "snips", "dr"):
        estimate = evaluation.estimate("new", estimator)
        assert estimate.low <= truth <= estimate.high
    assert table[~log.available].max() == 0.0


def test_wrong_propensities_are_found():
    log, _ = offer_log(2000, seed=3)
    rows = {name: getattr(log, name) for name in ("actions", "rewards", "offers", "features", "action_names")}
    invented = Log(propensities=np.full(2000, 0.25), **rows)
    assert evaluate(invented, [uniform()]).faults


def test_a_bandit_lives_through_what_it_could_have_decided():
    log, _ = offer_log(600, seed=4)
    bandit = PairBandit(forest=FOREST, warm_up_events=50)
    lived = replay(log, bandit)
    assert 0 < lived.n_accepted < 600
    assert bandit.version == lived.n_accepted


def test_features_that_come_late_and_offers_without_features_are_taken():
    events = [Offered({}, [{"id": "a"}, {"id": "b"}])] * 30 + [Offered({"age": 3.0}, [{"id": "a", "x": 1.0}])] * 10
    log = Log(actions=[0] * 40, rewards=[1.0, 0.0] * 20, propensities=[0.5] * 40, offers=events, action_names=2)
    bandit = PairBandit(forest=FOREST, warm_up_events=20)
    learn_along(log, bandit)
    assert bandit.version == 40
    assert list(bandit.context_features) == list(bandit.action_features) == ["constant"]
    table = as_it_stands(bandit).probabilities(log)
    assert table[-1].tolist() == [1.0, 0.0]


def test_a_log_of_fixed_actions_is_refused():
    log = Log(actions=[0], rewards=[1.0], propensities=[0.5], contexts=[[1]], action_names=2)
    with pytest.raises(InvalidArgumentError, match="'log' of PairBandit must be one with offers"):
        as_it_stands(PairBandit()).probabilities(log)


def test_rare_rewards_allow_no_verdict():
    rng = np.random.default_rng(0)
    columns = {"actions": rng.integers(0, 50, 5000), "propensities": np.full(5000, 0.02), "action_names": 50}
    rare = Log(rewards=(rng.random(5000) < 0.002) & (columns["actions"] > 0), **columns)
    told = evaluate(rare, [always(0)])
    assert told.estimate("always 0") == (0.0, 0.0, 0.0, 0.0)  # an interval without any width, from luck
    assert told.verdict("always 0").startswith("No verdict about always 0: always 0: ")
    often = Log(rewards=rng.random(5000) < 0.5, **columns)
    assert [finding.level for finding in evaluate(often, [uniform()]).policy_findings["uniform"]] == ["sound"] * 4


def test_wrong_offers_are_refused():
    offer = Offered({"age": 3.0}, [{"id": 1, "price": 2.0}])
    columns = {"actions": [0], "rewards": [1.0], "propensities": [0.5], "action_names": 2}
    with pytest.raises(InvalidArgumentError, match=r"'offers' of Log must be 1 offers"):
        Log(offers=[offer, offer], **columns)
    with pytest.raises(InvalidArgumentError, match=r"'offers\[0\]' of Log must be an Offered"):
        Log(offers=[Offered({}, [])], **columns)
    with pytest.raises(InvalidArgumentError, match=r"true for the action that was taken"):
        Log(offers=[offer], **(columns | {"actions": [1]}))
    with pytest.raises(InvalidArgumentError, match=r"the log's range of rewards"):
        as_it_stands(PairBandit(reward_range=(0, 10))).probabilities(Log(offers=[offer], **columns))
