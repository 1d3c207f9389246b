"""Every policy over pairs of the package passes every check of such policies."""

from __future__ import annotations

import pytest

from bandit_forest.baselines.pairs import HybridLinUCB, SharedLinUCB
from bandit_forest.checks import PairSubject, cases
from bandit_forest.forest.pairs import PairForest
from bandit_forest.rules import Greedy


def linear(kind):
    """Return what makes a linear policy: its features are numbers, it has no seed."""

    def make(*, n_context_variables, n_action_variables, seed):
        return kind(n_context_features=n_context_variables, n_action_features=n_action_variables)

    return make


def forest(**sizes):
    growth = Greedy(min_events=10, min_gain=8.0, n_thresholds=8, log_capacity=2**9)
    return PairForest(n_trees=4, max_nodes=15, n_names=64, growth=growth, **sizes)


SUBJECTS = [
    PairSubject(make=linear(SharedLinUCB), name="SharedLinUCB", knows_names=False, n_events=1000),
    PairSubject(make=linear(HybridLinUCB), name="HybridLinUCB", is_bounded=False, n_events=1000),
    PairSubject(make=forest, name="PairForest", n_events=2000),
]


@pytest.mark.parametrize(("subject", "check"), [pytest.param(*case[1:], id=case[0]) for case in cases(*SUBJECTS)])
def test_pair_policy(subject, check):
    check(subject)
