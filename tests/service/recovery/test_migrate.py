"""A journal carried over into another definition: what both can express is kept, the rest is told."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from projects import Clock, context, make_project, opened, play
from running import CONTEXT, Running, write_project

from bandit_forest.bandit import BooleanFeature, CategoricalFeature, NumericFeature
from bandit_forest.errors import InvalidArgumentError
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.project_file import load_project
from bandit_forest.service.config.tables import Actions, RewardRule
from bandit_forest.service.domain.state import State
from bandit_forest.service.journal.files import read_entries
from bandit_forest.service.recovery.migrate import migrate
from bandit_forest.service.recovery.recover import open_folder, rebuild
from bandit_forest.service.recovery.verify import verify


@pytest.fixture
def old(tmp_path: Path) -> Project:
    project = make_project(tmp_path / "old", reward=RewardRule(low=0, high=10))
    with opened(project) as decider:
        play(decider, 60)
        decider.learn(context(7), action="b", reward=9.5, propensity=0.5, event_id="l")
        decider.add_action("d")
        decider.disable_action("c")
        decider.decide(context(8), event_id="big", available_actions=["a", "d"])
        decider.reward("big", 10)
    return project


def new(tmp_path: Path, **changes: Any) -> Project:
    return make_project(tmp_path / "new", **{"reward": RewardRule(low=0, high=10)} | changes)


def folder_digest(folder: Path) -> str:
    content = b"".join(file.name.encode() + file.read_bytes() for file in sorted(folder.glob("*")) if file.is_file())
    return hashlib.sha256(content).hexdigest()


def finished(state: State) -> list[tuple[Any, ...]]:
    return [(event.event_id, event.action, event.propensity, event.reward) for event in state.remembered.values()]


@pytest.mark.parametrize(
    "changes",
    [
        {"forest": {"n_trees": 9, "seed": 1}},
        {"context": {"age": NumericFeature(edges=(25, 40, 60), missing=True), "member": BooleanFeature()}},
        {"actions": Actions(names=("a", "b", "c", "e"), capacity=8)},
        {"reward": RewardRule(low=-5, high=20)},
        {
            "context": {"age": NumericFeature(missing=True), "city": CategoricalFeature(max_values=2)},
            "warm_up_events": 20,
        },
    ],
)
def test_every_event_that_both_definitions_can_express_is_kept(old: Project, tmp_path: Path, changes: Any) -> None:
    before, project = folder_digest(old.storage.folder), new(tmp_path, **changes)
    told = migrate(old, project, dry_run=True)
    assert not project.storage.folder.exists()
    report = migrate(old, project)
    assert report == told
    assert (report.n_events, report.n_kept, report.left_out) == (62, 62, {})
    assert set(report.dropped_features) == {"age", "city", "member"} - set(project.context)
    assert folder_digest(old.storage.folder) == before
    ours, theirs = rebuild(open_folder(project)), rebuild(open_folder(old))
    assert list(ours.waiting) == list(theirs.waiting)
    assert ours.bandit.version == theirs.bandit.version
    assert finished(ours) == finished(theirs)
    verify(project)
    with opened(project, Clock(1_000_500.0)) as decider:
        decider.decide({name: context(3)[name] for name in project.context}, event_id="after")
        decider.reward("after", 5)
        assert decider.status().model_version == theirs.bandit.version + 1
    verify(project)


def test_what_cannot_be_carried_over_is_told(old: Project, tmp_path: Path) -> None:
    features = {"age": NumericFeature(edges=(30,), missing=True), "height": NumericFeature(edges=(1.8,))}
    assert migrate(old, new(tmp_path, context=features), dry_run=True).left_out == {
        "a context has no fitting 'height'": 62
    }
    small = migrate(old, new(tmp_path, reward=RewardRule(low=0, high=9)))
    assert small.left_out == {"a reward is outside [0, 9]": 2}
    assert (small.n_kept, small.n_rewards) == (61, 48)
    assert "Left out, 2 times: a reward is outside [0, 9]." in str(small)
    kinds = [(entry.kind, entry.reward) for entry in read_entries(tmp_path / "new") if entry.event_id == "big"]
    assert kinds == [("decide", None), ("expire", None)]  # no lesson
    verify(new(tmp_path, reward=RewardRule(low=0, high=9)))


def test_actions_without_room_are_left_out_with_their_events(old: Project, tmp_path: Path) -> None:
    with opened(old, Clock(1_000_100.0)) as decider:
        decider.disable_action("d")
        decider.remove_action("d")
    report = migrate(old, new(tmp_path, actions=Actions(names=("a", "b"), capacity=3)))
    assert report.left_out["the action 'd' cannot be added"] == 1
    assert report.left_out["the action 'd' is not there to be disabled"] == 1
    assert report.left_out["the action 'd' is not there to be removed"] == 1
    assert report.n_kept >= 61


def test_a_folder_that_is_used_is_never_written_into(old: Project, tmp_path: Path) -> None:
    with opened(new(tmp_path)) as decider:
        decider.decide(context())
    with pytest.raises(InvalidArgumentError, match="a new one, without a journal"):
        migrate(old, new(tmp_path))
    with pytest.raises(InvalidArgumentError, match="a folder with a journal"):
        migrate(make_project(tmp_path / "nowhere"), new(tmp_path / "x"))


def test_a_refused_difference_is_named_with_the_command_that_helps(old: Project) -> None:
    changes = {"age": NumericFeature(edges=(30, 60), missing=True), "city": None, "member": BooleanFeature()}
    other = make_project(
        old.storage.folder,
        forest={"n_trees": 6, "seed": 7},
        reward=RewardRule(low=0, high=20),
        context={name: feature for name, feature in changes.items() if feature is not None},
    )
    with pytest.raises(InvalidArgumentError) as refused:
        open_folder(other)
    told = str(refused.value)
    assert "context.age.edges is (30.0, 60.0) and was (30.0, 50.0)" in told
    assert "context.city is absent and was a categorical feature" in told
    assert "forest.n_trees is 6 and was 5" in told
    assert "reward range.high is 20.0 and was 10.0" in told
    assert "seed" not in told
    assert "bandit-forest migrate OLD.toml NEW.toml" in told


def test_the_command_migrates_a_served_project(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    file = write_project(tmp_path / "a")
    with Running(file) as service:
        for number in range(20):
            service.post("/v1/decide", {"context": CONTEXT, "event_id": f"e{number}"})
            service.post("/v1/reward", {"event_id": f"e{number}", "reward": 1})
    other = tmp_path / "other.toml"
    other.write_text(file.read_text().replace("edges = [30, 50]", "edges = [20]").replace("n_trees = 5", "n_trees = 7"))
    main = "from bandit_forest.cli import main; main()"
    for options, verb in ((["--dry-run"], False), ([], True)):
        command = [sys.executable, "-c", main, "migrate", str(file), str(other), *options]
        told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        assert told == "Events carried over: 20 of 20, with 20 rewards.\n"
        assert (tmp_path / "data").exists() is verb
    assert verify(load_project(other)).n_events == 20
    with Running(other) as service:
        assert service.get("/v1/status")["model_version"] == 20
