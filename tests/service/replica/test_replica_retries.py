"""An event_id that comes again at a replica: the same request gets the same answer, another one a conflict."""

from __future__ import annotations

import time
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


def test_a_retry_is_answered_after_its_action_was_removed(file: Path):
    asked = {"context": CONTEXT, "event_id": "e", "available_actions": ["basic", "gold"], "mean_rewards": True}
    with Running(file) as service:
        first = service.post("/v1/decide", asked)
        service.post("/v1/learn", LEARNED)
        service.post("/v1/actions/remove", {"name": "gold"})
        told = service.post("/v1/decide", asked)
        assert set(told.pop("mean_rewards")) == {"basic", "plus"}
        assert told.items() <= first.items()
        service.refused("/v1/learn", LEARNED, status=409, code="duplicate_reward", at="$.event_id")
        for other in (asked | {"context": OTHER}, asked | {"available_actions": ["gold"]}, asked | {"event_id": "l"}):
            service.refused("/v1/decide", other, status=409, code="event_conflict", at="$.event_id")
        for other in (LEARNED | {"propensity": 0.25}, LEARNED | {"event_id": "e"}):
            service.refused("/v1/learn", other, status=409, code="event_conflict", at="$.event_id")
        new = {"event_id": "new"}
        service.refused("/v1/decide", asked | new, status=422, code="invalid_request", at="$.available_actions")
        service.refused("/v1/learn", LEARNED | new, status=422, code="invalid_request", at="$.action")
        wrong = asked | {"context": {}}
        batch = service.post("/v1/decide/batch", {"events": [asked, asked | new, asked | {"context": OTHER}, wrong]})
        assert coded(batch) == [None, "invalid_request", "event_conflict", "invalid_request"]
        assert batch["decisions"][0] == service.post("/v1/decide", asked)
        assert batch["decisions"][1]["error"]["path"] == "$.events[1].available_actions"
        batch = service.post("/v1/learn/batch", {"events": [LEARNED, LEARNED | new]})
        assert coded(batch) == ["duplicate_reward", "invalid_request"]


def test_a_retry_is_answered_when_as_many_events_wait_as_may(file: Path):
    asked = {"context": CONTEXT, "event_id": "e0"}
    with Running(file) as service:
        first = service.post("/v1/decide", asked)
        service.post("/v1/decide", asked | {"event_id": "e1"})
        deadline = time.monotonic() + 30
        while service.get("/v1/status")["waiting"] < 2 and time.monotonic() < deadline:  # a replica counts now and then
            time.sleep(0.05)
        service.refused("/v1/decide", asked | {"event_id": "e2"}, status=429, code="too_many_waiting")
        service.refused("/v1/decide", {"context": CONTEXT}, status=429, code="too_many_waiting")
        assert service.post("/v1/decide", asked) == first
        service.refused("/v1/decide", asked | {"context": OTHER}, status=409, code="event_conflict", at="$.event_id")
