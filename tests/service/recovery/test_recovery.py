"""Recovery: whatever happened, and wherever it was cut off, the state comes back bit for bit."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import tempfile
from contextlib import closing, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from projects import GIVEN, LEARNED, Clock, Decider, context, make_project, opened, play

from bandit_forest import Bandit
from bandit_forest.bandit import NumericFeature
from bandit_forest.errors import DamagedFileError, InvalidArgumentError
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.tables import Actions, Limits, RewardRule
from bandit_forest.service.domain.state import State
from bandit_forest.service.errors import ServiceError
from bandit_forest.service.journal.entries import Entry
from bandit_forest.service.journal.files import journal_files, last_seq, read_entries
from bandit_forest.service.journal.integrity import MARK, first_link, next_link
from bandit_forest.service.recovery.recover import open_folder, rebuild, recover
from bandit_forest.service.recovery.snapshots import snapshot_files, take_snapshot
from bandit_forest.service.recovery.verify import verify

IDS = st.sampled_from(["e1", "e2", "e3", "e4", "e5", "e6"])
NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
NUMBERS = st.integers(0, 40)
AVAILABLE = st.none() | st.lists(NAMES, min_size=1, max_size=3)
DECIDE = st.builds(
    lambda number, event_id, available: {
        "context": context(number),
        "event_id": event_id,
        "available_actions": available,
    },
    NUMBERS,
    st.none() | IDS,
    AVAILABLE,
)
REWARD = st.builds(lambda event_id, value: {"event_id": event_id, "reward": value}, IDS, st.floats(-1, 3))
LEARN = st.builds(
    lambda number, name, value, event_id: {
        "context": context(number),
        "action": name,
        "reward": value,
        "propensity": 0.3,
        "event_id": event_id,
    },
    NUMBERS,
    NAMES,
    st.floats(-1, 3),
    st.none() | IDS,
)
OPERATIONS = st.one_of(
    st.tuples(st.just("decide_many"), st.lists(DECIDE, max_size=4)),
    st.tuples(st.just("reward_many"), st.lists(REWARD, max_size=4)),
    st.tuples(st.just("learn_many"), st.lists(LEARN, max_size=3)),
    st.tuples(st.just("wait"), st.integers(1, 60)),
    st.tuples(st.sampled_from(["add_action", "disable_action", "enable_action", "remove_action"]), NAMES),
    st.tuples(st.just("snapshot"), st.none()),
    st.tuples(st.just("restart"), st.none()),
)


def image(state: State) -> Any:
    """Return all of a state, the forest byte for byte."""
    return take_snapshot(state)


def run(decider: Decider, clock: Clock, operation: tuple[str, Any]) -> None:
    """Do one operation; a batch of one goes through the door for single requests."""
    kind, argument = operation
    if kind == "wait":
        clock.now += argument
        decider.expire()
    elif kind == "snapshot":
        decider.snapshot()()
    elif kind.endswith("_many") and len(argument) == 1:
        with suppress(ServiceError):
            getattr(decider, kind.removesuffix("_many"))(**argument[0])
    else:
        with suppress(ServiceError):
            getattr(decider, kind)(argument)


@pytest.mark.parametrize("mode", ["given", "learned", "shadow"])
@settings(max_examples=25, deadline=None)
@given(operations=st.lists(OPERATIONS, min_size=5, max_size=40), data=st.data())
def test_what_is_recovered_is_what_was_killed(
    mode: str, operations: list[tuple[str, Any]], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as name:
        project = make_project(
            Path(name) / "live",
            context=LEARNED if mode == "learned" else GIVEN,
            warm_up_events=6,
            reward=RewardRule(low=-1, high=3, window_seconds=50, default=0.0, on_duplicate="ignore"),
            mode="shadow" if mode == "shadow" else "decide",
            limits=Limits(waiting_events=20, remembered_events=10),
        )
        killed_at = data.draw(st.integers(0, len(operations)))
        clock = Clock()
        decider = Decider.open(project, clock=clock)
        try:
            for number, (kind, argument) in enumerate(operations):
                if number == killed_at:
                    before = _kill(decider, project, Path(name) / "killed")
                if kind == "restart":
                    decider.close()
                    decider = Decider.open(project, clock=clock)
                elif mode == "shadow" and kind == "decide_many":
                    run(decider, clock, (kind, [request | {"action": "a"} for request in argument]))
                else:
                    run(decider, clock, (kind, argument))
            if killed_at == len(operations):
                before = _kill(decider, project, Path(name) / "killed")
            end = image(decider.state)
        finally:
            decider.close()
        _check_recovery(project, end)
        killed = make_project(Path(name) / "killed", **_parts(project))
        _check_recovery(killed, before)
        _tear(killed, data.draw(st.floats(0, 1)))
        _check_recovery(killed, None)


def _parts(project: Project) -> dict[str, Any]:
    names = ("context", "warm_up_events", "reward", "mode", "limits", "actions", "forest")
    return {name: getattr(project, name) for name in names}


def _kill(decider: Decider, project: Project, folder: Path) -> Any:
    """Leave the files of this moment behind, as a killed process does; return the state that was."""
    decider.context.journal.tail.result()
    shutil.copytree(project.storage.folder, folder, ignore=shutil.ignore_patterns("lock*"))
    return image(decider.state)


def _tear(project: Project, share: float) -> None:
    """Cut off the end of the newest journal file's log, as when the machine lost power, and all snapshots."""
    for file in snapshot_files(project.storage.folder):
        file.unlink()
    for log in project.storage.folder.glob("*-wal"):
        with log.open("r+b") as file:
            file.truncate(int(share * log.stat().st_size))
    (project.storage.folder / MARK).unlink(missing_ok=True)  # nor had it reached the disk


def _check_recovery(project: Project, expected: Any) -> None:
    """Recovered and rebuilt are the same; and the same as expected, if that is known."""
    folder = open_folder(project)
    recovered, rebuilt = recover(folder), rebuild(folder)
    assert recovered.n_differing == 0
    assert image(recovered.state) == image(rebuilt)
    if expected is not None:
        assert image(recovered.state) == expected
    entries = list(read_entries(project.storage.folder))
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    assert all(before.time <= after.time for before, after in pairwise(entries))


def test_a_restarted_service_decides_as_one_that_never_stopped(tmp_path: Path) -> None:
    with opened(make_project(tmp_path / "one")) as one:
        play(one, 60)
        whole = image(one.state)
    for start in (0, 20, 40):
        with opened(make_project(tmp_path / "other")) as other:
            play(other, 20, start)
            parts = image(other.state)
    assert parts == whole


def test_ordered_numbers_are_recovered(tmp_path: Path) -> None:
    project = make_project(tmp_path, context=GIVEN | {"age": NumericFeature(missing=True)}, warm_up_events=20)
    for start in (0, 60):
        with opened(project) as decider:
            play(decider, 60, start)
            forest = decider.context.bandit.forest("the test")
    assert list(forest.variable_names[:2]) == ["age", "age is missing"]
    assert len(forest.parameters["thresholds"][0]) > 5
    _check_recovery(project, None)
    assert verify(project).n_events == forest.n_events


def test_damaged_snapshots_are_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    project = make_project(tmp_path)
    with opened(project) as decider:
        play(decider, 30)
        decider.snapshot()()
        play(decider, 30, 30)
    whole = image(recover(open_folder(project)).state)
    newest, older = snapshot_files(tmp_path)[::-1]
    text = bytearray(newest.read_bytes())
    text[len(text) // 2] ^= 1
    newest.write_bytes(text)
    recovered = recover(open_folder(project))
    assert recovered.snapshot_seq == int(older.stem.split("-")[1]) > 0
    assert image(recovered.state) == whole
    older.with_suffix(".bandit").write_bytes(older.with_suffix(".bandit").read_bytes()[:-100])
    recovered = recover(open_folder(project))
    assert recovered.snapshot_seq == 0
    assert image(recovered.state) == whole
    assert "passed over" in caplog.text


def test_old_snapshots_go_and_what_a_killed_process_left_behind_too(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    with opened(project) as decider:
        for start in range(0, 50, 10):
            play(decider, 10, start)
            decider.snapshot()()
    assert len(snapshot_files(tmp_path)) == 2
    (tmp_path / ".half.tmp").touch()
    (tmp_path / "snapshot-000000000999999.bandit").touch()
    with opened(project):
        assert not (tmp_path / ".half.tmp").exists()
        assert not (tmp_path / "snapshot-000000000999999.bandit").exists()
    assert len(list(tmp_path.glob("snapshot-*.bandit"))) == 2


def test_a_snapshot_never_knows_more_than_the_journal(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    with opened(project) as decider:
        play(decider, 10)
    for file in journal_files(tmp_path):
        file.unlink()
    with pytest.raises(DamagedFileError, match="put its missing files back"):
        Decider.open(project)


def link_again(file: Path) -> None:
    """Make the chain fit entries that were changed, as only somebody who means to can."""
    with closing(sqlite3.connect(file)) as connection, connection:
        identity, previous = connection.execute("SELECT definition, previous FROM project").fetchone()
        link = first_link(previous, identity)
        for row in connection.execute(f"SELECT {', '.join(Entry._fields)} FROM entries ORDER BY seq").fetchall():
            link = next_link(link, Entry(*row))
            connection.execute("UPDATE entries SET link = ? WHERE seq = ?", (link, row[0]))


def test_verify_proves_and_disproves(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    with pytest.raises(InvalidArgumentError, match="a folder with a journal"):
        verify(project)
    with opened(project) as decider:
        play(decider, 40)
        decider.context.journal.tail.result()
        assert verify(project).snapshot_seq == 0  # while it runs
    proof = verify(project)
    assert (proof.n_entries, proof.snapshot_seq) == (last_seq(tmp_path),) * 2
    assert "byte for byte" in str(proof)
    with closing(sqlite3.connect(journal_files(tmp_path)[0])) as connection, connection:
        connection.execute("UPDATE entries SET reward = 1 - reward WHERE seq = 9 AND kind = 'reward'")
        assert connection.total_changes == 1
    with pytest.raises(DamagedFileError, match="entry 9 is not as it was written"):
        verify(project)
    link_again(journal_files(tmp_path)[0])
    with pytest.raises(DamagedFileError, match="differ"):
        verify(project)


def test_a_backup_of_a_running_service_goes_on_on_its_own(tmp_path: Path) -> None:
    live = make_project(tmp_path / "live")
    with opened(live) as decider:
        play(decider, 30)
        decider.snapshot()()
        play(decider, 30, 30)
        decider.context.journal.tail.result()
        decider.backup(tmp_path / "copy")
        then = image(decider.state)
        with pytest.raises(InvalidArgumentError, match="new or empty"):
            decider.backup(tmp_path / "copy")
        assert (tmp_path / "copy").stat().st_mode & 0o777 == 0o700
        play(decider, 5, 60)
    copy = make_project(tmp_path / "copy")
    assert verify(copy).snapshot_seq > 0
    with opened(copy) as decider:
        assert image(decider.state) == then


def test_the_project_may_change_but_not_what_the_forest_was_made_with(tmp_path: Path) -> None:
    with opened(make_project(tmp_path)) as decider:
        play(decider, 20)
        decider.remove_action("c")
    changed = make_project(
        tmp_path,
        actions=Actions(names=("a", "b", "c", "new")),
        forest={},
        limits=Limits(remembered_events=1),
        reward=RewardRule(window_seconds=5, default=0.0),
    )
    with opened(changed) as decider:
        states = {action.name: action.state for action in decider.status().actions}
        assert states == {"a": "enabled", "b": "enabled", "c": "removed", "new": "enabled"}
        assert decider.status().capacity == 5
        play(decider, 20, 20)
    assert verify(changed)
    with pytest.raises(InvalidArgumentError, match="'forest' of the project"):
        Decider.open(make_project(tmp_path, forest={"n_trees": 6}))
    with opened(changed):  # the refused start has left the folder free
        pass


def test_fields_may_change_places_in_the_project_file(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    with opened(project) as decider:
        play(decider, 40)
    changed = make_project(tmp_path, context=dict(reversed(GIVEN.items())))
    with opened(changed) as decider:
        play(decider, 40, 40)
        assert decider.forest is not None
        names = decider.forest.variable_names
    assert verify(changed)
    rebuilt = rebuild(open_folder(project)).bandit.policy
    assert rebuilt is not None
    assert rebuilt.variable_names == names


def test_a_service_may_be_opened_and_waited_for_in_an_event_loop(tmp_path: Path) -> None:
    async def decide() -> bool:
        with opened(make_project(tmp_path)) as decider:
            return decider.decide(context()).commit.result(timeout=20)

    assert asyncio.run(decide())


def test_two_services_never_share_a_folder(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    with opened(project), pytest.raises(InvalidArgumentError, match="no other service uses"):
        Decider.open(project)


def test_the_downloaded_model_is_the_forest(tmp_path: Path) -> None:
    with opened(make_project(tmp_path / "data")) as decider:
        play(decider, 40)
        bandit = Bandit.from_bytes(decider.context.bandit.to_bytes())
        assert bandit.version == decider.status().model_version == 32
        assert bandit.explain(context()).action_names == ("a", "b", "c")
