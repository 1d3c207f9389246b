"""Public calls beside the policy protocol refuse what they do not take, in the one sentence."""

import re

import pytest

from bandit_forest import BanditForest, InvalidArgumentError, check_policy
from bandit_forest.baselines import Uniform
from bandit_forest.optimal import OptimalForest, OptimalTree
from bandit_forest.reference.forest import ReferenceForest
from bandit_forest.reference.greedy import GreedyReferenceForest
from bandit_forest.simulation import simulate
from bandit_forest.worlds import HiddenTree

SENTENCE = re.compile(r"The '\w+' of \w+(\.\w+)? must be .+\. Got .+ instead\.", re.DOTALL)
FOREST = BanditForest(n_variables=3, n_actions=2, n_trees=2)


def simulated(**changes):
    world = HiddenTree(n_variables=3, n_actions=2, depth=1)
    arguments = {"policy": Uniform(n_variables=3, n_actions=2), "world": world, "n_events": 10, "seed": 0}
    return simulate(**(arguments | changes))


def reference(**changes):
    return ReferenceForest(**({"n_variables": 3, "n_actions": 2} | changes))


def greedy_reference(**changes):
    return GreedyReferenceForest(**({"n_variables": 3, "n_actions": 2} | changes))


def optimal_tree(**changes):
    rows = {"contexts": [[0], [1]], "rewards": [[0, 1], [1, 0]], "max_depth": 1}
    return OptimalTree(**(rows | changes))


def optimal_forest(**changes):
    rows = {"contexts": [[0], [1]], "rewards": [[0, 1], [1, 0]], "max_depth": 1, "n_trees": 2}
    return OptimalForest(**(rows | changes))


SIZES = [0, -1, 1.5, "3", None]
WRONG = {
    simulated: {
        "policy": [3, None],
        "world": [3, None],
        "n_events": SIZES,
        "seed": [-1, 1.5, "0", None],
        "rows": [5, [0], [11], [3, 2], ["a"], [1.5]],
        "progress": [3, "yes"],
    },
    check_policy: {"make": [3, None]},
    FOREST.tree(0).to_text: {"max_depth": [-1, 1.5, "deep"]},
    FOREST.save: {"path": [3, None, "", b"bytes", "a\0b", ["x"]]},
    BanditForest.load: {"path": [3, None, "", b"bytes", "a\0b", ["x"]]},
    reference: {"n_trees": SIZES, "variable_share": [0.0, 2.0, "x", None], "max_nodes": SIZES, "seed": [-1, None]},
    greedy_reference: {"n_trees": SIZES, "variable_share": [0.0, float("nan")], "max_nodes": SIZES, "seed": [-1, 1.5]},
    optimal_tree: {"seed": [-1, None], "max_depth": [-1, 1.5], "variable_share": [0.0, 1.5], "tree": [-1, "0"]},
    optimal_forest: {"n_trees": SIZES, "seed": [-1, None], "max_depth": [-1, "deep"]},
}
CASES = [
    pytest.param(call, name, value, id=f"{call.__name__}-{name}-{value!r}")
    for call, arguments in WRONG.items()
    for name, values in arguments.items()
    for value in values
]


@pytest.mark.parametrize(("call", "name", "value"), CASES)
def test_wrong_arguments_are_refused_in_one_sentence(call, name, value):
    with pytest.raises(InvalidArgumentError, match=SENTENCE) as caught:
        call(**{name: value})
    assert str(caught.value).startswith(f"The '{name}' of ")
