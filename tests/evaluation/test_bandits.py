"""A Bandit learns from logs with raw features and named actions, and is evaluated on them."""

from __future__ import annotations

import numpy as np
import pytest

from bandit_forest import Bandit, InvalidArgumentError
from bandit_forest.bandit import CategoricalFeature, NumericFeature
from bandit_forest.baselines import LinUCB
from bandit_forest.encoding import ContextEncoder
from bandit_forest.evaluation import Log, as_it_stands, evaluate, learn_along, replay, uniform

NAMES = ("banner", "discount", "nothing")
FOREST = {"n_trees": 8}


def log_of(n_events, seed, *, reward_range=(0.0, 1.0), available=False):
    """Return a log of uniform play with numbers, texts and gaps, and the expected reward of each action."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n_events).astype(float)
    city = rng.choice(np.array(["Paris", "Lannion", None], dtype=object), n_events)
    can = rng.random((n_events, 3)) < 0.7 if available else np.ones((n_events, 3), dtype=bool)
    can[~can.any(axis=1), 1] = True
    shares = can / can.sum(axis=1, keepdims=True)
    means = np.stack(
        [np.where(age < 45, 0.2, 0.7), np.where(city == "Paris", 0.8, 0.1), np.full(n_events, 0.3)], axis=1
    )
    actions = (shares.cumsum(axis=1) < rng.random(n_events)[:, None]).sum(axis=1)
    rows, (low, high) = np.arange(n_events), reward_range
    log = Log(
        actions=actions,
        rewards=low + (high - low) * (rng.random(n_events) < means[rows, actions]),
        propensities=shares[rows, actions],
        available=can if available else None,
        features={"age": np.where(rng.random(n_events) < 0.1, np.nan, age), "city": city, "row": rows.astype(float)},
        action_names=NAMES,
        reward_range=reward_range,
    )
    return log, means


def new_bandit(**options):
    features = {"age": NumericFeature(missing=True), "city": CategoricalFeature(missing=True)}
    return Bandit(actions=NAMES, forest=FOREST, features=features, **options)


@pytest.mark.parametrize("available", [False, True])
def test_its_value_is_inside_the_interval_and_better_than_the_log(available):
    bandit = new_bandit()
    along = learn_along(log_of(3000, 1, available=available)[0], bandit)
    assert along.n_events == bandit.version == 3000
    assert along.gain.low > 0
    log, means = log_of(4000, 2, available=available)
    target = as_it_stands(bandit)
    assert target.name == "Bandit"
    table = target.probabilities(log)
    truth = float((table * means).sum(axis=1).mean())
    evaluation = evaluate(log, [target, uniform()])
    assert not evaluation.faults
    assert evaluation.is_better("Bandit")
    for estimator in ("ips", "snips", "dr"):
        estimate = evaluation.estimate("Bandit", estimator)
        assert estimate.low <= truth <= estimate.high
    if available:
        assert table[~log.available].max() == 0.0


def test_what_it_learns_is_what_learn_many_learns():
    log, _ = log_of(500, 3, reward_range=(-2.0, 250.0))
    one, other = (new_bandit(reward_range=(-2.0, 250.0), warm_up_events=40) for _ in range(2))
    learn_along(log, one)
    assert log.features is not None
    rows = {name: log.features[name] for name in ("age", "city")}
    other.learn_many(rows, [NAMES[action] for action in log.actions], log.rewards, propensities=log.propensities)
    assert one.to_bytes() == other.to_bytes()


def test_it_lives_through_what_it_could_have_decided():
    log, _ = log_of(400, 4)
    bandit = new_bandit(warm_up_events=50)
    lived = replay(log, bandit)
    assert 0 < lived.n_accepted < 400
    assert bandit.version == lived.n_accepted


def test_actions_are_matched_by_name():
    log, _ = log_of(2000, 5)
    bandit = Bandit(actions=["nothing", "discount", "banner"], forest=FOREST, seed=1)
    learn_along(log, bandit)
    bandit.disable_action("nothing")
    table = as_it_stands(bandit).probabilities(log)
    assert table[:, 2].max() == 0.0
    assert log.features is not None
    rows = [{name: values[row] for name, values in log.features.items()} for row in range(5)]
    assert np.array_equal(table[:5, :2], bandit.propensities_many(rows)[:, ::-1])


def test_what_does_not_fit_is_refused():
    log, _ = log_of(50, 6)
    with pytest.raises(InvalidArgumentError, match="'policy' of Bandit must be one with the log's range of rewards"):
        as_it_stands(new_bandit(reward_range=(0, 10))).probabilities(log)
    other = Bandit(actions=["banner", "gift"])
    with pytest.raises(InvalidArgumentError, match=r"whose enabled actions are all .* banner, .* Got \['gift'\]"):
        learn_along(log, other)
    encoder = ContextEncoder().fit({"age": [1.0, 2.0]})
    with pytest.raises(InvalidArgumentError, match="'encoder' of Bandit must be left out"):
        as_it_stands(new_bandit(), encoder=encoder).probabilities(log)
    bare = Log(actions=[0], rewards=[1.0], propensities=[0.5], action_names=NAMES)
    with pytest.raises(InvalidArgumentError, match="'log' of Bandit must be one with features"):
        as_it_stands(new_bandit()).probabilities(bare)


def test_another_policy_inside_has_no_propensities():
    log, _ = log_of(300, 7)
    bandit = Bandit(actions=NAMES, policy=LinUCB)
    with pytest.raises(InvalidArgumentError, match="needs a BanditForest inside, not a LinUCB"):
        learn_along(log, bandit)
