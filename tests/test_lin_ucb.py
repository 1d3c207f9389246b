"""LinUCB against ridge regressions that are solved directly."""

import copy

import numpy as np
import pytest

from bandit_forest.baselines import LinUcb, lin_ucb
from bandit_forest.errors import InvalidArgumentError


def log_of_events(n_events, n_variables, n_actions, seed=0):
    generator = np.random.default_rng(seed)
    contexts = (generator.random((n_events, n_variables)) < 0.3).astype(np.uint8)
    return contexts, generator.integers(0, n_actions, n_events), generator.random(n_events)


def direct_models(contexts, actions, rewards, n_actions, ridge):
    """Inverse Gram matrix and weights of every action, from all events at once."""
    inputs = np.column_stack([contexts, np.ones(len(contexts))])
    models = []
    for action in range(n_actions):
        mine = inputs[actions == action]
        inverse = np.linalg.inv(ridge * np.eye(inputs.shape[1]) + mine.T @ mine)
        models.append((inverse, inverse @ (mine.T @ rewards[actions == action])))
    return models


def assert_is_exact(policy, contexts, actions, rewards, ridge=1.0, tolerance=1e-8):
    models = direct_models(contexts, actions, rewards, policy.n_actions, ridge)
    for action, (inverse, weights) in enumerate(models):
        np.testing.assert_allclose(policy._inverses[action], inverse, atol=tolerance, rtol=0)
        np.testing.assert_allclose(policy._weights[action], weights, atol=tolerance, rtol=0)


@pytest.mark.parametrize("ridge", [1e-6, 1.0, 30.0])
def test_updates_equal_direct_inverses_over_thousands_of_events(ridge):
    contexts, actions, rewards = log_of_events(4000, 20, 3)
    policy = LinUcb(n_variables=20, n_actions=3, ridge=ridge)
    policy.learn_many(contexts, actions, rewards, propensities=np.ones(4000))
    assert policy._n_waiting != [0, 0, 0]  # some updates since the last inversion
    assert_is_exact(policy, contexts, actions, rewards, ridge)


@pytest.mark.parametrize("every", [1, 7, 100_000])
def test_how_often_the_inverses_are_computed_anew_changes_nothing(every, monkeypatch):
    monkeypatch.setattr(lin_ucb, "_REFRESH_EVERY", every)
    contexts, actions, rewards = log_of_events(2000, 10, 2)
    policy = LinUcb(n_variables=10, n_actions=2)
    policy.learn_many(contexts, actions, rewards, propensities=np.ones(2000))
    assert_is_exact(policy, contexts, actions, rewards)


def test_errors_of_an_inverse_do_not_outlive_its_next_computation(monkeypatch):
    monkeypatch.setattr(lin_ucb, "_REFRESH_EVERY", 100)
    contexts, _, rewards = log_of_events(1000, 8, 1)
    actions = np.zeros(1000, dtype=int)
    policy = LinUcb(n_variables=8, n_actions=1)
    policy.learn_many(contexts[:950], actions[:950], rewards[:950], propensities=np.ones(950))
    policy._inverses += 1e-4
    policy._weights -= 1e-2
    policy.learn_many(contexts[950:], actions[950:], rewards[950:], propensities=np.ones(50))
    assert_is_exact(policy, contexts, actions, rewards, tolerance=1e-11)


def test_the_highest_upper_bound_is_played():
    contexts, _, _ = log_of_events(600, 6, 3, seed=3)
    table = np.random.default_rng(4).random((600, 3))
    policy = LinUcb(n_variables=6, n_actions=3, width=0.8, ridge=2.0)
    played = policy.play(contexts, table)
    assert (played.propensities == 1.0).all()
    assert set(played.actions.tolist()) == {0, 1, 2}
    for event in range(0, 600, 20):
        past = contexts[:event], played.actions[:event], played.rewards[:event]
        features = np.append(contexts[event], 1.0)
        bounds = [
            weights @ features + 0.8 * np.sqrt(features @ inverse @ features)
            for inverse, weights in direct_models(*past, 3, 2.0)
        ]
        assert max(bounds) - bounds[played.actions[event]] < 1e-9


def test_only_available_actions_are_played():
    policy = LinUcb(n_variables=1, n_actions=3)
    for action, reward in enumerate([1.0, 0.5, 0.0]):
        for _ in range(50):
            policy.learn([1], action, reward, propensity=1.0)
    assert policy.decide([1]).action == 0
    assert policy.decide([1], available_actions=[2, 1]).action == 1
    assert policy.decide([1], available_actions=[2]) == (2, 1.0)


def test_play_equals_decide_and_learn_and_a_copy_goes_on_alike():
    contexts, _, _ = log_of_events(1500, 8, 2)
    table = np.column_stack([contexts[:, 0], contexts[:, 1]]).astype(float)
    played = LinUcb(n_variables=8, n_actions=2).play(contexts, table)
    policy = LinUcb(n_variables=8, n_actions=2)
    policy.play(contexts[:1000], table[:1000])
    copied = copy.deepcopy(policy)
    for event in range(1000, 1500):
        action = policy.decide(contexts[event]).action
        assert action == played.actions[event]
        policy.learn(contexts[event], action, table[event, action], propensity=1.0)
    np.testing.assert_array_equal(copied.play(contexts[1000:], table[1000:]).actions, played.actions[1000:])


@pytest.mark.parametrize(
    ("parameter", "value"), [("width", -1.0), ("width", float("inf")), ("ridge", 0.0), ("ridge", float("nan"))]
)
def test_wrong_parameters_are_refused(parameter, value):
    with pytest.raises(InvalidArgumentError, match=f"The '{parameter}' of LinUcb must be a finite number"):
        LinUcb(n_variables=2, n_actions=2, **{parameter: value})
