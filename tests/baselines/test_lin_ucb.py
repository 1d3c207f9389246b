"""LinUCB against ridge regressions that are solved directly."""

import copy
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bandit_forest.baselines import LinUCB, lin_ucb
from bandit_forest.errors import InvalidArgumentError
from bandit_forest.reference.lin_ucb import ReferenceLinUcb

pytestmark = pytest.mark.core


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
        below = inverse[np.tril_indices_from(inverse)]
        np.testing.assert_allclose(policy._core.inverses[action], below, atol=tolerance, rtol=0)
        np.testing.assert_allclose(policy._core.weights[action], weights, atol=tolerance, rtol=0)


@pytest.mark.parametrize("ridge", [1e-6, 1.0, 30.0])
def test_updates_equal_direct_inverses_over_thousands_of_events(ridge):
    contexts, actions, rewards = log_of_events(4000, 20, 3)
    policy = LinUCB(n_variables=20, n_actions=3, ridge=ridge)
    policy.learn_many(contexts, actions, rewards, propensities=np.ones(4000))
    assert policy._core.waiting.all()  # some updates since the last inversion
    assert_is_exact(policy, contexts, actions, rewards, ridge)


@pytest.mark.parametrize("every", [1, 7, 100_000])
def test_how_often_the_inverses_are_computed_anew_changes_nothing(every, monkeypatch):
    monkeypatch.setattr(lin_ucb, "_refresh_every", lambda _: every)
    contexts, actions, rewards = log_of_events(2000, 10, 2)
    policy = LinUCB(n_variables=10, n_actions=2)
    policy.learn_many(contexts, actions, rewards, propensities=np.ones(2000))
    assert_is_exact(policy, contexts, actions, rewards)


def test_errors_of_an_inverse_do_not_outlive_its_next_computation(monkeypatch):
    monkeypatch.setattr(lin_ucb, "_refresh_every", lambda _: 100)
    contexts, _, rewards = log_of_events(1000, 8, 1)
    actions = np.zeros(1000, dtype=int)
    policy = LinUCB(n_variables=8, n_actions=1)
    policy.learn_many(contexts[:950], actions[:950], rewards[:950], propensities=np.ones(950))
    policy._core.inverses[:] += 1e-4
    policy._core.weights[:] -= 1e-2
    policy.learn_many(contexts[950:], actions[950:], rewards[950:], propensities=np.ones(50))
    assert_is_exact(policy, contexts, actions, rewards, tolerance=1e-11)


def test_the_highest_upper_bound_is_played():
    contexts, _, _ = log_of_events(600, 6, 3, seed=3)
    table = np.random.default_rng(4).random((600, 3))
    policy = LinUCB(n_variables=6, n_actions=3, width=0.8, ridge=2.0)
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


@pytest.mark.parametrize(("n_variables", "n_actions", "width"), [(1, 2, 0.2), (8, 3, 0.0), (63, 2, 1.0), (64, 7, 0.2)])
@pytest.mark.parametrize("binary", [False, True])
def test_the_core_decides_as_the_specification(n_variables, n_actions, width, binary):
    generator = np.random.default_rng(n_variables)
    sizes = {"n_variables": n_variables, "n_actions": n_actions, "width": width}
    core, reference = LinUCB(**sizes), ReferenceLinUcb(**sizes)
    late = []
    for _ in range(1200):
        context = (generator.random(n_variables) < 0.3).astype(np.uint8)
        available = np.flatnonzero(generator.random(n_actions) < 0.8)
        action, propensity = core.decide(context, available_actions=available if available.size else None)
        bounds = reference.bounds(context)
        allowed = bounds[available] if available.size else bounds
        assert propensity == 1.0
        assert allowed.max() - bounds[action] < 1e-9  # bounds that are equal in theory may differ by rounding
        if np.count_nonzero(allowed > allowed.max() - 1e-9) == 1:
            assert reference.decide(context, available_actions=available if available.size else None).action == action
        reward = generator.random() ** (1 + (action + context[0]) % 3)
        late.append((context, action, float(reward > 0.5) if binary else reward))
        if generator.random() < 0.7:  # rewards come late and out of order; some never come
            event = late.pop(generator.integers(len(late)))
            core.learn(*event, propensity=1.0)
            reference.learn(*event, propensity=1.0)


def test_a_million_updates_leave_no_errors():
    contexts, _, rewards = log_of_events(250_000, 12, 1)
    policy = LinUCB(n_variables=12, n_actions=1)
    actions = np.zeros(len(contexts), dtype=int)
    for _ in range(4):
        policy.learn_many(contexts, actions, rewards, propensities=np.ones(len(contexts)))
    assert_is_exact(policy, *(np.concatenate([part] * 4) for part in (contexts, actions, rewards)), tolerance=1e-11)


def test_threads_share_a_policy():
    contexts, _, _ = log_of_events(2000, 8, 2)
    policy = LinUCB(n_variables=8, n_actions=2)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: policy.play(contexts, np.ones((2000, 2))), range(8)))
    np.testing.assert_allclose(policy.decide_many(contexts).propensities, 1.0)
    assert policy._core.weights[:, -1].max() > 0.9  # every reward is one


def test_only_available_actions_are_played():
    policy = LinUCB(n_variables=1, n_actions=3)
    for action, reward in enumerate([1.0, 0.5, 0.0]):
        for _ in range(50):
            policy.learn([1], action, reward, propensity=1.0)
    assert policy.decide([1]).action == 0
    assert policy.decide([1], available_actions=[2, 1]).action == 1
    assert policy.decide([1], available_actions=[2]) == (2, 1.0)


def test_play_equals_decide_and_learn_and_a_copy_goes_on_alike():
    contexts, _, _ = log_of_events(1500, 8, 2)
    table = np.column_stack([contexts[:, 0], contexts[:, 1]]).astype(float)
    played = LinUCB(n_variables=8, n_actions=2).play(contexts, table)
    policy = LinUCB(n_variables=8, n_actions=2)
    policy.play(contexts[:1000], table[:1000])
    copied = copy.deepcopy(policy)
    for event in range(1000, 1500):
        action = policy.decide(contexts[event]).action
        assert action == played.actions[event]
        policy.learn(contexts[event], action, table[event, action], propensity=1.0)
    np.testing.assert_array_equal(copied.play(contexts[1000:], table[1000:]).actions, played.actions[1000:])


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ((2**40, 2), "The 'n_variables' of LinUCB must be at most 16382 with 2 actions. Got 1099511627776 instead."),
        ((90, 2**16), "The 'n_variables' of LinUCB must be at most 89 with 65536 actions. Got 90 instead."),
        ((1, 2**16 + 1), "The 'n_actions' of LinUCB must be an int in [1, 65536]. Got 65537 instead."),
    ],
)
def test_sizes_beyond_memory_are_refused(sizes, sentence):
    with pytest.raises(InvalidArgumentError) as caught:
        LinUCB(n_variables=sizes[0], n_actions=sizes[1])
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("width", -1.0),
        ("width", float("inf")),
        ("width", True),
        ("ridge", 0.0),
        ("ridge", float("nan")),
        ("ridge", np.True_),
    ],
)
def test_wrong_parameters_are_refused(parameter, value):
    with pytest.raises(InvalidArgumentError, match=f"The '{parameter}' of LinUCB must be a finite number"):
        LinUCB(n_variables=2, n_actions=2, **{parameter: value})
