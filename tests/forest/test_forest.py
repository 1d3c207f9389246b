"""BanditForest and BanditTree as their users see them."""

import inspect
import pickle
import re
import threading
from functools import partial
from typing import Required, get_origin, get_type_hints

import numpy as np
import pytest

from bandit_forest import BanditForest, BanditTree, Elimination, Greedy, InvalidArgumentError, InverseGap
from bandit_forest.rules import RoundRobin, UniformOverRemaining
from bandit_forest.worlds import HiddenTree

pytestmark = pytest.mark.core

SENTENCE = re.compile(r"The '\w+' of \w+(\.\w+)? must be .+\. Got .+ instead\.", re.DOTALL)


def easy_world(n_events, seed=0):
    """Action 1 is right where x2 is set, action 0 elsewhere."""
    rng = np.random.default_rng(seed)
    contexts = rng.integers(0, 2, (n_events, 10), dtype=np.uint8)
    rewards = np.stack([1 - contexts[:, 2], contexts[:, 2]], axis=1).astype(float)
    return contexts, rewards


def make_tree(**changes):
    return BanditTree(**({"n_variables": 10, "n_actions": 2, "max_depth": 1, "seed": 4} | changes))


def test_a_tree_learns_the_rule_and_tells_it():
    names = [f"sign {number}" for number in range(10)]
    tree = make_tree(variable_names=names, action_names=["stay", "go"])
    contexts, rewards = easy_world(5000)
    tree.play(contexts, rewards)
    played = tree.play(*easy_world(1000, seed=1))
    assert played.rewards.mean() == 1.0
    text = tree.tree(0).to_text()
    learned = r"\(mean reward 1\.000, [\d,]+ events\)"
    assert re.fullmatch(rf"if sign 2: go {learned}\nif not sign 2: stay {learned}", text)
    assert tree.votes(contexts[0])[contexts[0, 2]] == 1
    assert tree.mean_rewards(contexts[0])[contexts[0, 2]] == 1.0


def test_text_can_be_cut_at_a_depth():
    forest = BanditForest.paper(n_variables=20, n_actions=4, n_trees=1)
    for batch in HiddenTree(n_variables=20, n_actions=4, depth=2, noise=0.0).batches(60_000, seed=0):
        forest.play(batch.contexts, batch.rewards)
    whole, cut = forest.tree(0).to_text(), forest.tree(0).to_text(max_depth=1)
    assert len(cut.splitlines()) < len(whole.splitlines())
    assert re.fullmatch(r"  \d+ leaves, mostly action \d, [\d,]+ events", cut.splitlines()[1])


def test_nodes_are_a_read_only_view():
    tree = make_tree()
    tree.play(*easy_world(5000))
    nodes = tree.tree(0).nodes
    assert len(nodes) == 3
    assert nodes.variable.tolist() == [2, -1, -1]
    assert nodes.parent.tolist() == [-1, 0, 0]
    assert nodes.plays.sum(axis=1).tolist() == nodes.visits.tolist()
    with pytest.raises(ValueError, match="read-only"):
        nodes.visits[0] = 7
    assert repr(tree.tree(0)) == "TreeView(3 nodes, 2 leaves, max_depth=1)"


def test_repr_makes_the_forest_again():
    rules = {"growth": Elimination(delta=0.1), "exploration": RoundRobin()}
    forest = BanditForest(n_variables=5, n_actions=3, n_trees=2, max_depth=(1, 2), seed=9, **rules)
    scope = {rule.__name__: rule for rule in (BanditForest, Elimination, RoundRobin)}
    assert eval(repr(forest), scope).parameters == forest.parameters


def test_mean_rewards_of_untried_actions_are_unknown():
    forest = BanditForest.paper(n_variables=4, n_actions=3)
    assert np.isnan(forest.mean_rewards([0, 1, 0, 1])).all()
    forest.learn([0, 1, 0, 1], 2, 0.25, propensity=1.0)
    np.testing.assert_array_equal(forest.mean_rewards([1, 1, 1, 1]), [np.nan, np.nan, 0.25])


@pytest.mark.parametrize("estimate", ["plays", "visits", "scaled", "weights"])
def test_a_mean_reward_is_one_whatever_elimination_compares(estimate):
    growth = Elimination(tolerance=0.4, remaining_actions="path", estimate=estimate, test_interval=64)
    forest = BanditForest.paper(n_variables=4, n_actions=3, n_trees=5, max_depth=1, growth=growth)
    contexts = np.zeros((2000, 4), dtype=np.uint8)
    forest.play(contexts, np.tile([0.5, 0.25, 1.0], (2000, 1)))
    np.testing.assert_allclose(forest.mean_rewards(contexts[0]), [0.5, 0.25, 1.0])


def test_rewards_divided_by_propensities_do_not_change_the_bounds():
    def rounds_to_settle(estimate, propensity):
        """Return the rounds of one play of each action until the worse one, which earns nothing, is eliminated."""
        growth = Elimination(tolerance=0.5, remaining_actions="path", estimate=estimate)
        tree = BanditTree(n_variables=2, n_actions=2, growth=growth)
        for rounds in range(1, 10_000):
            for action in (0, 1):
                tree.learn([1, 1], action, float(action), propensity=propensity)
            if not tree.tree(0).nodes.remaining_actions[0].all():
                return rounds
        raise AssertionError("both actions remain")

    plays = rounds_to_settle("plays", 0.25)
    assert plays > 8
    assert rounds_to_settle("weights", 0.25) == plays


def test_the_rotation_visits_the_available_actions_in_turn():
    forest = BanditForest(n_variables=2, n_actions=4, growth=Elimination(), exploration=RoundRobin())
    decisions = [forest.decide([0, 1], available_actions=[3, 1, 2]) for _ in range(6)]
    assert [decision.action for decision in decisions] == [1, 2, 3, 1, 2, 3]
    assert {decision.propensity for decision in decisions} == {1 / 3}


def test_memory_is_bounded_by_max_nodes():
    growth, exploration = Elimination(tolerance=0.9, test_interval=16), RoundRobin()
    bounded = BanditForest(n_variables=10, n_actions=2, n_trees=4, max_nodes=5, growth=growth, exploration=exploration)
    contexts, rewards = easy_world(20_000)
    bounded.play(contexts, rewards)
    size, events = bounded.n_bytes, bounded.n_events
    assert bounded.n_nodes == 4 * 5
    bounded.play(contexts, rewards)
    assert bounded.n_bytes == size
    assert bounded.n_events == 2 * events


WRONG = {
    "n_variables": [0, -1, 1.5, "3", None, True, float("nan"), 2**40],
    "n_actions": [0, 1, -1, 2.0, "2", None],
    "n_trees": [0, -3, 1.0, None],
    "max_depth": [0, -1, 2**70, (3, 2), (0, 2), (1, 2, 3), 1.5, "8", None, [1, 2]],
    "variable_share": [0.0, -0.1, 1.1, float("nan"), "all", None, True],
    "growth": [None, "elimination", Elimination],
    "exploration": [3, "rotation", RoundRobin, RoundRobin(), UniformOverRemaining()],
    "max_nodes": [0, -1, 2.5, None],
    "seed": [-1, 2**64, 1.5, None, "seed"],
    "variable_names": [["a"], "abc", [1, 2, 3], ["a", "a", "b"], 5],
    "action_names": [["a"], "ab", [1, 2], ["a", "a"], 5],
}


def test_each_growth_rule_brings_its_exploration():
    sizes = {"n_variables": 2, "n_actions": 2}
    assert BanditForest(**sizes).parameters["exploration"] == InverseGap()
    assert BanditForest(**sizes, growth=Elimination()).parameters["exploration"] == RoundRobin()
    with pytest.raises(
        InvalidArgumentError, match=r"must be RoundRobin\(\) or UniformOverRemaining\(\) with Elimination"
    ):
        BanditForest(**sizes, growth=Elimination(), exploration=InverseGap())


def test_the_papers_tree_is_a_tree():
    tree = BanditTree.paper(n_variables=2, n_actions=2, max_depth=3)
    assert isinstance(tree, BanditTree)
    assert tree.parameters == BanditTree(n_variables=2, n_actions=2, max_depth=3).parameters


def test_the_papers_tree_has_the_parameters_of_a_tree_for_type_checkers():
    (hint,) = (hint for name, hint in get_type_hints(BanditTree.paper).items() if name != "return")
    (parameters,) = hint.__args__  # of Unpack
    expected = get_type_hints(BanditTree.__init__)
    del expected["return"]
    assert get_type_hints(parameters) == expected
    given = inspect.signature(BanditTree).parameters.items()
    needed = {name for name, parameter in given if parameter.default is parameter.empty}
    with_extras = get_type_hints(parameters, include_extras=True).items()
    assert {name for name, hint in with_extras if get_origin(hint) is Required} == needed


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_wrong_parameters_are_refused_in_one_sentence(name, value):
    with pytest.raises(InvalidArgumentError, match=SENTENCE) as caught:
        BanditForest(**({"n_variables": 3, "n_actions": 2} | {name: value}))
    assert str(caught.value).startswith(f"The '{name}' of BanditForest must be ")


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        (Elimination, {"delta": 0.0}),
        (Elimination, {"delta": float("nan")}),
        (Elimination, {"delta": "small"}),
        (Elimination, {"tolerance": 1.0}),
        (Elimination, {"tolerance": (0.8, 0.4)}),
        (Elimination, {"tolerance": (0.1, float("nan"))}),
        (Elimination, {"tolerance": (0.1, 0.2, 0.3)}),
        (Elimination, {"tolerance": "none"}),
        (Elimination, {"tolerance": "0.5"}),
        (Elimination, {"tolerance": ("0.1", 0.5)}),
        (Elimination, {"tolerance": None}),
        (Elimination, {"remaining_actions": "some"}),
        (Elimination, {"estimate": None}),
        (Elimination, {"test_interval": 0}),
        (Elimination, {"test_interval": 2**70}),
        (Elimination, {"estimate": "geometric"}),
        (Greedy, {"min_events": 1}),
        (Greedy, {"min_events": 2**25}),
        (Greedy, {"min_gain": -1.0}),
        (Greedy, {"min_gain": float("nan")}),
        (Greedy, {"shrinkage": 0.0}),
        (Greedy, {"n_thresholds": 0}),
        (Greedy, {"renewal_work": 0}),
        (Greedy, {"linear": 1}),
        (Greedy, {"log_capacity": 100}),
        (Greedy, {"log_capacity": 0}),
        (InverseGap, {"gamma_scale": 0.0}),
        (InverseGap, {"gamma_scale": float("inf")}),
        (InverseGap, {"gamma_scale": True}),
        (InverseGap, {"optimism": -0.1}),
        (InverseGap, {"optimism": float("nan")}),
        (RoundRobin, {"quorum": 0.0}),
        (RoundRobin, {"quorum": 1.5}),
        (UniformOverRemaining, {"draw": "lots"}),
        (UniformOverRemaining, {"quorum": None}),
    ],
)
def test_wrong_rules_are_refused_in_one_sentence(rule, changes):
    with pytest.raises(InvalidArgumentError, match=SENTENCE) as caught:
        rule(**changes)
    (name,) = changes
    assert str(caught.value).startswith(f"The '{name}' of {rule.__name__} must be ")


@pytest.mark.parametrize("number", [-1, 1, 2.0, None])
def test_a_tree_that_is_not_there_is_refused(number):
    with pytest.raises(InvalidArgumentError, match=SENTENCE):
        make_tree().tree(number)


MASKED = np.ma.array([0, 77], mask=[False, True])


@pytest.mark.parametrize(
    "call",
    [
        lambda forest: forest.learn_many(np.zeros((2, 3), np.uint8), MASKED, [1.0, 1.0], propensities=[0.5, 0.5]),
        lambda forest: forest.learn_many(np.zeros((2, 3)), [0, 0], np.ma.array([np.nan, 0.5]), propensities=[0.5, 0.5]),
        lambda forest: forest.learn_many(
            np.zeros((1, 3)), [0], [1.0], propensities=np.array(["1e-4000"], np.longdouble)
        ),
        lambda forest: forest.decide([0, 0, 0], available_actions=MASKED),
        lambda forest: forest.decide(np.ma.array([0, 0, 255], mask=[0, 0, 1])),
    ],
    ids=["actions", "rewards", "propensities", "available_actions", "context"],
)
def test_what_only_looks_checked_is_refused(call):
    forest = BanditForest(n_variables=3, n_actions=2, n_trees=2)
    before = pickle.dumps(forest)
    with pytest.raises(InvalidArgumentError, match=SENTENCE):
        call(forest)
    assert pickle.dumps(forest) == before


def test_true_is_true_whatever_its_byte():
    forest = BanditForest(n_variables=10, n_actions=2, n_trees=5)
    forest.play(*easy_world(3000))
    context = np.zeros(10, dtype=np.uint8)
    context[2] = 2
    strange = context.view(np.bool_)
    np.testing.assert_array_equal(forest.mean_rewards(strange), forest.mean_rewards(context > 0))


def test_an_absurd_propensity_spoils_nothing_for_ever():
    forest = BanditForest.paper(n_variables=4, n_actions=2, n_trees=5)
    forest.learn([0] * 4, 0, 0.0, propensity=1e-320)
    assert forest.mean_rewards([0] * 4)[0] == 0.0


def test_sizes_that_no_memory_holds_are_refused():
    with pytest.raises(InvalidArgumentError, match=SENTENCE):
        BanditForest.paper(n_variables=2**20, n_actions=2**16, n_trees=1)
    with pytest.raises(InvalidArgumentError, match=SENTENCE):
        BanditForest(n_variables=2, n_actions=2**16, n_trees=2**20)


def test_a_tree_is_made_again_from_its_parameters():
    tree = make_tree(max_depth=3)
    assert BanditTree(**tree.parameters).parameters == tree.parameters


def test_a_bandit_tree_draws_nothing_but_actions():
    world = HiddenTree(n_variables=20, n_actions=3, depth=3)
    texts = set()
    for seed in (0, 1):
        tree = BanditTree(n_variables=20, n_actions=3, seed=seed)
        for batch in world.batches(40_000, seed=0):
            actions = np.arange(len(batch.contexts)) % 3
            tree.learn_many(batch.contexts, actions, batch.rewards[np.arange(len(actions)), actions],
                            propensities=np.full(len(actions), 1 / 3))  # fmt: skip
        texts.add(tree.tree(0).to_text())
    (text,) = texts
    assert len(text.splitlines()) > 4


def test_a_bandit_tree_grows_by_elimination():
    with pytest.raises(InvalidArgumentError, match=SENTENCE):
        make_tree(growth=Greedy())


def test_every_tree_may_split_on_some_variable():
    """A share of few variables is rounded up: no tree is left without one."""
    forest = BanditForest(n_variables=1, n_actions=2, n_trees=8, variable_share=0.1)
    contexts = np.random.default_rng(0).integers(0, 2, (2000, 1), dtype=np.uint8)
    forest.play(contexts, np.hstack([1 - contexts, contexts]).astype(float))
    assert [len(forest.tree(number).nodes) for number in range(8)] == [3] * 8


def test_constructors_take_keywords_only():
    with pytest.raises(TypeError):
        BanditForest(3, 2)


def test_a_full_log_forgets_and_its_memory_stays():
    """Rewards that no variable explains: a leaf that never splits would remember its events for ever."""
    forest = BanditForest(n_variables=10, n_actions=2, n_trees=4, growth=Greedy(min_gain=50.0, log_capacity=2**10))
    contexts, _ = easy_world(20_000)
    rewards = np.random.default_rng(1).integers(0, 2, (20_000, 2)).astype(float)
    forest.play(contexts, rewards)
    size = forest.n_bytes
    for _ in range(3):
        forest.play(contexts, rewards)
    assert forest.n_nodes == 4
    assert forest.n_bytes == size


@pytest.mark.slow
@pytest.mark.parametrize("make", [BanditForest, partial(BanditForest, n_threads=2), BanditForest.paper])
def test_threads_may_share_a_forest(make):
    """Concurrent calls of every kind: nothing is lost, nothing crashes, and the forest still learns."""
    forest = make(n_variables=10, n_actions=2, n_trees=20, max_depth=(1, 3), seed=2)
    contexts, rewards = easy_world(4000)
    errors = []

    def guarded(work):
        def run():
            try:
                work()
            except Exception as error:
                errors.append(error)

        return run

    def single():
        for context, reward in zip(contexts[:1500], rewards[:1500], strict=True):
            decision = forest.decide(context)
            forest.learn(context, decision.action, reward[decision.action], propensity=decision.propensity)

    def batches():
        for start in range(0, 4000, 500):
            rows = contexts[start : start + 500]
            decisions = forest.decide_many(rows)
            earned = rewards[np.arange(start, start + 500), decisions.actions]
            forest.learn_many(rows, decisions.actions, earned, propensities=decisions.propensities)

    def play():
        forest.play(contexts, rewards)

    def look():
        for context in contexts[:100]:
            forest.propensities(context)
            forest.mean_rewards(context)
            forest.tree(3).to_text()
            pickle.dumps(forest)

    threads = [threading.Thread(target=guarded(work)) for work in (single, single, batches, play, look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert forest.n_events == 2 * 1500 + 4000 + 4000
    assert forest.play(*easy_world(500, seed=3)).rewards.mean() > 0.9


def test_concurrent_decisions_are_the_decisions_of_one_thread():
    """Deciding changes nothing but the number of the next draw: the same draws are made, by whichever thread."""
    alone = BanditForest(n_variables=10, n_actions=2, growth=Elimination(), exploration=RoundRobin())
    shared = BanditForest(n_variables=10, n_actions=2, growth=Elimination(), exploration=RoundRobin())
    contexts, _ = easy_world(4000)
    expected = np.bincount(alone.decide_many(contexts).actions)
    results = [None] * 4

    def decide(part):
        results[part] = shared.decide_many(contexts[part::4]).actions

    threads = [threading.Thread(target=decide, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(np.bincount(np.concatenate(results)), expected)


def test_rewards_that_do_not_vary_are_no_reason_to_split():
    forest = BanditForest(n_variables=10, n_actions=2, n_trees=10, seed=1)
    contexts = np.random.default_rng(0).integers(0, 2, (20_000, 10), dtype=np.uint8)
    forest.play(contexts, np.ones((20_000, 2)))
    assert forest.n_nodes == forest.n_trees


def test_optimism_prefers_the_action_that_less_is_known_of():
    context, shares = np.zeros(3, dtype=np.uint8), []
    for optimism in (0.0, 0.3):
        rules = {"growth": Greedy(linear=False), "exploration": InverseGap(optimism=optimism)}
        forest = BanditForest(n_variables=3, n_actions=2, n_trees=10, **rules)
        for action, n_events in ((0, 2000), (1, 100)):
            rewards = np.tile([0.0, 1.0], n_events // 2)
            contexts = np.zeros((n_events, 3), dtype=np.uint8)
            forest.learn_many(contexts, np.full(n_events, action), rewards, propensities=np.full(n_events, 0.5))
        shares.append(forest.propensities(context)[1])
    assert shares[1] > 0.5 > shares[0]
