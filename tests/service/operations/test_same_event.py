"""An event_id that comes again: the same request gets the same answer, another one a conflict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from projects import context, make_project, opened, refuses
from running import CONTEXT, Running, write_project

from bandit_forest.service.config.tables import RewardRule

OTHERS: list[dict[str, Any]] = [
    {"context": CONTEXT | {"age": 43}},  # of the same bin
    {"context": {name: value for name, value in CONTEXT.items() if name != "age"}},
    {"context": CONTEXT, "available_actions": ["basic", "plus"]},
]


def test_a_known_event_id_with_another_body_is_a_conflict(tmp_path: Path) -> None:
    project = write_project(tmp_path)
    with Running(project) as service:
        first = service.post("/v1/decide", {"context": CONTEXT, "event_id": "e"})
        before = service.state()
        for other in OTHERS:
            service.refused("/v1/decide", other | {"event_id": "e"}, status=409, code="event_conflict", at="$.event_id")
        turned = dict(reversed(CONTEXT.items()))
        assert service.post("/v1/decide", {"event_id": "e", "context": turned}) == first
        batch = [{"context": CONTEXT, "event_id": name} for name in ("e", "new", "new")]
        batch += [other | {"event_id": name} for other in OTHERS for name in ("e", "new")]
        batch += [{"context": CONTEXT | {"age": "old"}, "event_id": name} for name in ("e", "new")]
        told = service.post("/v1/decide/batch", {"events": batch})["decisions"]
        assert [one.get("error", {}).get("code") for one in told] == [None] * 3 + ["event_conflict"] * 6 + [
            "invalid_request"
        ] * 2
        assert service.state()["seq"] == before["seq"] + 1
        service.kill()
    with Running(project) as service:  # from the journal
        assert service.post("/v1/decide", {"context": CONTEXT, "event_id": "e"}) == first
        service.refused("/v1/decide", OTHERS[0] | {"event_id": "e"}, status=409, code="event_conflict", at="$.event_id")
        service.stop()
    with Running(project) as service:  # from a snapshot
        assert service.post("/v1/decide", {"context": CONTEXT, "event_id": "e"}) == first
        service.refused("/v1/decide", OTHERS[0] | {"event_id": "e"}, status=409, code="event_conflict", at="$.event_id")


def test_in_shadow_mode_what_the_application_chose_belongs_to_the_request(tmp_path: Path) -> None:
    project = make_project(tmp_path, mode="shadow")
    for _ in range(2):
        with opened(project) as decider:
            decider.decide(context(), event_id="e", action="a")
            assert decider.decide(context(), event_id="e", action="a", propensity=1.0).action == "a"
            for other in ({"action": "b"}, {"action": "a", "propensity": 0.5}):
                with refuses("event_conflict"):
                    decider.decide(context(), event_id="e", **other)


@pytest.mark.parametrize("change", [{"action": "b"}, {"reward": 0.5}, {"propensity": 0.25}, {"context": context(3)}])
def test_an_event_is_learned_from_one_request(tmp_path: Path, change: dict[str, Any]) -> None:
    project = make_project(tmp_path, reward=RewardRule(on_duplicate="ignore"))
    request = {"context": context(), "action": "a", "reward": 1.0, "propensity": 0.5, "event_id": "l"}
    for _ in range(2):
        with opened(project) as decider:
            decider.learn(**request)
            assert decider.learn(**request).ignored
            with refuses("event_conflict"):
                decider.learn(**request | change)
            with refuses("event_conflict"):
                decider.decide(context(), event_id="l")
            assert decider.status().learned == 1
