"""Worlds in which actions have features."""

import itertools

import numpy as np
import pytest

from bandit_forest import InvalidArgumentError
from bandit_forest.worlds.pairs import BilinearPairs, TreePairs

WORLDS = [TreePairs, BilinearPairs]


@pytest.mark.parametrize("kind", WORLDS)
def test_the_same_seed_gives_the_same_stream(kind):
    world = kind(n_actions=50, n_offered=4)
    for first, second in zip(world.events(20, seed=3), world.events(20, seed=3), strict=True):
        for ours, theirs in zip(first, second, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("kind", WORLDS)
def test_rewards_are_drawn_with_the_expected_rewards(kind):
    world = kind(n_actions=20, n_offered=20)
    offers = list(world.events(2000, seed=1))
    rewards = np.concatenate([offer.rewards for offer in offers])
    expected = np.concatenate([offer.expected for offer in offers])
    assert abs(rewards.mean() - expected.mean()) < 0.02
    assert abs(rewards[expected > 0.7].mean() - expected[expected > 0.7].mean()) < 0.03


def test_actions_come_and_go():
    world = TreePairs(n_actions=30, n_offered=10, replaced_share=0.1, replaced_every=100)
    offers = list(world.events(300, seed=0))
    assert max(offer.ids.max() for offer in offers[:100]) < 30
    assert {int(number) for offer in offers[200:] for number in offer.ids} >= {33, 34, 35}
    seen: dict[int, int] = {}
    features: dict[int, np.ndarray] = {}
    for offer in offers:
        assert len(set(offer.ids.tolist())) == 10
        for number, action, appearances in zip(offer.ids.tolist(), offer.actions, offer.appearances, strict=True):
            assert seen.get(number, 0) == appearances
            seen[number] = seen.get(number, 0) + 1
            np.testing.assert_array_equal(features.setdefault(number, action), action)


def test_the_tree_tests_two_features_of_each_side():
    world = TreePairs(n_context_features=4, n_action_features=5, structure_seed=2)
    rng = np.random.default_rng(0)
    matters = np.zeros(9, dtype=bool)
    for _, feature in itertools.product(range(300), range(9)):
        pair = rng.random(9)
        other = pair.copy()
        other[feature] = rng.random()
        before, after = (world.expected_rewards(each[:4], each[None, 4:])[0] for each in (pair, other))
        matters[feature] |= before != after
    assert matters[:4].sum() == 2
    assert matters[4:].sum() == 2


def test_more_offered_than_there_are_is_refused():
    with pytest.raises(InvalidArgumentError, match="The 'n_offered' of TreePairs must be"):
        TreePairs(n_actions=5, n_offered=6)
