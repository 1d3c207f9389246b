"""The bounds, as their statements have them."""

import math

import pytest

from bandit_forest import theory
from bandit_forest.errors import InvalidArgumentError
from bandit_forest.optimal import OptimalForest
from bandit_forest.worlds import Stump

K, M, L, D, DELTA, D1, D2 = 5, 40, 10, 3, 0.05, 0.2, 0.1
STUMP = {"n_actions": K, "delta": DELTA, "variable_gap": D1, "action_gap": D2}


def test_the_statements_of_the_lemmas():
    assert theory.variable_selection_events(n_variables=M, n_actions=K, delta=DELTA, variable_gap=D1) == pytest.approx(
        64 * K / D1**2 * math.log(8 * K * M / (DELTA * D1))
    )
    assert theory.variable_selection_least_events(n_actions=K, delta=DELTA, variable_gap=D1) == pytest.approx(
        K / D1**2 * math.log(1 / DELTA)
    )
    assert theory.action_selection_events(n_actions=K, delta=DELTA, action_gap=D2) == pytest.approx(
        64 * K / D2**2 * math.log(4 * K / (DELTA * D2))
    )
    assert theory.action_selection_least_events(n_actions=K, delta=DELTA, action_gap=D2) == pytest.approx(
        K / D2**2 * math.log(1 / DELTA)
    )


def test_the_statements_of_the_theorems():
    assert theory.decision_stump_events(n_variables=M, **STUMP) == pytest.approx(
        64 * K / D1**2 * math.log(4 * K * M / (DELTA * D1)) + 64 * K / D2**2 * math.log(4 * K / (DELTA * D2))
    )
    assert theory.decision_stump_least_events(**STUMP) == pytest.approx(
        (1 / D1**2 + 1 / D2**2) * K * math.log(1 / DELTA)
    )
    assert theory.forest_events(n_variables=M, n_trees=L, max_depth=D, **STUMP) == pytest.approx(
        2**D
        * (
            64 * K / D1**2 * math.log(4 * K * M * D * L / (DELTA * D1))
            + 64 * K / D2**2 * math.log(4 * L * K / (DELTA * D2))
        )
    )
    assert theory.forest_least_events(max_depth=D, **STUMP) == pytest.approx(
        2**D * (1 / D1**2 + 1 / D2**2) * K * math.log(1 / DELTA)
    )


def test_a_forest_of_one_stump_needs_twice_what_the_stump_needs():
    stump = theory.decision_stump_events(n_variables=M, **STUMP)
    assert theory.forest_events(n_variables=M, n_trees=1, max_depth=1, **STUMP) == pytest.approx(2 * stump)


def test_twice_the_variables_cost_the_same_more_each_time():
    needed = [
        theory.variable_selection_events(n_variables=2**power, n_actions=2, delta=0.1, variable_gap=0.3)
        for power in (3, 4, 11, 12)
    ]
    assert needed[1] - needed[0] == pytest.approx(needed[3] - needed[2])


def test_nothing_is_found_in_fewer_events_than_the_lower_bounds():
    assert theory.decision_stump_least_events(**STUMP) < theory.decision_stump_events(n_variables=2, **STUMP)
    lower = theory.forest_least_events(max_depth=D, **STUMP)
    assert lower < theory.forest_events(n_variables=2, n_trees=1, max_depth=D, **STUMP)


def test_the_gaps_of_an_optimal_forest_fit_in():
    world = Stump(n_variables=5, n_actions=4, variable_gap=0.1, action_gap=0.3)
    forest = OptimalForest(*world.joint_distribution(), n_trees=3, max_depth=1)
    sizes = {"n_variables": 5, "n_actions": 4, "n_trees": 3, "max_depth": 1, "delta": 0.1}
    assert theory.forest_events(
        **sizes, variable_gap=forest.variable_gap, action_gap=forest.action_gap
    ) == pytest.approx(theory.forest_events(**sizes, variable_gap=0.1, action_gap=0.3))


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"n_variables": 1}, "n_variables"),
        ({"n_actions": 1}, "n_actions"),
        ({"delta": 0.0}, "delta"),
        ({"variable_gap": 0}, "variable_gap"),
        ({"action_gap": 1.5}, "action_gap"),
    ],
)
def test_what_the_statements_do_not_cover_is_refused(wrong, name):
    with pytest.raises(InvalidArgumentError, match=f"The '{name}' of decision_stump_events must be"):
        theory.decision_stump_events(**{"n_variables": M} | STUMP | wrong)
