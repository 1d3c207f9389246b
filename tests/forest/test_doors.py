"""The door of the compiled forests refuses what does not fit, which no public call hands over."""

from typing import Any

import numpy as np
import pytest

import doors
from bandit_forest import BanditForest, Elimination, Greedy
from doors import N_ACTIONS, N_EVENTS, N_VARIABLES, actions, codes, mask

pytestmark = pytest.mark.core

N_GROUPS = 2  # of five trees
GROWTHS = {"greedy": Greedy(), "no line": Greedy(linear=False), "elimination": Elimination()}


def core_of(growth: Any) -> Any:
    """The core of a forest that has learned five events."""
    forest = BanditForest(n_variables=N_VARIABLES, n_actions=N_ACTIONS, n_trees=5, growth=growth)
    core = forest._core
    core.learn_many(**doors.FITTING["learn_many"])
    return core


FITTING = doors.FITTING | {
    "decide_many": {"contexts": codes(5, 3), "available": mask(5), "keys": np.arange(5, dtype=np.uint64)},
    "propensities": {"context": codes(3), "available": mask(1)},
    "votes": {"context": codes(3), "available": mask(1)},
    "explain": {"context": codes(3), "available": mask(1)},
    "propensities_many": {"contexts": codes(5, 3), "available": mask(5)},
    "mean_rewards_many": {"contexts": codes(5, 3)},
}
WRONG = [
    *doors.WRONG,
    ("decide_many", "keys", np.arange(2, dtype=np.uint64)),
    ("decide_many", "keys", np.arange(0, dtype=np.uint64)),
    ("decide_many", "available", np.repeat([True, True, False, True, True], N_ACTIONS)),
    ("propensities", "available", mask(2)),
    ("propensities", "available", ~mask(1)),
    ("votes", "available", mask(2)),
    ("explain", "available", mask(2)),
    ("propensities_many", "contexts", codes(5, 2)),
    ("propensities_many", "available", mask(2)),
    ("propensities_many", "available", np.repeat([True, True, True, True, False], N_ACTIONS)),
    ("mean_rewards_many", "contexts", codes(5, 2)),
]


@pytest.mark.parametrize("growth", ["greedy", "elimination"])
@pytest.mark.parametrize(("method", "name", "wrong"), WRONG)
def test_what_does_not_fit_is_refused(growth: str, method: str, name: str, wrong: Any) -> None:
    assert doors.refuses(core_of(GROWTHS[growth]), method, FITTING[method], name, wrong)


LESSONS = {"contexts": codes(5, 3), "actions": actions(0, 1, 2, 3, 0), "rewards": np.ones(5)}
PARTS = {
    "learn_parts": LESSONS | {"first": 0, "last": N_GROUPS},
    "estimate_parts": {"contexts": codes(5, 3), "first": 0, "last": N_GROUPS},
}
WRONG_PARTS = [
    ("learn_parts", "contexts", codes(5, 2)),
    ("learn_parts", "actions", actions(0, 1, 2, 3)),
    ("learn_parts", "actions", actions(0, 1, 2, 3, 4)),
    ("learn_parts", "rewards", np.ones(4)),
    ("learn_parts", "first", N_GROUPS + 1),
    ("learn_parts", "last", N_GROUPS + 2),
    ("estimate_parts", "contexts", codes(5, 2)),
    ("estimate_parts", "first", N_GROUPS + 1),
    ("estimate_parts", "last", N_GROUPS + 2),
]


@pytest.mark.parametrize(("method", "name", "wrong"), WRONG_PARTS)
def test_parts_refuse_what_does_not_fit(method: str, name: str, wrong: Any) -> None:
    assert doors.refuses(core_of(GROWTHS["greedy"]), method, PARTS[method], name, wrong)


@pytest.mark.parametrize("method", PARTS)
def test_a_forest_without_a_line_has_no_part_for_it(method: str) -> None:
    assert doors.refuses(core_of(GROWTHS["no line"]), method, PARTS[method], "last", N_GROUPS + 1)


@pytest.mark.parametrize("growth", ["greedy", "no line"])
def test_estimates_of_some_parts_only_decide_nothing(growth: str) -> None:
    core = core_of(GROWTHS[growth])
    all_parts = core.estimate_parts(codes(5, 3), 0, N_GROUPS + (growth == "greedy"))
    fewer = core.estimate_parts(codes(5, 3), 0, N_GROUPS - 1)
    assert doors.refuses(core, "decide_by", {"estimates": all_parts}, "estimates", fewer)


@pytest.mark.parametrize("growth", ["greedy", "no line"])
@pytest.mark.parametrize(("n_notes", "wider"), [(N_EVENTS - 1, 0), (N_EVENTS, -1), (N_EVENTS, 1)])
def test_notes_that_do_not_fit_are_refused(growth: str, n_notes: int, wider: int) -> None:
    n_parts = N_GROUPS + (growth == "greedy")
    fitting = {"notes": np.zeros((N_EVENTS, n_parts)), "rewards": np.ones(N_EVENTS)}
    wrong = np.zeros((n_notes, n_parts + wider))
    assert doors.refuses(core_of(GROWTHS[growth]), "learn_weights", fitting, "notes", wrong)


def test_notes_about_more_events_than_were_learned_are_refused() -> None:
    core = core_of(GROWTHS["greedy"])
    with pytest.raises(ValueError, match="more events"):
        core.learn_weights(np.zeros((N_EVENTS + 1, N_GROUPS + 1)), np.ones(N_EVENTS + 1))


def test_a_refused_batch_leaves_the_forest_as_it_was() -> None:
    core = core_of(GROWTHS["greedy"])
    before = core.save()
    with pytest.raises(ValueError, match="no such action"):
        core.learn_many(**FITTING["learn_many"] | {"actions": actions(0, 1, 2, 3, 4)})
    assert core.save() == before
