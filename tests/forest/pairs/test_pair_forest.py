"""The forest over pairs: batches, keys, files, names, bounds and refusals."""

import copy
import pickle

import numpy as np
import pytest

from bandit_forest import BanditForest, DamagedFileError, Greedy, InvalidArgumentError
from bandit_forest.forest.pairs import PairForest
from bandit_forest.rules import RoundRobin

pytestmark = pytest.mark.core

SIZES = {"n_context_variables": 3, "n_action_variables": 4, "n_trees": 5, "thresholds": {0: (1, 2, 3), 5: (1, 2)}}


def events(n_events, *, n_offered=4, seed=0):
    rng = np.random.default_rng(seed)
    contexts = np.column_stack([rng.integers(0, 4, n_events), rng.integers(0, 2, (n_events, 2))])
    actions = rng.integers(0, 2, (n_events * n_offered, 4))
    names = rng.integers(0, 30, n_events * n_offered).astype(np.uint64)
    return contexts, actions, names


def taught(n_events=600, **parameters):
    forest = PairForest(**SIZES | parameters)
    contexts, actions, names = events(n_events, n_offered=1)
    rewards = np.where((contexts[:, 0] > 1) == (actions[:, 0] == 1), 0.9, 0.1)
    forest.learn_many(contexts, actions, rewards, propensities=np.ones(n_events), names=names)
    return forest


def test_it_learns_what_depends_on_both_sides():
    forest = taught()
    high, low = [3, 0, 0], [0, 0, 0]
    offered = [[1, 0, 0, 0], [0, 0, 0, 0]]
    assert forest.mean_rewards(high, offered).argmax() == 0
    assert forest.mean_rewards(low, offered).argmax() == 1


def test_learn_many_equals_learn():
    together, alone = taught(200), PairForest(**SIZES)
    contexts, actions, names = events(200, n_offered=1)
    rewards = np.where((contexts[:, 0] > 1) == (actions[:, 0] == 1), 0.9, 0.1)
    for context, action, name, reward in zip(contexts, actions, names, rewards, strict=True):
        alone.learn_many([context], [action], [reward], propensities=[1.0], names=np.array([name], dtype=np.uint64))
    assert alone.to_parts() == together.to_parts()


def test_decide_many_equals_decide_and_propensities_add_up():
    forest = taught()
    contexts, actions, names = events(50)
    keys = list(range(50))
    batch = forest.decide_many(contexts, actions, n_offered=np.full(50, 4), names=names, keys=keys)
    shares = forest.propensities_many(contexts, actions, n_offered=np.full(50, 4), names=names).reshape(50, 4)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    assert shares.min() > 0.0
    for event in range(50):
        offered, named = actions[4 * event : 4 * event + 4], names[4 * event : 4 * event + 4]
        decision = forest.decide(contexts[event], offered, names=named, key=event)
        assert decision == (batch.actions[event], batch.propensities[event])
        assert decision.propensity == shares[event, decision.action]
        ranking = forest.rank(contexts[event], offered, names=named, key=event)
        assert ranking.order[0] == decision.action
        assert sorted(ranking.order) == [0, 1, 2, 3]
        np.testing.assert_array_equal(ranking.propensities, shares[event])


def test_rankings_are_drawn_without_replacement_by_the_propensities():
    forest = taught(100)
    context, offered = [1, 0, 1], np.eye(4, dtype=np.uint8)
    shares = forest.propensities(context, offered)
    orders = np.array([forest.rank(context, offered, key=key).order for key in range(4000)])
    first = np.bincount(orders[:, 0], minlength=4) / len(orders)
    np.testing.assert_allclose(first, shares, atol=0.03)
    second = np.bincount(orders[orders[:, 0] == first.argmax(), 1], minlength=4)
    rest = np.where(np.arange(4) == first.argmax(), 0.0, shares)
    np.testing.assert_allclose(second / second.sum(), rest / rest.sum(), atol=0.05)


def test_a_saved_forest_goes_on_as_if_it_had_never_stopped(tmp_path):
    forest = taught()
    forest.save(tmp_path / "pairs.bf")
    loaded = PairForest.load(tmp_path / "pairs.bf")
    contexts, actions, names = events(100, seed=1)
    for event in range(100):
        offered, named = actions[4 * event : 4 * event + 4], names[4 * event : 4 * event + 4]
        decisions = [each.decide(contexts[event], offered, names=named) for each in (forest, loaded)]
        assert decisions[0] == decisions[1]
        for each in (forest, loaded):
            each.learn(contexts[event], offered[decisions[0].action], 0.5, propensity=1.0, name="b")
    assert forest.to_parts() == loaded.to_parts()
    for other in (copy.deepcopy(forest), pickle.loads(pickle.dumps(forest))):
        assert other.to_parts() == forest.to_parts()


def test_damaged_files_are_refused(tmp_path):
    header, arrays = taught(100).to_parts()
    for cut in (0, 8, len(arrays) // 2, len(arrays) - 1):
        with pytest.raises(DamagedFileError):
            PairForest.from_parts(header, arrays[:cut], name="cut")
    BanditForest(n_variables=2, n_actions=2).save(tmp_path / "other.bf")
    with pytest.raises(DamagedFileError, match="does not hold a PairForest"):
        PairForest.load(tmp_path / "other.bf")


def test_memory_does_not_grow_with_the_number_of_names():
    forest = PairForest(**SIZES, n_names=1024, max_nodes=64, growth=Greedy(log_capacity=1024))
    n_events = 20_000
    sizes = []
    for start in range(0, 5 * n_events, n_events):
        contexts, actions, _ = events(n_events, n_offered=1, seed=start)
        names = np.arange(start, start + n_events, dtype=np.uint64)
        forest.learn_many(contexts, actions, np.zeros(n_events), propensities=np.ones(n_events), names=names)
        sizes.append(forest.n_bytes)
    assert max(sizes) <= sizes[0] * 1.01


def test_names_count_where_they_tell_something_and_only_there():
    told, telling = PairForest(**SIZES), PairForest(**SIZES)
    rng = np.random.default_rng(3)
    contexts, actions, names = events(3000, n_offered=1)
    by_name = np.where(names % 2 == 0, 0.8, 0.2)
    rewards = (rng.random(3000) < by_name).astype(float)
    telling.learn_many(contexts, actions, rewards, propensities=np.ones(3000), names=names)
    told.learn_many(contexts, actions, rng.permutation(rewards), propensities=np.ones(3000), names=names)
    assert telling.estimate_weights[2] > 0.7 > 0.2 > told.estimate_weights[2]
    offered = np.zeros((2, 4), dtype=np.uint8)
    means = telling.mean_rewards([0, 0, 0], offered, names=np.array([2, 3], dtype=np.uint64))
    assert means[0] > means[1] + 0.4


def taught_by_names(n_events=3000, **parameters):
    """Return a forest that has learned six names without features, each of which does well in one of two contexts."""
    forest = PairForest(**SIZES | parameters)
    contexts, actions, _ = events(n_events, n_offered=1)
    names = np.random.default_rng(4).integers(0, 6, n_events).astype(np.uint64)
    rewards = np.where((contexts[:, 0] > 1) == (names % 2 == 1), 0.9, 0.1)
    forest.learn_many(contexts, np.zeros_like(actions), rewards, propensities=np.ones(n_events), names=names)
    return forest


def differences(forest):
    """Return how much better name 1 is than name 2, in both contexts, where both have the same features."""
    offered, names = np.zeros((2, 4), dtype=np.uint8), np.array([1, 2], dtype=np.uint64)
    means = [forest.mean_rewards([code, 0, 0], offered, names=names) for code in (3, 0)]
    return [float(mean[0] - mean[1]) for mean in means]


def test_few_names_are_known_in_each_context():
    in_one, in_the_other = differences(taught_by_names())
    assert in_one > 0.7
    assert in_the_other < -0.7
    assert max(np.abs(differences(taught_by_names(n_named_actions=0)))) < 0.2


def test_one_name_too_many_ends_the_named_actions_for_good():
    forest = taught_by_names(n_named_actions=6)
    before = forest.n_bytes
    assert forest.estimate_weights[3] > 0.9
    forest.learn([0, 0, 0], [0, 0, 0, 0], 0.5, propensity=1.0, name="a seventh")
    assert forest.estimate_weights[3] == 0.0
    assert forest.n_bytes < 0.8 * before
    assert forest.to_parts() == PairForest.from_parts(*forest.to_parts(), name="closed").to_parts()


def test_an_action_without_a_name_is_judged_as_a_pair():
    forest, context, offered = taught_by_names(), [3, 0, 0], np.zeros((2, 4), dtype=np.uint8)
    without = forest.mean_rewards(context, offered)
    unknown = forest.mean_rewards(context, offered, names=np.array([1, 99], dtype=np.uint64))
    assert without[0] == without[1] == unknown[1] < unknown[0]


def test_a_forest_that_was_saved_before_there_were_named_actions_is_read():
    header, arrays = taught(n_named_actions=0).to_parts()
    del header["parameters"]["n_named_actions"]
    forest = PairForest.from_parts(header, arrays, name="old")
    assert forest.parameters["n_named_actions"] == 0
    assert forest.to_parts()[1] == arrays


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda f: f.decide([0, 0], [[0, 0, 0, 0]]), "context"),
        (lambda f: f.decide([4, 0, 0], [[0, 0, 0, 0]]), "context"),
        (lambda f: f.decide([0, 0, 0], np.empty((0, 4))), "actions"),
        (lambda f: f.decide([0, 0, 0], [[0, 0, 3, 0]]), "actions"),
        (lambda f: f.decide([0, 0, 0], [[0, 0, 0, 0]], names=["a", "b"]), "names"),
        (lambda f: f.decide([0, 0, 0], [[0, 0, 0, 0]], names="a"), "names"),
        (lambda f: f.decide([0, 0, 0], [[0, 0, 0, 0]], key=1.5), "key"),
        (lambda f: f.decide_many([[0, 0, 0]], [[0, 0, 0, 0]], n_offered=[2]), "n_offered"),
        (lambda f: f.decide_many([[0, 0, 0]] * 2, [[0, 0, 0, 0]] * 2, n_offered=[0, 2]), "n_offered"),
        (lambda f: f.learn([0, 0, 0], [0, 0, 0, 0], 1.5, propensity=0.5), "reward"),
        (lambda f: f.learn([0, 0, 0], [0, 0, 0, 0], 0.5, propensity=0.0), "propensity"),
        (lambda f: f.learn([0, 0, 0], [0, 0, 0, 0], 0.5, propensity=0.5, name=[0]), "name"),
        (lambda f: f.decide([0, 0, 0], [[0, 0, 0, 0]], names=[1.5]), r"names\[0\]"),
        (lambda f: f.learn_many([[0, 0, 0]], [[0, 0, 0, 0]] * 2, [0.5], propensities=[0.5]), "actions"),
        (lambda f: f.tree(5), "number"),
    ],
)
def test_wrong_calls_are_refused_and_change_nothing(call, parameter):
    forest = taught(20)
    before = forest.to_parts()
    with pytest.raises(InvalidArgumentError, match=f"The '{parameter}' of PairForest"):
        call(forest)
    assert forest.to_parts() == before


@pytest.mark.parametrize(
    ("parameters", "parameter"),
    [
        ({"n_names": 6}, "n_names"),
        ({"n_named_actions": -1}, "n_named_actions"),
        ({"growth": Greedy(lifetime=100)}, "growth"),
        ({"exploration": RoundRobin()}, "exploration"),
        ({"thresholds": {7: (1.0,)}}, "thresholds"),
        ({"n_action_variables": 2**20, "n_context_variables": 2**20}, "n_action_variables"),
    ],
)
def test_wrong_parameters_are_refused(parameters, parameter):
    with pytest.raises(InvalidArgumentError, match=f"The '{parameter}' of PairForest"):
        PairForest(**SIZES | parameters)


def test_a_tree_tells_one_mean_reward_in_each_leaf():
    forest = PairForest(n_context_variables=1, n_action_variables=1, n_trees=1, seed=1)
    rng = np.random.default_rng(1)
    for _ in range(2000):
        context, action = rng.integers(0, 2, (2, 1))
        forest.learn(context, action, float(context[0] and action[0]), propensity=0.5)
    tree = forest.tree(0)
    first, *leaves = tree.to_text().splitlines()
    assert first == "if x1:"
    assert [leaf.partition(": ")[2][:15] for leaf in leaves] == [
        "mean reward 0.9",
        "mean reward 0.0",
        "mean reward 0.0",
    ]
    assert ">0.999<" in tree.to_svg()
    assert "mostly" not in tree.to_svg(max_depth=1)
