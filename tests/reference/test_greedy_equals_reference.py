"""The compiled greedy forest makes the same decisions as its specification, on random streams and settings."""

import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bandit_forest import BanditForest
from bandit_forest.reference.greedy import GreedyReferenceForest
from bandit_forest.rules import Greedy, InverseGap
from random_world import world

pytestmark = pytest.mark.core

GROWTHS = st.builds(
    Greedy,
    min_events=st.sampled_from([2, 5, 20, 64, 65]),
    min_gain=st.sampled_from([0.0, 2.0, 8.0]),
    shrinkage=st.sampled_from([0.5, 1.0, 3.7]),
    n_thresholds=st.sampled_from([1, 4]),
    renewal_work=st.sampled_from([1, 8, 64, 10_000]),
    log_capacity=st.sampled_from([None, None, 256]),
    lifetime=st.sampled_from([None, None, 1, 100, 128]),
    linear=st.booleans(),
)


@st.composite
def forests(draw):
    n_variables = draw(st.sampled_from([1, 2, 5, 63, 64, 70]))
    ordered = draw(st.sets(st.integers(0, n_variables - 1), max_size=4))
    return {
        "n_variables": n_variables,
        "n_actions": draw(st.sampled_from([2, 3, 7, 8, 66])),
        "thresholds": {variable: range(1, draw(st.sampled_from([3, 4, 10, 256]))) for variable in ordered},
        "n_trees": draw(st.sampled_from([1, 2, 4, 5, 9])),
        "max_depth": draw(st.sampled_from([1, 3, (2, 6), 40])),
        "variable_share": draw(st.sampled_from([0.05, 0.3, 0.5, 1.0])),
        "growth": draw(GROWTHS),
        "exploration": InverseGap(
            gamma_scale=draw(st.sampled_from([0.5, 10.0, 100.0])),
            optimism=draw(st.sampled_from([0.0, 0.3, 1.0])),
            linear_optimism=draw(st.sampled_from([0.0, 0.3])),
        ),
        "max_nodes": draw(st.sampled_from([1, 7, 2**17])),
        "seed": draw(st.integers(0, 2**64 - 1)),
    }


def assert_same_trees(core, reference):
    for number, tree in enumerate(reference.trees):
        nodes = core.tree(number).nodes
        assert core.tree(number).max_depth == tree.max_depth
        assert len(nodes) == len(tree.nodes)
        for row, node in enumerate(tree.nodes):
            assert nodes.depth[row] == node.depth
            test = (-1, -1) if node.split is None else node.split.test
            assert (nodes.variable[row], nodes.threshold[row]) == test
            assert nodes.gain[row] == np.float32(0.0 if node.split is None else node.split.gain)
            if node.split is None:
                np.testing.assert_array_equal(nodes.plays[row], node.counts)
                np.testing.assert_array_equal(nodes.mean_rewards[row], node.means)


@pytest.mark.slow
@settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    phases=(Phase.explicit, Phase.generate),
)
@given(parameters=forests(), fractional=st.booleans(), seed=st.integers(0, 2**32 - 1))
def test_play_is_identical(parameters, fractional, seed):
    core, reference = BanditForest(**parameters), GreedyReferenceForest(**parameters)
    contexts, rewards = world(parameters, n_events=400, fractional=fractional, seed=seed)
    played, expected = core.play(contexts, rewards), reference.play(contexts, rewards)
    np.testing.assert_array_equal(played.actions, expected.actions)
    np.testing.assert_array_equal(played.propensities, expected.propensities)
    assert_same_trees(core, reference)
    for context in contexts[:10]:
        np.testing.assert_array_equal(core.mean_rewards(context), reference.mean_rewards(context))
        np.testing.assert_array_equal(core.votes(context), reference.votes(context))
        np.testing.assert_array_equal(core.propensities(context), reference.probabilities(context))


@pytest.mark.parametrize("fractional", [False, True])
def test_a_forest_that_grows_is_identical(fractional):
    parameters = {"n_variables": 10, "n_actions": 3, "n_trees": 4, "growth": Greedy(min_events=30), "seed": 5}
    parameters |= {"max_depth": 40, "variable_share": 0.5, "exploration": InverseGap()}
    core, reference = BanditForest(**parameters), GreedyReferenceForest(**parameters)
    contexts, rewards = world(parameters, n_events=4000, fractional=fractional, seed=1)
    np.testing.assert_array_equal(core.play(contexts, rewards).actions, reference.play(contexts, rewards).actions)
    assert_same_trees(core, reference)
    assert max(len(core.tree(number).nodes) for number in range(4)) >= 7


def test_available_actions_and_late_rewards_are_identical():
    parameters = {"n_variables": 6, "n_actions": 4, "n_trees": 3, "growth": Greedy(min_events=20), "seed": 8}
    parameters |= {"max_depth": 40, "variable_share": 0.5, "exploration": InverseGap()}
    core, reference = BanditForest(**parameters), GreedyReferenceForest(**parameters)
    contexts, rewards = world(parameters, n_events=1500, fractional=True, seed=2)
    rng = np.random.default_rng(0)
    waiting = []
    for context, reward in zip(contexts, rewards, strict=True):
        available = rng.permutation(4)[: rng.integers(1, 5)]
        decision = core.decide(context, available_actions=available)
        assert decision == reference.decide(context, available_actions=available)
        waiting.append((context, decision.action, reward[decision.action]))
        if len(waiting) == 10:
            rng.shuffle(waiting)
            for late in waiting:
                core.learn(*late, propensity=1.0)
                reference.learn(*late, propensity=1.0)
            waiting.clear()
    assert_same_trees(core, reference)


@pytest.mark.parametrize("linear", [True, False])
def test_the_core_equals_the_reference_where_a_world_changes(linear):
    parameters = {"n_variables": 6, "n_actions": 2, "n_trees": 6, "growth": Greedy(lifetime=800, linear=linear)}
    parameters |= {"max_depth": 40, "variable_share": 0.5, "exploration": InverseGap()}
    core, reference = BanditForest(**parameters), GreedyReferenceForest(**parameters)
    contexts = np.random.default_rng(3).integers(0, 2, (1200, 6), dtype=np.uint8)
    earns = np.stack([contexts[:, 0], 1 - contexts[:, 0]], axis=1)
    earns[700:] = 1 - earns[700:]
    reloaded = None
    for number, (context, rewards) in enumerate(zip(contexts, earns, strict=True)):
        decision = core.decide(context)
        assert decision == reference.decide(context)
        for forest in (core, reference):
            forest.learn(context, decision.action, float(rewards[decision.action]), propensity=1.0)
        if number == 710:
            reloaded = pickle.loads(pickle.dumps(core))
        elif reloaded is not None:
            assert reloaded.decide(context) == decision
            reloaded.learn(context, decision.action, float(rewards[decision.action]), propensity=1.0)
    assert_same_trees(core, reference)
    assert {renewals.changed_with for renewals in reference.renewals} == {700}
    assert reloaded is not None
    assert reloaded.__getstate__() == core.__getstate__()


@pytest.mark.parametrize("n_threads", [2, 3, 8])
def test_threads_change_nothing(n_threads):
    parameters = {"n_variables": 20, "n_actions": 4, "n_trees": 50, "growth": Greedy(min_events=20, lifetime=900)}
    contexts, rewards = world(parameters, n_events=3000, fractional=True, seed=4)
    alone, together = BanditForest(**parameters), BanditForest(**parameters, n_threads=n_threads)
    first, second = slice(0, 1500), slice(1500, None)
    played, expected = (forest.play(contexts[first], rewards[first]) for forest in (together, alone))
    np.testing.assert_array_equal(played.actions, expected.actions)
    np.testing.assert_array_equal(played.propensities, expected.propensities)
    actions = np.random.default_rng(0).integers(0, 4, 1500)
    for forest in (together, alone):
        forest.learn_many(contexts[second], actions, rewards[second, 0], propensities=np.full(1500, 0.25))
    assert together.__getstate__() == alone.__getstate__()
