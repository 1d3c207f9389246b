"""The door of the compiled forest over pairs refuses what does not fit, which no public call hands over."""

from typing import Any

import numpy as np
import pytest

import doors
from bandit_forest.forest.pairs import PairForest
from doors import codes

pytestmark = pytest.mark.core


def numbers(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.uint64)


def starts(*positions: int) -> np.ndarray:
    return np.array(positions, np.int64)


# Two events of a context of three variables, and five offered actions of two variables.
OFFERS = {"contexts": codes(2, 3), "actions": codes(5, 2), "starts": starts(0, 3, 5), "names": numbers(5)}
FITTING = {
    "decide": OFFERS | {"keys": numbers(2)},
    "rank": OFFERS | {"keys": numbers(2)},
    "propensities": OFFERS,
    "mean_rewards": OFFERS,
    "learn": {"contexts": codes(2, 3), "actions": codes(2, 2), "names": numbers(2), "rewards": np.ones(2)},
}
WRONG_OFFERS: list[tuple[str, Any]] = [
    ("contexts", codes(2, 2)),
    ("contexts", codes(3, 3)),
    ("actions", codes(5, 3)),
    ("actions", codes(4, 2)),
    ("actions", codes(6, 2)),
    ("names", numbers(4)),
    ("names", numbers(0)),
    ("starts", starts()),
    ("starts", starts(0, 5)),
    ("starts", starts(0, 3, 4, 5)),
    ("starts", starts(1, 3, 5)),
    ("starts", starts(-1, 3, 5)),
    ("starts", starts(0, 3, 6)),
    ("starts", starts(0, 6, 5)),
    ("starts", starts(0, 5, 5)),
]
WRONG_KEYS = [numbers(1), numbers(0)]
WRONG_LESSONS: list[tuple[str, Any]] = [
    ("contexts", codes(2, 2)),
    ("contexts", codes(3, 3)),
    ("actions", codes(2, 3)),
    ("actions", codes(1, 2)),
    ("names", numbers(1)),
    ("names", numbers(0)),
    ("rewards", np.ones(1)),
]
WRONG = [
    *((method, name, wrong) for method in FITTING if method != "learn" for name, wrong in WRONG_OFFERS),
    *((method, "keys", wrong) for method in ("decide", "rank") for wrong in WRONG_KEYS),
    *(("learn", name, wrong) for name, wrong in WRONG_LESSONS),
]


@pytest.mark.parametrize(("method", "name", "wrong"), WRONG)
def test_what_does_not_fit_is_refused(method: str, name: str, wrong: Any) -> None:
    core = PairForest(n_context_variables=3, n_action_variables=2, n_trees=5)._core
    core.learn(**FITTING["learn"])
    assert doors.refuses(core, method, FITTING[method], name, wrong)


@pytest.mark.parametrize("method", ["decide", "rank"])
def test_no_events_offer_nothing(method: str) -> None:
    core: Any = PairForest(n_context_variables=3, n_action_variables=2, n_trees=5)._core
    none = {"contexts": codes(0, 3), "actions": codes(0, 2), "starts": starts(0), "names": None, "keys": None}
    assert [len(part) for part in getattr(core, method)(**none)] == [0, 0]
