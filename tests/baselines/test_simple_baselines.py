"""The baselines without contexts, against arithmetic done by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bandit_forest.baselines import UCB, SuccessiveElimination, Uniform
from bandit_forest.errors import InvalidArgumentError
from bandit_forest.randomness import DECISION, draw


def bernoulli(means: list[float], n_events: int, *, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return contexts that do not matter and a reward table with these means."""
    rewards = np.random.default_rng(seed).random((n_events, len(means))) < means
    return np.zeros((n_events, 1), np.uint8), rewards.astype(float)


def test_uniform_draws_by_the_number_of_the_decision():
    policy = Uniform(n_variables=1, n_actions=5, seed=3)
    actions = policy.decide_many(np.zeros((50, 1))).actions
    assert actions.tolist() == [int(5 * draw(3, DECISION, number)) for number in range(50)]


def test_uniform_takes_every_action_equally_often():
    policy = Uniform(n_variables=1, n_actions=4, seed=0)
    counts = np.bincount(policy.decide_many(np.zeros((4000, 1))).actions, minlength=4)
    assert np.abs(counts - 1000).max() < 6 * math.sqrt(4000 * 0.25 * 0.75)


def test_uniform_takes_every_available_action_equally_often():
    policy = Uniform(n_variables=1, n_actions=5, seed=0)
    decisions = policy.decide_many(np.zeros((4000, 1)), available_actions=[4, 1])
    assert set(decisions.actions.tolist()) == {1, 4}
    assert abs(np.count_nonzero(decisions.actions == 4) - 2000) < 6 * math.sqrt(4000 * 0.25)
    assert (decisions.propensities == 0.5).all()


def test_uniform_learns_nothing():
    taught, fresh = (Uniform(n_variables=1, n_actions=3, seed=1) for _ in range(2))
    taught.learn_many([[0]] * 100, [2] * 100, [1.0] * 100, propensities=[1.0] * 100)
    assert taught.decide_many([[0]] * 50).actions.tolist() == fresh.decide_many([[0]] * 50).actions.tolist()


@pytest.mark.parametrize("seed", [-1, 1.5, None, "0", True])
def test_uniform_refuses_a_seed(seed):
    with pytest.raises(InvalidArgumentError, match="The 'seed' of Uniform must be an int of at least 0"):
        Uniform(n_variables=1, n_actions=2, seed=seed)


def naive_ucb1(rewards: np.ndarray) -> list[int]:
    """UCB1 as Auer et al. (2002) print it."""
    n_actions = rewards.shape[1]
    earned: list[list[float]] = [[] for _ in range(n_actions)]
    actions = []
    for n, row in enumerate(rewards):
        if n < n_actions:
            action = n
        else:
            bounds = [sum(r) / len(r) + math.sqrt(2 * math.log(n) / len(r)) for r in earned]
            action = bounds.index(max(bounds))
        earned[action].append(row[action])
        actions.append(action)
    return actions


@pytest.mark.parametrize("seed", range(5))
def test_ucb_with_prompt_rewards_is_ucb1(seed):
    contexts, rewards = bernoulli([0.3, 0.5, 0.45, 0.7], 1000, seed=seed)
    assert UCB(n_variables=1, n_actions=4).play(contexts, rewards).actions.tolist() == naive_ucb1(rewards)


def test_ucb_explores_while_no_reward_comes():
    actions = UCB(n_variables=1, n_actions=4).decide_many(np.zeros((40, 1))).actions
    assert np.bincount(actions).tolist() == [10] * 4


def test_ucb_explores_within_a_batch_after_it_has_learned():
    policy = UCB(n_variables=1, n_actions=2)
    policy.learn_many([[0]] * 20, [0, 1] * 10, [0.5, 0.4] * 10, propensities=[0.5] * 20)
    batch = policy.decide_many(np.zeros((40, 1))).actions
    assert set(batch.tolist()) == {0, 1}


def test_ucb_counts_a_late_reward_once():
    late, prompt = (UCB(n_variables=1, n_actions=2) for _ in range(2))
    contexts, rewards = bernoulli([0.2, 0.8], 2, seed=0)
    prompt.play(contexts, rewards)
    actions = late.decide_many(contexts).actions
    late.learn_many(contexts, actions, rewards[[0, 1], actions], propensities=[1.0, 1.0])
    contexts, rewards = bernoulli([0.2, 0.8], 200, seed=1)
    assert late.play(contexts, rewards).actions.tolist() == prompt.play(contexts, rewards).actions.tolist()


def test_ucb_learns_from_events_that_another_policy_decided():
    policy = UCB(n_variables=1, n_actions=2)
    policy.learn_many([[0]] * 2000, [0, 1] * 1000, [0.9, 0.1] * 1000, propensities=[0.5] * 2000)
    assert set(policy.decide_many(np.zeros((100, 1))).actions.tolist()) == {0}


def test_ucb_has_the_regret_of_its_theorem():
    contexts, rewards = bernoulli([0.3, 0.6, 0.5], 20_000, seed=2)
    actions = UCB(n_variables=1, n_actions=3).play(contexts, rewards).actions
    gaps = np.array([0.3, 0.0, 0.1])
    bound = sum(8 * math.log(20_000) / gap for gap in (0.3, 0.1)) + (1 + math.pi**2 / 3) * gaps.sum()
    assert gaps[actions].sum() < bound


def test_elimination_happens_at_the_first_round_that_allows_it():
    """With rewards 1 and 0 an action goes in the first round t with 1 >= 2 sqrt(log(8 t^2 / delta) / 2 t)."""
    expected = next(t for t in range(1, 1000) if 2 * math.sqrt(math.log(8 * t**2 / 0.05) / (2 * t)) <= 1)
    policy = SuccessiveElimination(n_variables=1, n_actions=2, delta=0.05)
    policy.play(np.zeros((2 * expected - 1, 1)), np.tile([0.0, 1.0], (2 * expected - 1, 1)))
    assert policy.remaining_actions == (0, 1)
    policy.play([[0]], [[0.0, 1.0]])
    assert policy.remaining_actions == (1,)
    assert set(policy.decide_many(np.zeros((20, 1))).actions.tolist()) == {1}


def test_elimination_plays_in_rotation_while_no_reward_comes():
    actions = SuccessiveElimination(n_variables=1, n_actions=3).decide_many(np.zeros((9, 1))).actions
    assert actions.tolist() == [0, 1, 2] * 3


def test_elimination_waits_for_the_action_with_the_fewest_rewards():
    policy = SuccessiveElimination(n_variables=1, n_actions=2)
    policy.learn_many([[0]] * 500, [0] * 500, [0.0] * 500, propensities=[1.0] * 500)
    policy.learn([0], 1, 1.0, propensity=1.0)
    assert policy.remaining_actions == (0, 1)
    assert policy.decide([0]).action == 1


def test_elimination_takes_the_best_available_action_when_all_available_are_eliminated():
    policy = SuccessiveElimination(n_variables=1, n_actions=3)
    policy.play(np.zeros((1000, 1)), np.tile([0.1, 0.4, 1.0], (1000, 1)))
    assert policy.remaining_actions == (2,)
    assert policy.decide([0], available_actions=[0, 1]) == (1, 1.0)


def test_elimination_rarely_loses_the_best_action():
    """At most a share delta of runs may lose it; the union bound leaves room, so 200 runs see none."""
    lost = 0
    for seed in range(200):
        policy = SuccessiveElimination(n_variables=1, n_actions=3, delta=0.1)
        policy.play(*bernoulli([0.3, 0.7, 0.4], 400, seed=seed))
        lost += 1 not in policy.remaining_actions
    assert lost <= 0.1 * 200


@pytest.mark.parametrize("delta", [0, -0.1, 1.5, math.nan, None, "0.1", True])
def test_elimination_refuses_a_delta(delta):
    with pytest.raises(InvalidArgumentError, match="The 'delta' of SuccessiveElimination must be"):
        SuccessiveElimination(n_variables=1, n_actions=2, delta=delta)


@pytest.mark.parametrize("policy", [SuccessiveElimination, UCB])
@pytest.mark.parametrize("n_actions", [2**16 + 1, 2**70])
def test_more_actions_than_memory_holds_are_refused(policy, n_actions):
    with pytest.raises(
        InvalidArgumentError, match=rf"The 'n_actions' of {policy.__name__} must be an int in \[1, 65536\]"
    ):
        policy(n_variables=1, n_actions=n_actions)
