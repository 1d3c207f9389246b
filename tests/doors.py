"""Arguments that fit the door of a compiled policy of three variables and four actions, and ones that do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

N_VARIABLES, N_ACTIONS, N_EVENTS = 3, 4, 5


def codes(*shape: int) -> np.ndarray:
    return np.ones(shape, np.uint8)


def mask(n_rows: int, n_actions: int = N_ACTIONS) -> np.ndarray:
    return np.ones(n_rows * n_actions, np.bool_)


def actions(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


FITTING: dict[str, dict[str, Any]] = {
    "decide": {"context": codes(3), "available": b""},
    "learn": {"context": codes(3), "action": 3, "reward": 1.0, "propensity": 0.5},
    "decide_many": {"contexts": codes(5, 3), "available": mask(1)},
    "learn_many": {
        "contexts": codes(5, 3),
        "actions": actions(0, 1, 2, 3, 0),
        "rewards": np.ones(5),
        "propensities": np.ones(5),
    },
    "play": {"contexts": codes(5, 3), "rewards": np.ones((5, 4))},
}
WRONG: list[tuple[str, str, Any]] = [
    ("decide", "available", mask(2)),
    ("decide", "available", ~mask(1)),
    ("decide", "available", bytes(4)),
    ("learn", "action", 4),
    ("learn", "action", 2**40),
    ("decide_many", "contexts", codes(5, 2)),
    ("decide_many", "contexts", codes(5, 4)),
    ("decide_many", "available", mask(2)),
    ("decide_many", "available", mask(6)),
    ("decide_many", "available", ~mask(1)),
    ("learn_many", "contexts", codes(5, 2)),
    ("learn_many", "contexts", codes(6, 3)),
    ("learn_many", "actions", actions(0, 1, 2, 3)),
    ("learn_many", "actions", actions(0, 1, 2, 3, 4)),
    ("learn_many", "actions", actions(0, 1, 2, 3, -1)),
    ("learn_many", "rewards", np.ones(4)),
    ("learn_many", "propensities", np.ones(4)),
    ("play", "contexts", codes(5, 2)),
    ("play", "rewards", np.ones((4, 4))),
    ("play", "rewards", np.ones((5, 3))),
    ("play", "rewards", np.ones((3, 7))),
]


def refuses(core: Any, method: str, fitting: dict[str, Any], name: str, wrong: Any) -> bool:
    """Return whether a method takes what fits, and refuses one argument that does not."""
    getattr(core, method)(**fitting)
    with pytest.raises(ValueError, match=r"^(a|an|there|contexts|each|the) "):
        getattr(core, method)(**fitting | {name: wrong})
    return True
