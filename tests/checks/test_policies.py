"""Every policy of the package passes every check."""

from __future__ import annotations

from functools import partial

import pytest

from bandit_forest import BanditForest, BanditTree, Elimination, Greedy
from bandit_forest.baselines import UCB, Banditron, LinUCB, NeuralBandit, SuccessiveElimination, Uniform
from bandit_forest.checks import Subject, cases
from bandit_forest.reference.forest import ReferenceForest
from bandit_forest.reference.greedy import GreedyReferenceForest
from bandit_forest.rules import RoundRobin, UniformOverRemaining

GREEDY = Greedy(min_events=20, min_gain=0.0, log_capacity=2**8)
ROTATION = {"growth": Elimination(tolerance=0.3), "exploration": RoundRobin()}
DRAWS = {
    "growth": Elimination(tolerance=0.3, remaining_actions="path", estimate="weights", test_interval=16),
    "exploration": UniformOverRemaining(draw="union", quorum=0.5),
}


def without_seed(policy):
    return lambda seed, **sizes: policy(**sizes)


SUBJECTS = [
    Subject(make=Uniform, name="Uniform", learns=False, n_events=1000),
    Subject(make=without_seed(UCB), name="UCB", uses_contexts=False, n_events=1000),
    Subject(make=without_seed(SuccessiveElimination), name="SuccessiveElimination", uses_contexts=False, n_events=1000),
    Subject(make=Banditron, name="Banditron", n_events=1000),
    Subject(make=without_seed(LinUCB), name="LinUCB", n_events=1000),
    Subject(make=NeuralBandit, name="NeuralBandit", n_events=1000),
    Subject(make=partial(ReferenceForest, n_trees=2, **DRAWS), name="ReferenceForest", n_events=1000),
    Subject(
        make=partial(GreedyReferenceForest, n_trees=2, max_nodes=15, growth=GREEDY),
        name="GreedyReferenceForest",
        n_events=1500,
    ),
    Subject(make=partial(BanditForest, n_trees=10, max_nodes=15, growth=GREEDY), name="BanditForest"),
    Subject(make=partial(BanditForest.paper, n_trees=20, max_depth=(1, 3)), name="BanditForest.paper", n_events=20_000),
    Subject(make=partial(BanditForest, n_trees=5, max_depth=1, variable_share=0.8, **DRAWS), name="BanditForest.draws"),
    Subject(
        make=partial(BanditForest, n_trees=3, max_depth=1, variable_share=0.8, **ROTATION),
        name="BanditForest.rotation",
        n_events=10_000,
    ),
    Subject(make=partial(BanditTree, max_depth=2), name="BanditTree"),
    Subject(make=partial(BanditTree, max_depth=20, max_nodes=15), name="BanditTree.full", n_events=12_000),
]


@pytest.mark.parametrize(("subject", "check"), [pytest.param(*case[1:], id=case[0]) for case in cases(*SUBJECTS)])
def test_policy(subject, check):
    check(subject)
