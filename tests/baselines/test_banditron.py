"""Banditron against its article's update rule, and on data that a perceptron can separate."""

import copy

import numpy as np
import pytest

from bandit_forest.baselines import Banditron
from bandit_forest.errors import InvalidArgumentError


def separable(n_events, n_actions=4, n_variables=12, seed=0):
    """Contexts in which the one set variable among the first ones names the action to take; the others are noise."""
    generator = np.random.default_rng(seed)
    contexts = generator.integers(0, 2, (n_events, n_variables), dtype=np.uint8)
    right = generator.integers(0, n_actions, n_events)
    rewards = np.eye(n_actions)[right]
    contexts[:, :n_actions] = rewards
    return contexts, rewards


def test_weights_follow_the_update_of_the_article():
    generator = np.random.default_rng(1)
    policy = Banditron(n_variables=6, n_actions=3, exploration_rate=0.3, seed=5)
    weights = np.zeros((3, 7))
    for _ in range(500):
        context = generator.integers(0, 2, 6, dtype=np.uint8)
        action, propensity = policy.decide(context)
        reward = float(generator.random() < 0.4)
        policy.learn(context, action, reward, propensity=propensity)
        features = np.append(context, 1)
        best = int(np.argmax(weights @ features))
        assert propensity == pytest.approx(0.3 / 3 + (0.7 if action == best else 0.0))
        weights[action] += features * reward / propensity
        weights[best] -= features
    np.testing.assert_allclose(policy._weights.T, weights[:, :-1], atol=1e-9)
    np.testing.assert_allclose(policy._biases, weights[:, -1], atol=1e-9)


def test_mistakes_flatten_on_separable_data():
    contexts, rewards = separable(12_000)
    played = Banditron(n_variables=12, n_actions=4, exploration_rate=0.1).play(contexts, rewards)
    mistakes = played.rewards == 0.0
    greedy = mistakes[played.propensities > 0.5]  # what is drawn at random errs for ever
    assert greedy[:200].mean() > 0.1
    assert greedy[-4000:].mean() < 0.01  # not none: the steps of right answers are zero on average only
    assert mistakes[-4000:].mean() < 0.1 * 3 / 4 + 0.03


def test_actions_are_drawn_with_their_propensities():
    contexts, rewards = separable(2000)
    policy = Banditron(n_variables=12, n_actions=4, exploration_rate=0.4)
    policy.play(contexts, rewards)
    n_draws = 20_000
    decisions = policy.decide_many(np.repeat(contexts[:1], n_draws, axis=0))
    for action in range(4):
        of_action = decisions.actions == action
        (propensity,) = set(decisions.propensities[of_action].tolist())
        assert of_action.mean() == pytest.approx(propensity, abs=5 * np.sqrt(0.25 / n_draws))


def test_the_best_available_action_is_preferred():
    contexts, rewards = separable(4000)
    policy = Banditron(n_variables=12, n_actions=4, exploration_rate=0.01)
    policy.play(contexts, rewards)
    right = int(rewards[0].argmax())
    others = [action for action in range(4) if action != right]
    assert policy.decide(contexts[0], available_actions=[right, others[0]]) == (right, pytest.approx(0.995))
    assert policy.decide(contexts[0], available_actions=[others[1]]) == (others[1], 1.0)
    decisions = policy.decide_many(np.repeat(contexts[:1], 500, axis=0), available_actions=others)
    assert right not in decisions.actions


def test_play_equals_decide_and_learn_and_a_copy_goes_on_alike():
    contexts, rewards = separable(300)
    played = Banditron(n_variables=12, n_actions=4).play(contexts, rewards)
    policy = Banditron(n_variables=12, n_actions=4)
    policy.play(contexts[:100], rewards[:100])
    copied = copy.deepcopy(policy)
    for event in range(100, 300):
        decision = policy.decide(contexts[event])
        assert decision == (played.actions[event], played.propensities[event])
        policy.learn(contexts[event], decision.action, rewards[event, decision.action], propensity=decision.propensity)
    np.testing.assert_array_equal(copied.play(contexts[100:], rewards[100:]).actions, played.actions[100:])


def test_an_event_that_another_policy_thought_impossible_does_not_decide_for_ever():
    policy = Banditron(n_variables=1, n_actions=2, exploration_rate=0.1)
    policy.learn([1], 1, 1.0, propensity=5e-324)
    assert policy.decide([1]).action == 1
    for _ in range(20):
        policy.learn([1], 0, 1.0, propensity=0.5)
    assert policy.decide([1]).action == 0


@pytest.mark.parametrize("exploration_rate", [0.0, -0.1, 1.5, float("nan"), "much", True])
def test_a_wrong_exploration_is_refused(exploration_rate):
    with pytest.raises(InvalidArgumentError, match=r"The 'exploration_rate' of Banditron must be a number in \(0, 1\]"):
        Banditron(n_variables=2, n_actions=2, exploration_rate=exploration_rate)


@pytest.mark.parametrize(
    ("n_variables", "n_actions", "sentence"),
    [
        (
            2**40,
            2,
            "The 'n_variables' of Banditron must be at most 134217728 with 2 actions. Got 1099511627776 instead.",
        ),
        (2, 2**70, "The 'n_actions' of Banditron must be an int in [1, 65536]. Got 1180591620717411303424 instead."),
    ],
)
def test_sizes_beyond_memory_are_refused(n_variables, n_actions, sentence):
    with pytest.raises(InvalidArgumentError) as caught:
        Banditron(n_variables=n_variables, n_actions=n_actions)
    assert str(caught.value) == sentence
