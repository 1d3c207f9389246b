"""The optimal greedy tree and forest against plain sums over exact tables."""

import math
from fractions import Fraction

import numpy as np
import pytest

from bandit_forest.errors import InvalidArgumentError
from bandit_forest.optimal import OptimalForest, OptimalTree, expected_gains
from bandit_forest.randomness import child_key, random_subset, root_key
from bandit_forest.worlds import HiddenTree, Stump, Table1, Xor


def random_table(seed, n_variables=4, n_actions=3, denominator=97):
    """Return an exact distribution over all contexts, with fractions that make ties unlikely."""
    rng = np.random.default_rng(seed)
    contexts = np.array(list(np.ndindex(*[2] * n_variables)), dtype=np.uint8)
    rewards = [[Fraction(int(n), denominator) for n in row] for row in rng.integers(0, 98, (len(contexts), n_actions))]
    counts = rng.integers(1, 50, len(contexts))
    weights = [Fraction(int(count), int(counts.sum())) for count in counts]
    return contexts, np.array(rewards, dtype=object), np.array(weights, dtype=object)


def rows_of(table, path):
    return [row for row in zip(*table, strict=True) if all(row[0][variable] == value for variable, value in path)]


def naive_mean(table, path, action):
    """Return P(c) μ_k | c by going through the rows."""
    return sum(weight * reward[action] for _, reward, weight in rows_of(table, path))


def naive_gain(table, path, variable):
    """Return P(c) μ^i | c by going through the rows."""
    actions = range(table[1].shape[1])
    return sum(max(naive_mean(table, [*path, (variable, value)], k) for k in actions) for value in (0, 1))


def test_the_three_players_of_table_1():
    joint = Table1().joint_distribution()
    assert OptimalTree(*joint, max_depth=0).expected_reward == Fraction(7, 16)
    assert OptimalTree(*joint, max_depth=1).expected_reward == Fraction(3, 4)
    second_only = OptimalTree(joint.contexts[:, [1]], joint.rewards, joint.weights, max_depth=1)
    assert second_only.expected_reward == Fraction(15, 32)
    assert expected_gains(*joint).tolist() == [Fraction(3, 4), Fraction(15, 32)]
    assert OptimalTree(*joint, max_depth=1).root.variable == 0


@pytest.mark.parametrize(
    ("probabilities", "means", "gain"),
    [
        # Each half of the paper's printed table, on its own: P(v), then the means of k1 and k2 given v.
        (["5/8", "3/8"], [["0", "3/5"], ["1", "1/6"]], "3/4"),
        (["3/4", "1/4"], [["1/4", "9/24"], ["3/4", "5/8"]], "15/32"),
    ],
)
def test_each_half_of_the_printed_table(probabilities, means, gain):
    weights = [Fraction(p) for p in probabilities]
    rewards = [[Fraction(mean) for mean in row] for row in means]
    assert expected_gains([[0], [1]], rewards, weights).tolist() == [Fraction(gain)]
    assert OptimalTree([[0], [1]], rewards, weights, max_depth=0).expected_reward == Fraction(7, 16)


@pytest.mark.parametrize("seed", range(5))
def test_gains_are_the_sums_of_their_definition(seed):
    table = random_table(seed)
    expected = [naive_gain(table, [], variable) for variable in range(4)]
    assert expected_gains(*table).tolist() == expected
    floats = expected_gains(table[0], table[1].astype(float), table[2].astype(float))
    np.testing.assert_allclose(floats, np.array(expected, dtype=float), rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_every_node_is_what_algorithm_5_says(seed, share):
    table = random_table(seed)
    tree = OptimalTree(*table, max_depth=3, variable_share=share, seed=seed, tree=2)
    for node in tree.root:
        means = [naive_mean(table, node.path, k) for k in range(3)]
        assert node.action == max(range(3), key=lambda k: (means[k], -k))
        assert node.mean_reward == max(means) / node.probability
        key = root_key(seed, 2)
        for variable, value in node.path:
            key = child_key(key, variable, value)
        if node.children:
            untested = [variable for variable in range(4) if variable not in dict(node.path)]
            candidates = random_subset(key, untested, share)
            gains = {variable: naive_gain(table, node.path, variable) for variable in candidates}
            assert node.variable == max(candidates, key=lambda i: (gains[i], -i))
            ranked = sorted(gains.values())
            assert node.variable_gap == (ranked[-1] - ranked[-2] if len(ranked) > 1 else math.inf)
            assert [child.path for child in node.children] == [(*node.path, (node.variable, v)) for v in (0, 1)]
        else:
            assert node.variable is None
            best = sum(weight * max(reward) for _, reward, weight in rows_of(table, node.path))
            assert len(node.path) == 3 or best == max(means)
        assert node.action_gap == sorted(means)[-1] - sorted(means)[-2]
    assert tree.variable_gap == min(node.variable_gap for node in tree.root)
    assert tree.action_gap == min(leaf.action_gap for leaf in tree.leaves)
    assert sum(leaf.probability for leaf in tree.leaves) == 1


def test_predictions_follow_the_nodes():
    table = random_table(11)
    tree = OptimalTree(*table, max_depth=2)
    for context, action in zip(table[0], tree.predict(table[0]), strict=True):
        (leaf,) = [leaf for leaf in tree.leaves if all(context[i] == v for i, v in leaf.path)]
        assert action == leaf.action
    actions = tree.predict(table[0])
    assert tree.expected_reward == sum(table[2][row] * table[1][row, actions[row]] for row in range(16))


def test_weighted_rows_and_their_table_give_the_same_tree():
    # Rows with weights, rows that are repeated, and the table of expectations are three ways to say the same.
    contexts, rewards = [[0, 0], [0, 1], [0, 1], [1, 1], [1, 0]], [[0, 1], [1, 0], [1, 1], [1, 0], [0, 1]]
    weights = [1, 2, 1, 3, 1]
    repeated = [np.repeat(column, weights, axis=0) for column in (contexts, rewards)]
    table = [[0, 0], [0, 1], [1, 0], [1, 1]], [[0, 1], [1, 1 / 3], [0, 1], [1, 0]], [1 / 8, 3 / 8, 1 / 8, 3 / 8]
    trees = [OptimalTree(*rows, max_depth=2) for rows in ((contexts, rewards, weights), repeated, table)]
    assert len({str(tree) for tree in trees}) == 1
    for tree in trees:
        assert tree.expected_reward == pytest.approx(1.0)
        assert tree.root.variable == 1


def test_ties_go_to_the_lowest_variable_and_action_even_after_rounding():
    # Ten equal variables and three equal actions, with weights that do not sum exactly.
    contexts = np.repeat([[0] * 10, [1] * 10], 50, axis=0)
    rewards = np.repeat([[0.1, 0.3, 0.3], [0.3, 0.1, 0.3]], 50, axis=0)
    tree = OptimalTree(contexts, rewards, np.full(100, 0.1), max_depth=1, variable_share=0.99)
    assert tree.root.action == 2
    assert [leaf.action for leaf in OptimalTree(contexts, rewards[:, :2], max_depth=1).leaves] == [1, 0]
    assert OptimalTree(contexts, rewards[:, :2], max_depth=1).root.variable == 0
    assert OptimalTree(contexts, rewards[:, :2], max_depth=1).variable_gap == 0
    assert OptimalTree(contexts, rewards[:, [2, 2]], max_depth=0).root.action == 0


def test_a_path_on_which_one_action_is_best_is_not_split_further():
    tree = OptimalTree(*HiddenTree(n_variables=6, n_actions=2).joint_distribution(), max_depth=4)
    assert [len(leaf.path) for leaf in tree.leaves] == [1, 1]
    assert tree.variable_gap == 0  # all further splits are equally good, so that no learner can tell them apart


def test_exclusive_or_is_split_although_no_variable_gains_anything():
    tree = OptimalTree(*Xor(n_variables=2, noise=0.0).joint_distribution(), max_depth=2)
    assert tree.expected_reward == 1.0
    assert tree.variable_gap == 0


def test_a_path_that_never_happens_keeps_its_parent_s_action():
    contexts = [[0, 0], [0, 1], [1, 1], [1, 1]]
    tree = OptimalTree(contexts, [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.6, 0.4]], max_depth=2)
    impossible = next(leaf for leaf in tree.leaves if dict(leaf.path) == {0: 1, 1: 0})
    assert impossible.probability == 0
    assert impossible.action == 1


def test_no_deeper_than_there_are_variables():
    tree = OptimalTree(*Xor(n_variables=2).joint_distribution(), max_depth=9)
    assert {len(leaf.path) for leaf in tree.leaves} == {2}


def test_one_variable_and_one_action_have_no_rivals():
    assert OptimalTree([[0], [1]], [[0.5, 0.6], [0.7, 0.6]], max_depth=1).variable_gap == math.inf
    assert OptimalTree([[0], [1]], [[0.5], [0.7]], max_depth=1).action_gap == math.inf


def test_gaps_without_context_are_those_of_lemma_3():
    tree = OptimalTree([[0], [1]], [[0.5, 0.2], [0.7, 0.6]], max_depth=0)
    assert tree.action_gap == pytest.approx(0.6 - 0.4)
    assert tree.variable_gap == math.inf


def test_a_forest_votes_and_ties_go_to_the_lowest_action():
    table = random_table(7, n_variables=5)
    forest = OptimalForest(*table, n_trees=4, max_depth=[1, 2, 3, 1], variable_share=0.4, seed=9)
    contexts = table[0]
    predictions = np.array([tree.predict(contexts) for tree in forest.trees])
    for context, votes in enumerate(forest.votes(contexts)):
        assert votes.tolist() == np.bincount(predictions[:, context], minlength=3).tolist()
    assert forest.predict(contexts).tolist() == forest.votes(contexts).argmax(axis=1).tolist()
    assert ((forest.votes(contexts) == 2).sum(axis=1) == 2).any()  # there are ties to break
    assert forest.variable_gap == min(tree.variable_gap for tree in forest.trees)
    assert forest.action_gap == min(tree.action_gap for tree in forest.trees)
    for number, tree in enumerate(forest.trees):
        alone = OptimalTree(*table, max_depth=[1, 2, 3, 1][number], variable_share=0.4, seed=9, tree=number)
        assert str(tree) == str(alone)


def test_trees_of_a_forest_differ_by_their_variables():
    table = random_table(8, n_variables=6)
    forest = OptimalForest(*table, n_trees=10, max_depth=2, variable_share=0.5)
    assert len({str(tree) for tree in forest.trees}) > 1
    same = OptimalForest(*table, n_trees=10, max_depth=2)
    assert len({str(tree) for tree in same.trees}) == 1


def test_a_stump_is_drawn_as_text():
    tree = OptimalTree(*Stump(n_variables=2, structure_seed=1).joint_distribution(), max_depth=1)
    assert str(tree).splitlines() == [
        "always",
        f"  x{tree.root.variable} = 0: action 0, mean reward 0.9",
        f"  x{tree.root.variable} = 1: action 1, mean reward 0.9",
    ]


@pytest.mark.parametrize(
    ("rows", "options", "sentence"),
    [
        (([[0, 2]], [[1.0]]), {}, "The 'contexts' of OptimalTree"),
        (([], []), {}, "The 'contexts' of OptimalTree"),
        (([[0]], [[1.5]]), {}, "The 'rewards' of OptimalTree must be 1 rows of numbers in"),
        (([[0]], [[float("nan")]]), {}, "The 'rewards' of OptimalTree"),
        (([[0]], [[1.0], [1.0]]), {}, "The 'rewards' of OptimalTree"),
        (([[0]], [["a"]]), {}, "The 'rewards' of OptimalTree"),
        (([[0]], [[None]]), {}, "The 'rewards' of OptimalTree"),
        (([[0]], [[1.0]], [-1.0]), {}, "The 'weights' of OptimalTree must be 1 numbers of at least 0, not all 0"),
        (([[0]], [[1.0]], [0.0]), {}, "The 'weights' of OptimalTree"),
        (([[0]], [[1.0]], [math.inf]), {}, "The 'weights' of OptimalTree"),
        (([[0]], [[1.0]]), {"max_depth": -1}, "The 'max_depth' of OptimalTree must be an int of at least 0"),
        (([[0]], [[1.0]]), {"variable_share": 0}, r"The 'variable_share' of OptimalTree must be a number in \(0, 1\]"),
        (([[0]], [[1.0]]), {"tree": -1}, "The 'tree' of OptimalTree"),
    ],
)
def test_wrong_distributions_are_refused(rows, options, sentence):
    with pytest.raises(InvalidArgumentError, match=sentence):
        OptimalTree(*rows, **{"max_depth": 1} | options)


def test_a_forest_wants_one_depth_or_one_for_each_tree():
    with pytest.raises(InvalidArgumentError, match="The 'max_depth' of OptimalForest must be an int, or 3 of them"):
        OptimalForest([[0]], [[1.0]], n_trees=3, max_depth=[1, 2])
