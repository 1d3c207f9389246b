"""Learning and evaluating in one pass: against a fixed policy, and against life itself."""

from __future__ import annotations

import numpy as np
import pytest
from logs import changed, honest_log

from bandit_forest import BanditForest, InvalidArgumentError
from bandit_forest.evaluation import Log, learn_along, replay
from bandit_forest.simulation import simulate
from bandit_forest.worlds import HiddenTree

WORLD = HiddenTree(n_variables=10, n_actions=3, depth=2, noise=0.1)


def uniform_log(n_events: int, seed: int) -> Log:
    """Return a log of uniform play in the world."""
    rng = np.random.default_rng(seed)
    (batch,) = WORLD.batches(n_events, seed=seed, batch_size=n_events)
    actions = rng.integers(0, 3, n_events)
    return Log(
        actions=actions,
        rewards=batch.rewards[np.arange(n_events), actions],
        propensities=np.full(n_events, 1 / 3),
        contexts=batch.contexts,
        action_names=3,
    )


def forest(seed: int) -> BanditForest:
    return BanditForest(n_variables=10, n_actions=3, n_trees=10, seed=seed)


def test_replay_earns_what_the_forest_earns_alive():
    replayed = replay(uniform_log(9000, 1), forest(2))
    assert 2700 < replayed.n_accepted < 3300
    (lived,) = simulate(forest(2), WORLD, n_events=replayed.n_accepted, seed=3)
    assert replayed.estimate.value == pytest.approx(lived.average_reward, abs=0.04)


def test_learning_along_beats_the_log_it_learns_from():
    policy = forest(2)
    along = learn_along(uniform_log(9000, 1), policy)
    assert policy.n_events == along.n_events == 9000
    assert along.logged.value == pytest.approx(1 / 3, abs=0.03)
    assert along.gain.low > 0.3
    assert along.gain.value == pytest.approx(along.doubly_robust.value - along.logged.value)
    assert along.doubly_robust.value == pytest.approx(along.snips.value, abs=0.03)


class Fixed:
    """Takes the first action with probability 0.8, and learns nothing."""

    n_actions = 3

    def propensities_many(self, contexts, *, available_actions=None):
        return np.tile([0.8, 0.1, 0.1], (len(contexts), 1))

    def mean_rewards_many(self, contexts):
        return np.full((len(contexts), 3), 0.5)

    def learn_many(self, contexts, actions, rewards, *, propensities):
        assert len(contexts) == len(actions) == len(rewards) == len(propensities)


def test_a_policy_that_never_learns_has_its_true_value():
    log, means = honest_log(20_000)
    truth = (means @ [0.8, 0.1, 0.1]).mean()
    along, replayed = learn_along(log, Fixed()), replay(log, Fixed(), bound=25)
    for estimate in (along.doubly_robust, along.snips, replayed.estimate):
        assert abs(estimate.value - truth) < 4 * estimate.standard_error
    assert replayed.n_accepted < len(log) / 20


def test_unknown_rewards_and_ranges():
    log = uniform_log(500, 1)
    rewards = np.where(np.arange(500) % 2, np.nan, 4 * log.rewards - 2)
    other = changed(log, rewards=rewards, reward_range=(-2, 2))
    assert learn_along(other, forest(1)).n_events == 250
    assert replay(other, forest(1)).n_events == 250


def test_a_wrong_bound_is_refused():
    with pytest.raises(InvalidArgumentError, match="'bound' of replay"):
        replay(uniform_log(10, 1), forest(1), bound=0.5)
