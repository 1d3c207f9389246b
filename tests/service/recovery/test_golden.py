"""Storage folders of every format that there was: they open, keep every event, and go on."""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from offered_projects import play, rank
from projects import Clock, Decider

from bandit_forest.bandit import forests
from bandit_forest.bandit.pairs.settings import PairBanditSettings
from bandit_forest.errors import DamagedFileError
from bandit_forest.forest import BanditForest
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.project_file import load_project
from bandit_forest.service.journal.files import journal_files, read_entries
from bandit_forest.service.recovery.recover import open_folder, rebuild, recover
from bandit_forest.service.recovery.verify import verify

GOLDEN = Path(__file__).parents[1] / "golden"
CONTEXT = {"age": 31.5, "city": "Paris", "plan": "gold", "member": True}


@pytest.fixture(params=["elimination", "greedy"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    return copied(request.param, tmp_path)


def copied(name: str, folder: Path) -> Project:
    """Return the project of a copy of a golden folder."""
    shutil.copytree(GOLDEN / name, folder, dirs_exist_ok=True)
    return load_project(folder / "project.toml")


def expected(project: Project) -> dict[str, Any]:
    return json.loads((project.storage.folder.parent / "expected.json").read_text())


def is_same_engine(project: Project) -> bool:
    return open_folder(project).recomputed_from == 1


def check_events(project: Project) -> None:
    """Everything but the forest is as it was, whatever made the decisions."""
    known, state = expected(project), rebuild(open_folder(project))
    assert (state.seq, state.time) == (known["seq"], known["time"])
    assert list(state.waiting) == known["waiting"]
    finished = [[event.event_id, event.state, event.reward] for event in state.remembered.values()]
    assert finished == known["remembered"]
    statistics = state.statistics
    counts = (statistics.decisions, statistics.total.n_rewards, statistics.expired, statistics.learned)
    assert counts == (known["decisions"], known["rewards"], known["expired"], known["learned"])
    if project.actions is not None:
        assert [list(action) for action in state.bandit.registry.to_json()] == known["actions"]
    assert state.learner.version == known["model_version"]


def go_on(project: Project) -> None:
    decider = Decider.open(project, clock=Clock(1_000_400.0))
    assert decider.explain("last")["action"] in decider.context.bandit.actions
    decider.reward("last", 1.0)
    for number in range(30):
        decided = decider.decide(CONTEXT, event_id=f"new{number}")
        decider.reward(decided.event_id, 3.0)
    decider.close()


def test_every_event_is_kept(project: Project) -> None:
    check_events(project)


def test_a_folder_of_the_same_engine_is_verified_bit_for_bit_and_goes_on(project: Project) -> None:
    if not is_same_engine(project):
        pytest.skip("this rule of growth has changed since: its folder is tested below")
    folder = open_folder(project)
    (old,) = folder.path.glob("snapshot-*.bf")
    forest = rebuild(folder, until=int(old.stem.removeprefix("snapshot-"))).bandit.forest("the test")
    assert forest._to_bytes() == BanditForest.load(old)._to_bytes()
    assert recover(folder).n_differing == 0  # each decision is drawn again, with the same propensity
    assert verify(project).recomputed_from == 1
    go_on(project)
    proof = verify(project)
    assert (proof.recomputed_from, proof.n_entries) == (1, expected(project)["seq"] + 62)


def test_the_forest_of_another_engine_learns_the_lessons_anew(
    project: Project, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    seq = expected(project)["seq"]
    if is_same_engine(project):
        monkeypatch.setattr(forests, "_ENGINES", {"Elimination": "elimination-9", "Greedy": "greedy-9"})
    check_events(project)
    with caplog.at_level(logging.WARNING):
        go_on(project)
    sentence = f"ecisions before entry {seq + 1} were made by another growth rule, or before a migration. They"
    assert sentence in caplog.text
    assert sentence in str(verify(project))
    assert len(journal_files(project.storage.folder)) == 2
    caplog.clear()
    go_on_again = Decider.open(project, clock=Clock(1_000_600.0))
    assert go_on_again.status().model_version == expected(project)["model_version"] + 31
    go_on_again.close()
    assert "would be different" not in caplog.text


def test_a_folder_with_links_is_verified_bit_for_bit_and_goes_on_in_its_file(tmp_path: Path) -> None:
    project = copied("linked", tmp_path)
    check_events(project)
    recovered = recover(open_folder(project))
    assert (recovered.n_differing, open_folder(project).recomputed_from) == (0, 1)
    assert verify(project).recomputed_from == 1
    go_on(project)
    assert verify(project).n_entries == expected(project)["seq"] + 61
    assert len(journal_files(project.storage.folder)) == 1
    shutil.copy(GOLDEN / "linked" / "data" / "acknowledged", project.storage.folder)  # an older mark is no damage
    verify(project)


def test_a_folder_of_offered_actions_is_verified_bit_for_bit_and_goes_on(tmp_path: Path) -> None:
    project = copied("offered", tmp_path)
    check_events(project)
    folder = open_folder(project)
    if folder.recomputed_from > 1:
        pytest.skip("the forest over pairs decides otherwise since: its lessons are learned anew")
    (old,) = folder.path.glob("snapshot-*.bandit")
    bandit = rebuild(folder, until=int(old.stem.removeprefix("snapshot-"))).learner
    assert bandit.to_bytes() == old.read_bytes()
    assert recover(folder).n_differing == 0
    decider = Decider.open(project, clock=Clock(1_000_310.0))
    last, seq = expected(project)["last"], decider.state.seq
    (entry,) = read_entries(folder.path, after=seq - 1)
    told = rank(decider.context, **last)
    assert (str(told.action), told.propensity, decider.state.seq) == (entry.action, entry.propensity, seq)
    play(decider, 30, start=1000)
    decider.reward("last", 3.0)
    assert rank(decider.context, **last) == told
    decider.close()
    assert verify(project).recomputed_from == 1


def test_a_forest_over_pairs_of_another_engine_learns_the_lessons_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = copied("offered", tmp_path)
    monkeypatch.setattr(PairBanditSettings, "engine", "pairs-9")
    check_events(project)
    decider = Decider.open(project, clock=Clock(1_000_310.0))
    play(decider, 5, start=1000)
    decider.close()
    assert verify(project).recomputed_from == expected(project)["seq"] + 1
    assert len(journal_files(project.storage.folder)) == 2


@pytest.mark.parametrize("name", ["elimination", "greedy", "linked", "offered"])
def test_a_folder_of_a_newer_version_is_refused_clearly(tmp_path: Path, name: str) -> None:
    project = copied(name, tmp_path)
    with closing(sqlite3.connect(journal_files(project.storage.folder)[0])) as connection:
        connection.execute("PRAGMA user_version = 99")
    for call in (lambda: verify(project), lambda: Decider.open(project)):
        with pytest.raises(DamagedFileError, match="written by a newer version of bandit-forest"):
            call()
