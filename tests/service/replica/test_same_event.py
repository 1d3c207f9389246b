"""An event_id that comes again at a replica: the same request gets the same answer, another one a conflict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from running import CONTEXT, Running, write_project

OTHER = CONTEXT | {"age": 7}
LEARNED = {"context": CONTEXT, "action": "gold", "reward": 1, "propensity": 0.5, "event_id": "l"}


def coded(told: dict[str, Any]) -> list[str | None]:
    (items,) = told.values()
    return [item.get("error", {}).get("code") for item in items]


@pytest.fixture(params=["alone", "replica"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The file of a project; what holds for a service that is alone holds for a replica."""
    storage = "" if request.param == "alone" else f'journal = "{request.getfixturevalue("url")}"'
    return write_project(tmp_path, storage=storage, more='[limits]\nwaiting_events = 2\nwaiting_full = "refuse"')


def test_one_batch_may_hold_an_event_twice_but_not_two_of_one_name(file: Path):
    asked = {"context": CONTEXT, "event_id": "e"}
    with Running(file) as service:
        told = service.post("/v1/decide/batch", {"events": [asked, asked, asked | {"context": OTHER}]})
        assert coded(told) == [None, None, "event_conflict"]
        assert told["decisions"][0] == told["decisions"][1]
        told = service.post("/v1/learn/batch", {"events": [LEARNED, LEARNED, LEARNED | {"reward": 0}]})
        assert coded(told) == [None, "duplicate_reward", "event_conflict"]
