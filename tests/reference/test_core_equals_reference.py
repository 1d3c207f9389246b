"""The compiled forest makes the same decisions as the specification, on random worlds and settings."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bandit_forest import BanditForest, Elimination
from bandit_forest.forest.tree import STATUSES
from bandit_forest.reference.forest import ReferenceForest
from bandit_forest.rules import RoundRobin, UniformOverRemaining
from random_world import world

pytestmark = pytest.mark.core

PHASES = (Phase.explicit, Phase.generate)  # a failing example is small enough; shrinking one takes minutes

TOLERANCES = st.one_of(st.just(0.0), st.just((0.4, 0.8)), st.floats(0.0, 0.99))
GROWTHS = st.builds(
    Elimination,
    delta=st.floats(0.01, 1.0),
    tolerance=TOLERANCES,
    remaining_actions=st.sampled_from(["all", "path", "inherited"]),
    estimate=st.sampled_from(["plays", "visits", "scaled", "weights"]),
    test_interval=st.sampled_from([1, 2, 7, 64, 100]),
)
QUORUMS = st.sampled_from([0.1, 0.5, 1.0])
EXPLORATIONS = st.one_of(
    st.builds(RoundRobin, quorum=QUORUMS),
    st.builds(UniformOverRemaining, draw=st.sampled_from(["union", "tree"]), quorum=QUORUMS),
)
DEPTHS = st.one_of(st.integers(1, 4), st.just((1, 3)), st.just((2, 5)))


@st.composite
def forests(draw):
    """Parameters of a forest small enough for the reference."""
    return {
        "n_variables": draw(st.sampled_from([1, 2, 3, 5, 8, 63, 64, 65])),
        "n_actions": draw(st.sampled_from([2, 3, 7, 66])),
        "n_trees": draw(st.integers(1, 6)),
        "max_depth": draw(DEPTHS),
        "variable_share": draw(st.sampled_from([1.0, 0.8, 0.3])),
        "growth": draw(GROWTHS),
        "exploration": draw(EXPLORATIONS),
        "max_nodes": draw(st.sampled_from([1, 5, 2**20])),
        "seed": draw(st.integers(0, 2**64 - 1)),
    }


def assert_same_trees(core, reference):
    for number, tree in enumerate(reference.trees):
        nodes = core.tree(number).nodes
        assert core.tree(number).max_depth == tree.max_depth
        assert len(nodes) == len(tree.nodes)
        for row, node in enumerate(tree.nodes):
            assert nodes.parent[row] == node.parent
            assert nodes.depth[row] == node.depth
            assert STATUSES[nodes.status[row]] == node.status
            assert nodes.variable[row] == (-1 if node.variable is None else node.variable)
            assert nodes.child[row] == (-1 if node.child is None else node.child)
            assert nodes.tolerance[row] == node.tolerance
            assert nodes.visits[row] == node.visits
            np.testing.assert_array_equal(nodes.plays[row], node.tally.plays)
            np.testing.assert_array_equal(np.flatnonzero(nodes.remaining_actions[row]), node.remaining_actions)
            np.testing.assert_array_equal(np.flatnonzero(nodes.remaining_variables[row]), node.remaining_variables)
            played = node.tally.plays > 0
            means = node.tally.gain[played] / node.tally.weight[played]
            np.testing.assert_array_equal(nodes.mean_rewards[row][played], means)


@pytest.mark.slow
@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], phases=PHASES
)
@given(parameters=forests(), fractional=st.booleans(), seed=st.integers(0, 2**32 - 1))
def test_play_is_identical(parameters, fractional, seed):
    core, reference = BanditForest(**parameters), ReferenceForest(**parameters)
    contexts, rewards = world(parameters, n_events=400, fractional=fractional, seed=seed)
    played, expected = core.play(contexts, rewards), reference.play(contexts, rewards)
    np.testing.assert_array_equal(played.actions, expected.actions)
    np.testing.assert_array_equal(played.propensities, expected.propensities)
    np.testing.assert_array_equal(played.rewards, expected.rewards)
    assert_same_trees(core, reference)
    for context in contexts[:20]:
        plan = reference.plan(context)
        np.testing.assert_array_equal(core.votes(context), plan.votes)
        np.testing.assert_array_equal(core.propensities(context), plan.probabilities)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], phases=PHASES)
@given(parameters=forests(), seed=st.integers(0, 2**32 - 1))
def test_late_and_foreign_rewards_and_available_actions_are_identical(parameters, seed):
    core, reference = BanditForest(**parameters), ReferenceForest(**parameters)
    contexts, rewards = world(parameters, n_events=100, fractional=True, seed=seed)
    rng = np.random.default_rng(seed)
    waiting = []
    for context, reward in zip(contexts, rewards, strict=True):
        n_available = rng.integers(1, parameters["n_actions"] + 1)
        available = rng.permutation(parameters["n_actions"])[:n_available]
        decision = core.decide(context, available_actions=available)
        assert decision == reference.decide(context, available_actions=available)
        assert decision.action in available
        waiting.append((context, decision.action, reward[decision.action], decision.propensity))
        foreign = (context, int(rng.integers(parameters["n_actions"])), float(rng.random()), float(rng.uniform(0.1, 1)))
        waiting.append(foreign)
        if rng.random() < 0.3:
            rng.shuffle(waiting)
            for late in waiting:
                core.learn(*late[:3], propensity=late[3])
                reference.learn(*late[:3], propensity=late[3])
            waiting.clear()
    assert_same_trees(core, reference)


def easy_parameters(**changes):
    return {
        "n_variables": 6,
        "n_actions": 2,
        "n_trees": 3,
        "max_depth": 2,
        "variable_share": 0.8,
        "growth": Elimination(
            delta=0.5, tolerance=(0.4, 0.8), remaining_actions="path", estimate="visits", test_interval=4
        ),
        "exploration": UniformOverRemaining(draw="tree", quorum=0.5),
        "seed": 3,
    } | changes


@pytest.mark.parametrize(
    "exploration", [RoundRobin(), UniformOverRemaining(draw="union"), UniformOverRemaining(draw="tree", quorum=0.5)]
)
@pytest.mark.parametrize("remaining", ["all", "path", "inherited"])
@pytest.mark.parametrize("test_interval", [4, 100])
@pytest.mark.parametrize("estimate", ["plays", "weights"])
def test_forests_that_grow_and_settle_are_identical(exploration, remaining, test_interval, estimate):
    growth = Elimination(
        delta=0.5, tolerance=(0.4, 0.8), remaining_actions=remaining, test_interval=test_interval, estimate=estimate
    )
    parameters = easy_parameters(exploration=exploration, growth=growth)
    core, reference = BanditForest(**parameters), ReferenceForest(**parameters)
    contexts, rewards = world(parameters, n_events=6000, fractional=False, seed=9)
    np.testing.assert_array_equal(core.play(contexts, rewards).actions, reference.play(contexts, rewards).actions)
    assert_same_trees(core, reference)
    # The comparison is worth something only if trees have split to their last level and settled there.
    last_levels = [tree.nodes for tree in map(core.tree, range(3)) if (tree.nodes.depth == 2).any()]
    assert any((nodes.remaining_actions[nodes.depth == 2].sum(axis=1) == 1).any() for nodes in last_levels)


@pytest.mark.parametrize("estimate", ["visits", "weights"])
def test_a_full_tree_goes_on_deciding_and_learning(estimate):
    parameters = easy_parameters(max_nodes=3)
    parameters["growth"] = replace(parameters["growth"], estimate=estimate)
    core, reference = BanditForest(**parameters), ReferenceForest(**parameters)
    contexts, rewards = world(parameters, n_events=4000, fractional=False, seed=9)
    np.testing.assert_array_equal(core.play(contexts, rewards).actions, reference.play(contexts, rewards).actions)
    assert_same_trees(core, reference)
    assert len(core.tree(0).nodes) == 3
    leaves = core.tree(0).nodes.visits[1:]
    core.play(contexts, rewards)
    assert (core.tree(0).nodes.visits[1:] > leaves).all()
