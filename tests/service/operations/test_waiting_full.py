"""As many events wait as may: decisions go on, the oldest expire early, and the alarm is up."""

from __future__ import annotations

from pathlib import Path

import pytest
from projects import context, make_project, opened, refuses
from running import CONTEXT, Running, write_project

from bandit_forest.errors import InvalidArgumentError
from bandit_forest.service.config.tables import Limits, RewardRule
from bandit_forest.service.recovery.verify import verify


def test_unrewarded_events_never_stop_deciding(tmp_path: Path) -> None:
    project = write_project(tmp_path, more="[limits]\nwaiting_events = 50\n")
    with (tmp_path / "log").open("w") as log, Running(project, log=log) as service:
        for number in range(120):
            service.post("/v1/decide", {"context": CONTEXT, "event_id": f"e{number}"})
        service.post("/v1/decide/batch", {"events": [{"context": CONTEXT} for _ in range(40)]})
        status, metrics = service.get("/v1/status"), service.http.get("/metrics").text
        assert (status["waiting"], status["waiting_limit"], status["expired_early"]) == (50, 50, 110)
        for line in (
            "waiting_events 50",
            "waiting_events_limit 50",
            "expired_early_total 110",
            "expired_total 110",
        ):
            assert f"\nbandit_forest_{line}.0\n" in metrics
        service.refused("/v1/reward", {"event_id": "e0", "reward": 1}, status=410, code="late_reward", at="$.event_id")
        service.post("/v1/reward", {"event_id": "e119", "reward": 1})
    assert (tmp_path / "log").read_text().count("the oldest expire early") == 1


def test_what_expires_early_gets_the_default_reward_and_is_replayed(tmp_path: Path) -> None:
    project = make_project(tmp_path, limits=Limits(waiting_events=5), reward=RewardRule(default=0.0))
    with opened(project) as decider:
        for number in range(12):
            decider.decide(context(number), event_id=f"e{number}")
        assert list(decider.state.waiting) == [f"e{number}" for number in range(7, 12)]
        assert decider.status().model_version == 7
        results = decider.decide_many([{"context": context(number)} for number in range(7)])
        assert [getattr(result, "code", None) for result in results] == [None] * 5 + ["too_many_waiting"] * 2
        assert decider.status().expired == 12
    assert verify(project).n_waiting == 5


def test_a_project_may_refuse_instead(tmp_path: Path) -> None:
    project = make_project(tmp_path, limits=Limits(waiting_events=5, waiting_full="refuse"))
    with opened(project) as decider:
        for number in range(5):
            decider.decide(context(number))
        with refuses("too_many_waiting"):
            decider.decide(context())
    with pytest.raises(InvalidArgumentError, match="'expire' or 'refuse'"):
        Limits(waiting_full="forget")
