"""Synthetic worlds: the same stream whatever the batches, and optima that are known exactly."""

from fractions import Fraction

import numpy as np
import pytest

from bandit_forest.errors import InvalidArgumentError
from bandit_forest.optimal import OptimalTree, expected_gains
from bandit_forest.worlds import Drifting, HiddenTree, Linear, Stump, Table1, World, Xor

STATIONARY = {
    "hidden tree": HiddenTree(n_variables=9),
    "hidden tree, many relevant": HiddenTree(n_variables=12, n_actions=5, n_relevant=9, noise=0.0),
    "hidden tree, correlated": HiddenTree(n_variables=8, correlation=0.6),
    "xor": Xor(n_variables=5),
    "linear, argmax": Linear(n_variables=6, n_actions=4),
    "linear, linear": Linear(n_variables=8, n_actions=3, n_relevant=2, link="linear"),
    "stump, independent": Stump(n_variables=7, n_actions=3),
    "stump, copies": Stump(n_variables=6, n_actions=4, variable_gap=0.1, action_gap=0.3),
    "table 1": Table1(),
}
WORLDS = STATIONARY | {
    "drifting": Drifting(before=HiddenTree(n_variables=9), after=HiddenTree(n_variables=9, noise=0.2), change_at=3000),
    "drifting slowly": Drifting(before=Xor(), after=Xor(structure_seed=1), change_at=2000, change_over=5000),
}
every_world = pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
every_stationary_world = pytest.mark.parametrize("world", STATIONARY.values(), ids=STATIONARY)


def stream(world, n_events, seed, batch_size=10_000):
    batches = list(world.batches(n_events, seed=seed, batch_size=batch_size))
    assert [len(batch.contexts) for batch in batches[:-1]] == [batch_size] * (len(batches) - 1)
    return [np.concatenate(columns) for columns in zip(*batches, strict=True)]


@every_world
def test_a_batch_has_the_shapes_and_values_of_the_protocol(world):
    assert isinstance(world, World)
    contexts, rewards, reference, scored = stream(world, 5000, seed=0)
    assert contexts.shape == (5000, world.n_variables)
    assert contexts.dtype == np.uint8
    assert set(np.unique(contexts)) == {0, 1}
    assert rewards.shape == scored.shape == (5000, world.n_actions)
    assert set(np.unique(rewards)) == {0.0, 1.0}
    assert scored.min() >= 0.0
    assert scored.max() <= 1.0
    np.testing.assert_array_equal(reference, scored.max(axis=1))


@every_world
@pytest.mark.parametrize("batch_size", [1000, 4096, 4097, 20_000])
def test_the_stream_does_not_depend_on_the_batches(world, batch_size):
    whole = stream(world, 9000, seed=3)
    for column, other in zip(whole, stream(world, 9000, seed=3, batch_size=batch_size), strict=True):
        np.testing.assert_array_equal(column, other)


@every_world
def test_a_shorter_stream_is_a_prefix(world):
    for column, other in zip(stream(world, 9000, seed=3), stream(world, 4100, seed=3), strict=True):
        np.testing.assert_array_equal(column[:4100], other)


@every_world
def test_another_seed_is_another_stream(world):
    assert (stream(world, 100, seed=0)[0] != stream(world, 100, seed=1)[0]).any()


@every_world
def test_no_events_are_no_batches(world):
    assert list(world.batches(0, seed=0)) == []


@every_world
def test_rewards_have_the_expected_means(world):
    _, rewards, _, scored = stream(world, 40_000, seed=5)
    np.testing.assert_allclose(rewards.mean(axis=0), scored.mean(axis=0), atol=0.015)  # six standard errors


@every_stationary_world
def test_the_joint_distribution_is_that_of_the_stream(world):
    joint = world.joint_distribution()
    assert len(np.unique(joint.contexts, axis=0)) == len(joint.contexts) == 2**world.n_variables
    weights = joint.weights.astype(np.float64)
    assert weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(joint.rewards.astype(np.float64), world.expected_rewards(joint.contexts))
    contexts = stream(world, 40_000, seed=6)[0]
    powers = 1 << np.arange(world.n_variables)
    frequencies = np.bincount(contexts @ powers, minlength=len(weights)) / len(contexts)
    np.testing.assert_allclose(frequencies[joint.contexts @ powers], weights, atol=0.015)


@every_stationary_world
def test_only_relevant_variables_matter(world):
    contexts = stream(world, 500, seed=7)[0]
    changed = 1 - contexts
    changed[:, world.relevant_variables] = contexts[:, world.relevant_variables]
    np.testing.assert_array_equal(world.expected_rewards(changed), world.expected_rewards(contexts))


@pytest.mark.parametrize("structure_seed", range(10))
@pytest.mark.parametrize(("depth", "n_actions"), [(1, 2), (2, 4), (3, 7)])
def test_a_greedy_tree_finds_the_hidden_tree(structure_seed, depth, n_actions):
    world = HiddenTree(n_variables=7, n_actions=n_actions, depth=depth, structure_seed=structure_seed)
    joint = world.joint_distribution()
    assert len(world.relevant_variables) == depth
    tree = OptimalTree(*joint, max_depth=depth)
    assert tree.expected_reward == pytest.approx(0.95)
    np.testing.assert_array_equal(tree.predict(joint.contexts), joint.rewards.argmax(axis=1))


def test_the_noise_of_a_hidden_tree_flips_rewards():
    world = HiddenTree(noise=0.2)
    assert set(np.unique(world.expected_rewards(stream(world, 100, seed=0)[0]))) == {0.2, 0.8}


def test_neighbours_are_as_correlated_as_asked():
    contexts = stream(HiddenTree(n_variables=10, correlation=0.6), 100_000, seed=0)[0]
    correlations = np.corrcoef(contexts.T)
    distances = np.abs(np.subtract.outer(np.arange(10), np.arange(10)))
    np.testing.assert_allclose(correlations, 0.6**distances, atol=0.02)


def test_no_variable_alone_tells_anything_about_xor():
    world = Xor(n_variables=6, noise=0.1)
    joint = world.joint_distribution()
    np.testing.assert_allclose(expected_gains(*joint), 0.5)
    kept = [*world.relevant_variables]
    tree = OptimalTree(joint.contexts[:, kept], joint.rewards, max_depth=2)
    assert tree.expected_reward == pytest.approx(0.9)


def test_linear_rewards_are_linear():
    world = Linear(n_variables=6, n_actions=4, link="linear")
    origin, everything, *units = world.expected_rewards(np.vstack([np.zeros(6), np.ones(6), np.eye(6)]))
    np.testing.assert_allclose(everything - origin, sum(unit - origin for unit in units))
    extremes = world.joint_distribution().rewards
    np.testing.assert_allclose(extremes.min(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(extremes.max(axis=0), 1.0, atol=1e-12)


@pytest.mark.parametrize("gaps", [{}, {"action_gap": 0.2}, {"variable_gap": 0.05, "action_gap": 0.4}])
@pytest.mark.parametrize("n_actions", [2, 5])
def test_the_gaps_of_a_stump_are_as_asked(gaps, n_actions):
    world = Stump(n_variables=5, n_actions=n_actions, **gaps)
    stump = OptimalTree(*world.joint_distribution(), max_depth=1)
    assert stump.root.variable == world.relevant_variables[0]
    assert [leaf.action for leaf in stump.leaves] == [0, 1]
    assert stump.variable_gap == pytest.approx(world.variable_gap) == gaps.get("variable_gap", world.action_gap)
    assert stump.action_gap == pytest.approx(world.action_gap) == gaps.get("action_gap", 0.4)


def test_a_large_stump_is_drawn_quickly_and_hides_one_variable():
    world = Stump(n_variables=4096, n_actions=32, structure_seed=7)
    contexts, _, reference, scored = stream(world, 3000, seed=0)
    np.testing.assert_array_equal(scored.argmax(axis=1), contexts[:, world.relevant_variables[0]])
    np.testing.assert_allclose(reference, 0.9)


def test_rewards_drift_at_once_or_little_by_little():
    before, after = Xor(n_variables=4, noise=0.0), Xor(n_variables=4, noise=0.3, structure_seed=1)
    sudden = Drifting(before=before, after=after, change_at=5000)
    slow = Drifting(before=before, after=after, change_at=1000, change_over=4000)
    contexts, _, _, scored = stream(sudden, 8000, seed=0)
    np.testing.assert_array_equal(scored[:5000], before.expected_rewards(contexts[:5000]))
    np.testing.assert_array_equal(scored[5000:], after.expected_rewards(contexts[5000:]))
    contexts, _, _, scored = stream(slow, 8000, seed=0)
    np.testing.assert_array_equal(scored[:1000], before.expected_rewards(contexts[:1000]))
    np.testing.assert_array_equal(scored[4999:], after.expected_rewards(contexts[4999:]))
    middle = (before.expected_rewards(contexts[2999:3000]) + after.expected_rewards(contexts[2999:3000])) / 2
    np.testing.assert_allclose(scored[2999:3000], middle)


def test_table_1_has_the_paper_s_gains_and_actions_exactly():
    joint = Table1().joint_distribution()
    first, second = Fraction(5, 8), Fraction(3, 4)
    assert joint.weights.tolist() == [
        first * second,
        first * (1 - second),
        (1 - first) * second,
        (1 - first) * (1 - second),
    ]
    assert (joint.weights @ joint.rewards).tolist() == [Fraction(3, 8), Fraction(7, 16)]
    assert expected_gains(*joint).tolist() == [Fraction(3, 4), Fraction(15, 32)]
    for variable in (0, 1):  # k2 for v0, k1 for v1, whichever the variable
        stump = OptimalTree(joint.contexts[:, [variable]], joint.rewards, joint.weights, max_depth=1)
        assert [leaf.action for leaf in stump.leaves] == [1, 0]


def test_table_1_has_the_upper_half_of_the_paper_s_table():
    stump = OptimalTree(*Table1().joint_distribution(), max_depth=1)
    assert [leaf.probability for leaf in stump.leaves] == [Fraction(5, 8), Fraction(3, 8)]
    contexts, rewards, weights = Table1().joint_distribution()
    means = [
        [weights[contexts[:, 0] == v] @ rewards[contexts[:, 0] == v] / sum(weights[contexts[:, 0] == v])]
        for v in (0, 1)
    ]
    assert [row[0].tolist() for row in means] == [[0, Fraction(3, 5)], [1, Fraction(1, 6)]]


def test_no_world_has_both_halves_of_the_paper_s_table():
    # k1 earns 0 or 1 for sure given x_i1, so that its means given x_i2 are P(x_i1 = 1 | x_i2).
    p_i2 = [Fraction(3, 4), Fraction(1, 4)]
    p_one = [Fraction(1, 4), Fraction(3, 4)]
    assert sum(p * one for p, one in zip(p_i2, p_one, strict=True)) == Fraction(3, 8)  # P(x_i1 = 1), as in the table
    assert p_one[0] != p_one[1]  # so that the variables cannot be independent, as the paper says
    # k2 has mean 1/6 given x_i1 = 1, hence a mean given both that is bounded by all of it falling on x_i2 = 1.
    p_i2_given_one = p_i2[1] * p_one[1] / Fraction(3, 8)
    highest_given_both = Fraction(1, 6) / p_i2_given_one
    highest_given_i2 = (1 - p_one[1]) * 1 + p_one[1] * highest_given_both
    assert highest_given_i2 == Fraction(1, 2) < Fraction(5, 8)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: HiddenTree(n_variables=2, depth=3), r"The 'depth' of HiddenTree must be an int in \[1, 2\]"),
        (lambda: HiddenTree(noise=0.6), r"The 'noise' of HiddenTree must be a number in \[0, 0.5\]"),
        (lambda: HiddenTree(n_relevant=2), "The 'n_relevant' of HiddenTree"),
        (lambda: Xor(n_variables=1), "The 'n_variables' of Xor must be an int of at least 2"),
        (lambda: Xor(structure_seed=-1), "The 'structure_seed' of Xor must be an int of at least 0"),
        (lambda: Linear(link="logit"), "The 'link' of Linear must be 'linear' or 'argmax'"),
        (lambda: Stump(variable_gap=0.45, action_gap=0.4), "The 'variable_gap' of Stump"),
        (lambda: Stump(action_gap=0.0), r"The 'action_gap' of Stump must be a number in \(0, 0.5\]"),
        (lambda: Drifting(before=Xor(), after=Table1(), change_at=1), "The 'after' of Drifting must be a world of 10"),
        (lambda: HiddenTree().joint_distribution(), "The 'n_variables' of HiddenTree must be at most 16"),
        (lambda: Xor().batches(10, seed=-1), r"The 'seed' of Xor.batches must be an int of at least 0"),
        (lambda: Xor().batches(10, seed=0, batch_size=0), r"The 'batch_size' of Xor.batches"),
        (lambda: Xor().expected_rewards([[0, 1]]), "The 'contexts' of Xor"),
    ],
)
def test_wrong_worlds_are_refused(make, sentence):
    with pytest.raises(InvalidArgumentError, match=sentence):
        make()
