"""The compiled forest over pairs makes the same decisions as its specification, on random streams and settings."""

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bandit_forest.forest.pairs import PairForest
from bandit_forest.reference.pairs import PairReferenceForest
from bandit_forest.rules import Greedy, InverseGap
from bandit_forest.validation import key_number

pytestmark = pytest.mark.core

GROWTHS = st.builds(
    Greedy,
    min_events=st.sampled_from([2, 20, 65]),
    min_gain=st.sampled_from([0.0, 4.0]),
    shrinkage=st.sampled_from([0.5, 1.0]),
    n_thresholds=st.sampled_from([1, 4]),
    renewal_work=st.sampled_from([1, 64, 10_000]),
    log_capacity=st.sampled_from([None, None, 256]),
    linear=st.booleans(),
)


@st.composite
def forests(draw):
    n_context, n_action = draw(st.sampled_from([1, 3, 30])), draw(st.sampled_from([1, 4, 20]))
    ordered = draw(st.sets(st.integers(0, n_context + n_action - 1), max_size=4))
    return {
        "n_context_variables": n_context,
        "n_action_variables": n_action,
        "thresholds": {variable: range(1, draw(st.sampled_from([3, 10, 256]))) for variable in ordered},
        "n_trees": draw(st.sampled_from([1, 4, 5])),
        "max_depth": draw(st.sampled_from([1, (2, 6), 40])),
        "variable_share": draw(st.sampled_from([0.3, 1.0])),
        "growth": draw(GROWTHS),
        "exploration": InverseGap(
            gamma_scale=draw(st.sampled_from([0.5, 100.0])),
            optimism=draw(st.sampled_from([0.0, 0.3])),
            linear_optimism=draw(st.sampled_from([0.0, 0.3])),
        ),
        "max_nodes": draw(st.sampled_from([7, 2**17])),
        "n_names": draw(st.sampled_from([4, 16])),
        "n_named_actions": draw(st.sampled_from([0, 6, 40])),
        "seed": draw(st.integers(0, 2**64 - 1)),
    }


def offers(forest, n_events, seed):
    """Yield contexts, actions and names of events, with a reward for each action."""
    rng = np.random.default_rng(seed)
    n_context = forest.parameters["n_context_variables"]
    largest = np.ones(len(forest.variable_names), dtype=np.int64)
    for variable, thresholds in forest.parameters["thresholds"].items():
        largest[variable] = len(thresholds)
    all_actions = rng.integers(0, largest[n_context:] + 1, (40, len(largest) - n_context))
    for _ in range(n_events):
        offered = rng.integers(0, len(all_actions), rng.integers(1, 6))
        context = rng.integers(0, largest[:n_context] + 1)
        passes = context[0] > largest[0] // 2
        tops = all_actions[offered, 0] > largest[n_context] // 2
        rewards = np.where(passes == tops, 0.9, 0.2) * rng.random(len(offered))
        yield context, all_actions[offered], offered.astype(np.uint64), rewards


def play_both(parameters, n_events, seed):
    core, reference = PairForest(**parameters), PairReferenceForest(**parameters)
    rng = np.random.default_rng(seed)
    for number, (context, actions, names, rewards) in enumerate(offers(core, n_events, seed)):
        given_names = None if rng.random() < 0.2 else names
        listed = None if given_names is None else given_names.tolist()
        key = number if number % 3 == 0 else None
        hashed = None if key is None else key_number(key, "test")
        if number % 10 == 0:
            np.testing.assert_array_equal(
                core.mean_rewards(context, actions, names=given_names),
                reference.mean_rewards(context, actions, listed),
            )
            ranking = core.rank(context, actions, names=given_names, key=number)
            np.testing.assert_array_equal(
                ranking.order, reference.rank(context, actions, listed, key=key_number(number, "test"))
            )
        decision = core.decide(context, actions, names=given_names, key=key)
        assert decision == reference.decide(context, actions, listed, key=hashed)
        chosen = decision.action
        name = None if given_names is None else int(names[chosen])
        core.learn_many(
            [context],
            actions[[chosen]],
            rewards[[chosen]],
            propensities=[decision.propensity],
            names=None if name is None else names[[chosen]],
        )
        reference.learn(context, actions[chosen], rewards[chosen], name)
    weights = (reference.blend.trees, reference.blend.line, reference.names.weight, reference.named.weight)
    assert core.estimate_weights == weights
    return core, reference


@pytest.mark.slow
@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    phases=(Phase.explicit, Phase.generate),
)
@given(parameters=forests(), seed=st.integers(0, 2**32 - 1))
def test_play_is_identical(parameters, seed):
    core, reference = play_both(parameters, n_events=200, seed=seed)
    for number, tree in enumerate(reference.trees.trees):
        nodes = core.tree(number).nodes
        assert len(nodes) == len(tree.nodes)
        for row, node in enumerate(tree.nodes):
            assert (nodes.variable[row], nodes.threshold[row]) == ((-1, -1) if node.split is None else node.split.test)


@pytest.mark.parametrize("n_named_actions", [0, 40])
def test_a_forest_that_grows_is_identical(n_named_actions):
    parameters = {"n_context_variables": 2, "n_action_variables": 3, "n_trees": 4, "seed": 3}
    parameters |= {"n_names": 64, "n_named_actions": n_named_actions, "variable_share": 0.5}
    parameters |= {"growth": Greedy(min_events=20), "exploration": InverseGap(), "thresholds": {0: range(20)}}
    core, _ = play_both(parameters, n_events=1500, seed=2)
    assert max(len(core.tree(number).nodes) for number in range(4)) >= 3


def test_a_long_line_is_learned_by_descent():
    parameters = {"n_context_variables": 27, "n_action_variables": 27, "n_trees": 1, "seed": 3}
    parameters |= {"n_names": 64, "variable_share": 0.5}
    parameters |= {"growth": Greedy(), "exploration": InverseGap(), "thresholds": {0: range(20), 30: range(20)}}
    play_both(parameters, n_events=200, seed=2)
