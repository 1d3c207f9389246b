"""Visits of a shop, and a bandit that has learned from them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
import pytest

from bandit_forest import Bandit

ACTIONS = ["stay", "go", "wait"]
FOREST = {"n_trees": 8}


def rows(n_rows: int, seed: int = 0) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    return [
        {
            "age": None if rng.random() < 0.1 else int(rng.integers(18, 90)),
            "basket": float(rng.gamma(2.0, 20.0)),
            "city": str(rng.choice(["Lannion", "Paris", "Nice"])),
            "member": bool(rng.random() < 0.5),
            "tags": [tag for tag in ("new", "sale") if rng.random() < 0.5],
            "time": datetime(2024, int(rng.integers(1, 13)), 3, int(rng.integers(0, 24))),
        }
        for _ in range(n_rows)
    ]


def frame(n_rows: int, seed: int = 0) -> Any:
    """Logged events of a uniform policy: members like to go, others to stay."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    events = pd.DataFrame(rows(n_rows, seed))
    events["action"] = rng.choice(ACTIONS, n_rows)
    liked = events["action"] == np.where(events["member"], "go", "stay")
    events["revenue"] = np.where(liked, 200.0, 20.0)
    events["propensity"] = 1 / 3
    return events


def learned(n_rows: int = 600, **others: Any) -> Bandit:
    bandit = Bandit(actions=ACTIONS, reward_range=(0, 250), forest=FOREST, **others)
    bandit.learn_many(frame(n_rows), "action", "revenue", propensities="propensity")
    return bandit
