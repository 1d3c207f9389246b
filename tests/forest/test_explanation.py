"""Explanations agree with what the forest decides and with the nodes of its trees."""

import json
import threading

import numpy as np
import pytest

from bandit_forest import BanditForest, BanditTree, Elimination, Explanation, Greedy, InvalidArgumentError
from bandit_forest.rules import RoundRobin
from bandit_forest.worlds import HiddenTree

pytestmark = pytest.mark.core

N_VARIABLES, N_ACTIONS = 70, 4  # more variables than fit in a word
WORLD = HiddenTree(n_variables=N_VARIABLES, n_actions=N_ACTIONS, depth=2, noise=0.05)
SIZES = {"n_variables": N_VARIABLES, "n_actions": N_ACTIONS}
NAMES = {
    "variable_names": [f"sign {number}" for number in range(N_VARIABLES)],
    "action_names": ["left", "right", "up", "down"],
}
MAKERS = {
    "greedy": (lambda: BanditForest(**SIZES, **NAMES, n_trees=7, seed=3), 4000),
    "paper": (lambda: BanditForest.paper(**SIZES, **NAMES, n_trees=7, max_depth=(2, 4), seed=3), 20_000),
    "rotation": (
        lambda: BanditForest(
            **SIZES, **NAMES, n_trees=3, max_depth=2, growth=Elimination(tolerance=0.4), exploration=RoundRobin()
        ),
        6000,
    ),
    "tree": (lambda: BanditTree(**SIZES, **NAMES, max_depth=3, seed=3), 20_000),
}


@pytest.fixture(scope="module", params=MAKERS)
def forest(request):
    make, n_events = MAKERS[request.param]
    made = make()
    for batch in WORLD.batches(n_events, seed=0):
        made.play(batch.contexts, batch.rewards)
    assert made.n_nodes > made.n_trees
    return made


CONTEXTS = np.random.default_rng(5).integers(0, 2, (20, N_VARIABLES), dtype=np.uint8)


@pytest.mark.parametrize("available", [None, [2], [3, 1]])
def test_it_tells_what_the_forest_decides_by(forest, available):
    for context in CONTEXTS:
        explanation = forest.explain(context, available_actions=available)
        expected = forest.propensities(context, available_actions=available)
        np.testing.assert_array_equal(explanation.propensities, expected)
        np.testing.assert_array_equal(explanation.votes, forest.votes(context, available_actions=available))
        np.testing.assert_array_equal(explanation.mean_rewards, forest.mean_rewards(context))
        assert np.flatnonzero(explanation.available).tolist() == sorted(available or range(N_ACTIONS))
        assert explanation.propensities[explanation.best_action] == explanation.propensities.max()


def test_the_paths_are_those_of_the_trees(forest):
    for number in range(forest.n_trees):
        nodes = forest.tree(number).nodes
        for context in CONTEXTS:
            path = forest.explain(context).trees[number]
            node, tests = 0, []
            while nodes.variable[node] >= 0:
                variable = int(nodes.variable[node])
                tests.append((f"sign {variable}", int(context[variable])))
                node = int(nodes.child[node]) + int(context[variable])
            assert list(path.tests) == tests
            np.testing.assert_array_equal(path.plays, nodes.plays[node])
            np.testing.assert_array_equal(path.mean_rewards, nodes.mean_rewards[node])
            assert path.events == nodes.visits[node]
            remaining = nodes.open_actions(node)
            assert path.vote == (int(remaining[0]) if len(remaining) == 1 else None)


def test_tests_count_the_trees_that_make_them(forest):
    explanation = forest.explain(CONTEXTS[0])
    for test, trees in explanation.tests:
        assert trees == sum(test in tree.tests for tree in explanation.trees)
    counts = [trees for _, trees in explanation.tests]
    assert counts == sorted(counts, reverse=True)


def test_it_is_ready_for_json(forest):
    explanation = forest.explain(CONTEXTS[0], available_actions=[0, 2])
    told = json.loads(json.dumps(explanation.as_dict(), allow_nan=False))
    assert told == explanation.as_dict()
    assert told["available_actions"] == ["left", "up"]
    assert told["propensities"]["right"] == 0.0
    assert told["best_action"] in ("left", "up")
    assert len(told["trees"]) == told["n_trees"] == forest.n_trees
    assert sum(told["trees"][0]["plays"].values()) == told["trees"][0]["events"]
    assert explanation.as_dict(max_trees=1) == told | {"trees": told["trees"][:1]}


def test_text_names_the_best_action_and_the_tests(forest):
    context = CONTEXTS[0]
    explanation = forest.explain(context)
    text = explanation.to_text(max_trees=2)
    best = NAMES["action_names"][explanation.best_action]
    assert text.startswith(f"{best} is best: drawn with probability {explanation.propensities.max():.3f}.\n")
    assert all(name in text for name in NAMES["action_names"])
    assert text.count("\ntree ") == min(2, forest.n_trees)
    most, trees = explanation.tests[0]
    assert f"{'' if most.value else 'not '}{most.variable}" in text
    assert str(trees) in text
    assert "tree 0" not in explanation.to_text(max_trees=0)


def test_text_says_why_an_action_is_drawn_whose_mean_is_lower():
    forest = BanditForest(n_variables=1, n_actions=2, action_names=["old", "new"])
    forest.learn_many(np.zeros((300, 1)), [0] * 300, [0.0, 0.0, 0.0, 0.0, 1.0] * 60, propensities=[1.0] * 300)
    explanation = forest.explain([0])
    assert explanation.best_action == 1
    lines = explanation.to_text().splitlines()
    probability = f"{explanation.propensities[1]:.3f}"
    assert (
        lines[0] == f"new is drawn most, with probability {probability}, because fewer of its rewards are known here."
    )
    assert lines[1] == f"Its mean reward is 0.000, {-explanation.margin:.3f} below the highest."


def test_names_are_those_given_or_numbers(forest):
    assert {"variable_names": list(forest.variable_names), "action_names": list(forest.action_names)} == NAMES
    assert BanditForest(n_variables=2, n_actions=2).variable_names == ("x0", "x1")


def test_the_margin_is_to_the_next_best():
    forest = BanditForest(n_variables=1, n_actions=3, n_trees=1, growth=Greedy(linear=False))
    forest.learn_many(np.zeros((4, 1)), [0, 1, 2, 2], [0.5, 1.0, 0.0, 0.0], propensities=[0.3] * 4)
    explanation = forest.explain([0])
    means = explanation.mean_rewards
    assert explanation.best_action == 1
    assert explanation.margin == means[1] - means[0]
    assert np.isnan(forest.explain([0], available_actions=[1]).margin)


def test_what_is_not_known_is_said_so():
    tree = BanditTree(n_variables=2, n_actions=3)
    told = tree.explain([0, 1]).as_dict()
    assert told["margin"] is None
    assert told["mean_rewards"] == {f"action {number}": None for number in range(3)}
    assert told["trees"][0]["vote"] is None
    text = tree.explain([0, 1]).to_text()
    assert "unknown" in text
    assert "tree 0: always: exploring (0 events)" in text
    assert "nan" not in text


def test_many_actions_make_a_short_text():
    forest = BanditForest(n_variables=1, n_actions=50)
    assert "and 40 more actions" in forest.explain([1]).to_text()


def test_wrong_calls_are_refused(forest):
    explanation = forest.explain(CONTEXTS[0])
    assert isinstance(explanation, Explanation)
    for wrong in (
        lambda: forest.explain([0, 1]),
        lambda: forest.explain(CONTEXTS[0], available_actions=[]),
        lambda: explanation.to_text(max_trees=-1),
        lambda: explanation.as_dict(max_trees=0.5),
    ):
        with pytest.raises(InvalidArgumentError, match=r"The '\w+' of \w+\.\w+ must be .+\. Got .+ instead\."):
            wrong()


def test_importance_finds_the_variables_that_matter(forest):
    importance = forest.variable_importance()
    assert importance.shape == (N_VARIABLES,)
    assert importance.min() >= 0.0
    assert importance.sum() == pytest.approx(1.0)
    relevant = list(WORLD.relevant_variables)
    assert importance[relevant].sum() > 0.7
    assert set(np.argsort(-importance)[: len(relevant)]) == set(relevant)


def test_importance_is_zero_before_the_first_split():
    assert BanditForest(n_variables=5, n_actions=2).variable_importance().tolist() == [0.0] * 5


def test_importance_is_the_variance_between_the_sides_of_a_split():
    forest = BanditForest(n_variables=1, n_actions=2, n_trees=1, max_depth=1)
    contexts = np.arange(400).reshape(-1, 1) % 2
    actions = np.arange(400) // 2 % 2
    rewards = (contexts[:, 0] == actions).astype(float)
    forest.learn_many(contexts, actions, rewards, propensities=np.full(400, 0.5))
    nodes = forest.tree(0).nodes
    assert len(nodes) == 3
    (explained,) = forest._core.explained_variance(0)
    sums = (nodes.plays[1:] * nodes.mean_rewards[1:]).sum(axis=0)
    plays = nodes.plays[1:].sum(axis=0)
    between = (nodes.plays[1:] * nodes.mean_rewards[1:] ** 2).sum() - (sums**2 / plays).sum()
    assert explained == pytest.approx(between - (sums / plays * (1 - sums / plays)).sum())


def test_explaining_while_others_learn():
    forest = BanditForest(**SIZES, n_trees=5, seed=1, growth=Greedy(linear=False))
    stop = threading.Event()

    def learn():
        for batch in WORLD.batches(20_000, seed=2):
            forest.play(batch.contexts, batch.rewards)
        stop.set()

    thread = threading.Thread(target=learn)
    thread.start()
    while not stop.is_set():
        explanation = forest.explain(CONTEXTS[0])
        assert explanation.propensities.sum() == pytest.approx(1.0)
        leaf_means = np.mean([tree.mean_rewards for tree in explanation.trees], axis=0)
        np.testing.assert_allclose(explanation.mean_rewards, leaf_means)
        assert round(forest.variable_importance().sum(), 9) in (0.0, 1.0)
    thread.join()
