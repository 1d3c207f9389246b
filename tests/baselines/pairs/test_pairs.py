"""Shared and hybrid LinUCB against the article's words."""

import numpy as np
import pytest

from bandit_forest import InvalidArgumentError
from bandit_forest.baselines.pairs import HybridLinUCB, SharedLinUCB
from bandit_forest.baselines.pairs.numbers import products
from bandit_forest.worlds.pairs import BilinearPairs


class Literal:
    """Algorithm 2 of Li et al. (2010), line by line."""

    def __init__(self, n_shared, n_own, width):
        self.a0, self.b0, self.width = np.eye(n_shared), np.zeros(n_shared), width
        self.n_own, self.actions = n_own, {}

    def bounds(self, z, x, names):
        beta = np.linalg.solve(self.a0, self.b0)
        bounds = []
        for row, name in zip(z, names, strict=True):
            a, b_, b = self.actions.setdefault(
                name, (np.eye(self.n_own), np.zeros((self.n_own, len(row))), np.zeros(self.n_own))
            )
            theta = np.linalg.solve(a, b - b_ @ beta)
            inverse, inverse0 = np.linalg.inv(a), np.linalg.inv(self.a0)
            s = row @ inverse0 @ row - 2 * row @ inverse0 @ b_.T @ inverse @ x + x @ inverse @ x
            s += x @ inverse @ b_ @ inverse0 @ b_.T @ inverse @ x
            bounds.append(row @ beta + x @ theta + self.width * np.sqrt(s))
        return np.array(bounds)

    def learn(self, z, x, name, reward):
        a, b_, b = self.actions[name]
        self.a0 = self.a0 + b_.T @ np.linalg.solve(a, b_)
        self.b0 = self.b0 + b_.T @ np.linalg.solve(a, b)
        a, b_, b = a + np.outer(x, x), b_ + np.outer(x, z), b + reward * x
        self.actions[name] = (a, b_, b)
        self.a0 = self.a0 + np.outer(z, z) - b_.T @ np.linalg.solve(a, b_)
        self.b0 = self.b0 + reward * z - b_.T @ np.linalg.solve(a, b)


def test_hybrid_is_the_article_s_algorithm():
    world = BilinearPairs(n_context_features=3, n_action_features=4, n_actions=12, n_offered=5)
    policy = HybridLinUCB(n_context_features=3, n_action_features=4, width=0.5)
    literal = Literal(16, 4, 0.5)
    for offer in world.events(300, seed=1):
        names = offer.ids.tolist()
        z, x = products(offer.context, offer.actions), np.append(offer.context, 1.0)
        bounds = literal.bounds(z, x, names)
        action = policy.decide(offer.context, offer.actions, names=names).action
        assert bounds[action] >= bounds.max() - 1e-9
        literal.learn(z[action], x, names[action], offer.rewards[action])
        policy.learn(offer.context, offer.actions[action], offer.rewards[action], propensity=1.0, name=names[action])


def test_shared_is_ridge_regression():
    rng = np.random.default_rng(0)
    policy = SharedLinUCB(n_context_features=2, n_action_features=2, width=0.0)
    contexts, actions, rewards = rng.random((100, 2)), rng.random((100, 2)), rng.random(100)
    for context, action, reward in zip(contexts, actions, rewards, strict=True):
        policy.learn(context, action, reward, propensity=1.0)
    rows = np.vstack(
        [products(context, np.append(action, 1.0)[None]) for context, action in zip(contexts, actions, strict=True)]
    )
    weights = np.linalg.solve(rows.T @ rows + np.eye(9), rows.T @ rewards)
    offered = rng.random((50, 2))
    expected = products(contexts[0], np.hstack([offered, np.ones((50, 1))])) @ weights
    assert policy.decide(contexts[0], offered).action == expected.argmax()


@pytest.mark.parametrize("kind", [SharedLinUCB, HybridLinUCB])
def test_wrong_calls_are_refused(kind):
    policy = kind(n_context_features=2, n_action_features=1)
    for context, actions in (([0.0], [[0.0]]), ([0.0, np.nan], [[0.0]]), ([0.0, 1.0], []), ([0.0, 1.0], [["x"]])):
        with pytest.raises(InvalidArgumentError, match=f"of {kind.__name__}.decide must be"):
            policy.decide(context, actions, names=["a"])


def test_names_that_cannot_be_looked_up_are_refused():
    policy = HybridLinUCB(n_context_features=1, n_action_features=1)
    for names in ([["a"]], [([1],)], None, 7, "a", ["a", "b"]):
        with pytest.raises(InvalidArgumentError, match=r"The 'names' of HybridLinUCB\.decide must be"):
            policy.decide([0.0], [[0.0]], names=names)
    for name in (["a"], ([1],)):
        with pytest.raises(InvalidArgumentError, match=r"The 'name' of HybridLinUCB\.learn must be"):
            policy.learn([0.0], [0.0], 1.0, propensity=1.0, name=name)
