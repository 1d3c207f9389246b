"""The actions of a project file that has changed between two starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from projects import context, make_project, opened
from running import CONTEXT, Running, write_project

from bandit_forest.bandit.errors import ActionError
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.tables import Actions
from bandit_forest.service.recovery.verify import verify


def project(folder: Path, *names: str) -> Project:
    return make_project(folder, actions=Actions(names=names, capacity=8))


def states(folder: Path, *names: str) -> dict[str, str]:
    """Start with a file that names these actions; return the state of each."""
    with opened(project(folder, *names)) as decider:
        return decider.context.bandit.actions


def test_an_action_deleted_from_the_file_is_not_drawn_after_a_restart(tmp_path: Path) -> None:
    file = write_project(tmp_path)
    with Running(file) as service:
        service.post("/v1/actions/add", {"name": "added"})
    file.write_text(file.read_text().replace('"basic", "plus", "gold"', '"basic", "extra"'))
    with (tmp_path / "log").open("w") as log, Running(file, log=log) as service:
        events = [{"context": CONTEXT} for _ in range(600)]
        drawn = {one["action"] for one in service.post("/v1/decide/batch", {"events": events})["decisions"]}
        told = {action["name"]: action["state"] for action in service.get("/v1/status")["actions"]}
    assert drawn == {"basic", "extra", "added"}
    assert told == {"basic": "enabled", "plus": "disabled", "gold": "disabled", "added": "enabled", "extra": "enabled"}
    told = (tmp_path / "log").read_text()
    assert "'plus' is gone from the project file since the last start, and disabled now" in told


def test_a_name_that_comes_back_is_enabled_again(tmp_path: Path) -> None:
    states(tmp_path, "a", "b", "c")
    assert states(tmp_path, "a", "renamed", "c") == {
        "a": "enabled",
        "b": "disabled",
        "c": "enabled",
        "renamed": "enabled",
    }
    assert states(tmp_path, "a", "b") == {"a": "enabled", "b": "enabled", "c": "disabled", "renamed": "disabled"}
    assert verify(project(tmp_path, "a", "b")).n_entries == 11


def test_what_was_changed_while_the_service_ran_stays(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with opened(project(tmp_path, "a", "b", "c")) as decider:
        decider.disable_action("b")
        decider.remove_action("c")
        decider.add_action("d")
    for _ in range(2):
        assert states(tmp_path, "a", "b", "c") == {"a": "enabled", "b": "disabled", "c": "removed", "d": "enabled"}
    assert "'c' is removed for ever, though the project file names it" in caplog.text


def test_a_file_that_would_leave_no_action_is_refused(tmp_path: Path) -> None:
    with opened(project(tmp_path, "a", "b")) as decider:
        decider.disable_action("a")
        decider.decide(context())
    with pytest.raises(ActionError, match="b"):
        states(tmp_path, "a")
    assert states(tmp_path, "a", "b") == {"a": "disabled", "b": "enabled"}
