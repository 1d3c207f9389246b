"""Damage is noticed wherever it is, and told in a sentence: in the log, in rows, in whole files, in snapshots."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from projects import Decider, make_project, opened, play
from running import CONTEXT, Running, write_project

from bandit_forest.errors import BanditForestError, DamagedFileError
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.project_file import load_project
from bandit_forest.service.journal.files import journal_files, last_seq, read_entries
from bandit_forest.service.journal.integrity import MARK
from bandit_forest.service.recovery.backup import back_up
from bandit_forest.service.recovery.export import export_journal
from bandit_forest.service.recovery.recover import open_folder, recover
from bandit_forest.service.recovery.snapshots import snapshot_files
from bandit_forest.service.recovery.verify import verify

GOLDEN = Path(__file__).parents[1] / "golden"
N_DECISIONS = 30


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    main = "from bandit_forest.cli import main; main()"
    told = [sys.executable, "-c", main, *map(str, arguments)]
    return subprocess.run(told, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the project file of a service that was killed while all its entries were in SQLite's log."""
    project = write_project(tmp_path_factory.mktemp("killed"), storage="snapshot_seconds = 1e9")
    service = Running(project)
    for number in range(N_DECISIONS):
        service.post("/v1/decide", {"context": CONTEXT, "event_id": f"e{number}"})
    service.kill()
    service.http.close()
    return project


def test_a_flipped_byte_in_the_log_never_drops_an_acknowledged_entry_in_silence(killed: Path, tmp_path: Path) -> None:
    rng, n_noticed = random.Random(1), 0
    for number in range(40):
        shutil.copytree(killed.parent, tmp_path / str(number))
        project = load_project(tmp_path / str(number) / killed.name)
        (log,) = project.storage.folder.glob("*-wal")
        content = bytearray(log.read_bytes())
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        log.write_bytes(content)
        try:
            n_entries = verify(project).n_entries
        except DamagedFileError:
            n_noticed += 1
        else:
            assert n_entries == N_DECISIONS + 4  # with the actions of the project file
    assert n_noticed > 20


def test_commands_end_with_a_sentence_when_acknowledged_entries_are_lost(killed: Path, tmp_path: Path) -> None:
    shutil.copytree(killed.parent, tmp_path, dirs_exist_ok=True)
    (log,) = (tmp_path / "data").glob("*-wal")
    log.write_bytes(log.read_bytes()[: log.stat().st_size // 2])
    project = tmp_path / killed.name
    for arguments in (
        ("serve", project, "--port", 0),
        ("verify", project),
        ("export", tmp_path / "events.parquet", project),
        ("backup", tmp_path / "backup", project),
    ):
        ended = command(*arguments)
        assert ended.returncode != 0, arguments
        assert f"{N_DECISIONS + 4} operations were acknowledged" in ended.stderr
        assert "Traceback" not in ended.stderr
    (tmp_path / "data" / MARK).unlink()  # whoever wants to go on without them can
    assert command("verify", project).returncode == 0


def folder_of_0_1(tmp_path: Path) -> Project:
    """Return a folder whose entries have no links."""
    shutil.copytree(GOLDEN / "greedy", tmp_path, dirs_exist_ok=True)
    return load_project(tmp_path / "project.toml")


def folder_of_today(tmp_path: Path) -> Project:
    project = make_project(tmp_path / "data")
    with opened(project) as decider:
        play(decider, 60)
    return project


@pytest.mark.parametrize("make", [folder_of_0_1, folder_of_today])
@pytest.mark.parametrize(
    "damage",
    [
        "context = '{\"age\": tru'",
        "context = NULL",
        "context = x'ff00'",
        "context = '{\"height\": 1}'",
        "action = 'nobody'",
        "action = 7",
        "propensity = 'much'",
        "propensity = NULL",
        "propensity = 0",
        "kind = 'drecide'",
        "time = 'soon'",
        "event_id = NULL",
        "available = '7'",
        "reward = 'a lot', kind = 'reward'",
        "seq = 100000",
    ],
)
def test_a_damaged_row_ends_everything_with_a_sentence(make: Any, damage: str, tmp_path: Path) -> None:
    project = make(tmp_path)
    for file in snapshot_files(project.storage.folder):
        file.unlink()
    with closing(sqlite3.connect(journal_files(project.storage.folder)[0])) as connection, connection:
        decision = "SELECT seq FROM entries WHERE kind = 'decide' AND seq > 20 LIMIT 1"
        connection.execute(f"UPDATE entries SET {damage} WHERE seq = ({decision})")
    calls = [
        lambda: verify(project),
        lambda: export_journal(project, tmp_path / "events.parquet"),
        lambda: back_up(project, tmp_path / "backup"),
        lambda: Decider.open(project).close(),
    ]
    for call in calls:
        if make is folder_of_today:
            with pytest.raises(DamagedFileError, match=r"damaged|lacks operation"):
                call()
        else:  # without links, what could have been written is not told from damage
            with suppress(BanditForestError):
                call()


def test_an_empty_journal_file_is_not_taken_for_an_empty_history(tmp_path: Path) -> None:
    project = folder_of_today(tmp_path)
    (file,) = journal_files(project.storage.folder)
    file.write_bytes(b"")
    for log in project.storage.folder.glob("*-wal"):
        log.unlink()
    for call in (
        lambda: export_journal(project, tmp_path / "events.parquet"),
        lambda: back_up(project, tmp_path / "backup"),
        lambda: verify(project),
    ):
        with pytest.raises(BanditForestError, match=r"a folder with a journal|were acknowledged"):
            call()
    assert not (tmp_path / "events.parquet").exists()


def test_a_journal_file_of_another_folder_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bandit_forest.service.journal.journal._LOOK_SECONDS", 0.0)
    for name in ("one", "other"):
        with opened(make_project(tmp_path / name, storage={"rotate_bytes": 1})) as decider:
            for number in range(4):
                decider.decide({"age": 20, "city": name, "member": True}, event_id=f"e{number}").commit.result()
    files, others = journal_files(tmp_path / "one"), journal_files(tmp_path / "other")
    assert [file.name for file in files] == [file.name for file in others]
    shutil.copy(others[2], files[2])
    with pytest.raises(DamagedFileError, match="does not go on from the file before it"):
        list(read_entries(tmp_path / "one"))


def test_the_identity_of_a_file_is_part_of_the_chain(tmp_path: Path) -> None:
    project = folder_of_today(tmp_path)
    with closing(sqlite3.connect(journal_files(project.storage.folder)[0])) as connection, connection:
        connection.execute("UPDATE project SET definition = replace(definition, '\"seed\": 7', '\"seed\": 8')")
    with pytest.raises(DamagedFileError, match="entry 1 is not as it was written"):
        list(read_entries(project.storage.folder))


def test_the_two_files_of_a_snapshot_belong_together(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    project = make_project(tmp_path)
    with opened(project) as decider:
        play(decider, 30)
        decider.snapshot()()
        play(decider, 30, 30)
    older, newest = snapshot_files(tmp_path)
    shutil.copy(older.with_suffix(".bandit"), newest.with_suffix(".bandit"))
    assert recover(open_folder(project)).snapshot_seq < last_seq(tmp_path)
    assert "is not the file that" in caplog.text


def test_a_mark_that_is_not_whole_is_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    project = make_project(tmp_path)
    with opened(project) as decider:
        play(decider, 5)
    n_entries = verify(project).n_entries
    for content in (b"", bytes(25), b"000000000000099 00000000\n"):
        (tmp_path / MARK).write_bytes(content)
        assert verify(project).n_entries == n_entries
    assert caplog.text.count("is passed over") >= 3


def test_a_start_on_a_damaged_journal_asks_for_a_backup_and_not_for_space(tmp_path: Path) -> None:
    with opened(make_project(tmp_path / "whole")) as decider:
        play(decider, 100)
    told = []
    for offset in range(0, 40_000, 2048):
        folder = tmp_path / str(offset)
        shutil.copytree(tmp_path / "whole", folder)
        file = journal_files(folder)[-1]
        content = bytearray(file.read_bytes())
        content[offset : offset + 50] = b"\xff" * len(content[offset : offset + 50])
        file.write_bytes(content)
        try:
            Decider.open(make_project(folder)).close()
        except DamagedFileError as error:
            told.append(str(error))
    assert any(text.endswith(": put a backup back.") for text in told)
