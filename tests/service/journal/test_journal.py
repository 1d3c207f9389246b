"""The journal: order, durability, what a full disk does, rotation and damage."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from disks import full_disk, wait_until
from projects import wait_for

from bandit_forest.errors import DamagedFileError, InvalidArgumentError
from bandit_forest.service.config.tables import Storage
from bandit_forest.service.errors import StorageError
from bandit_forest.service.journal.commits import Commit
from bandit_forest.service.journal.entries import DECIDE, Entry
from bandit_forest.service.journal.files import journal_files, last_seq, read_entries, read_identities
from bandit_forest.service.journal.journal import Journal
from bandit_forest.service.journal.lock import folder_lock

CONTEXT = '{"text":"' + "x" * 1000 + '"}'


def entry(seq: int) -> Entry:
    return Entry(seq, 1.5 * seq, DECIDE, f"e{seq}", "a", 1 / 3, None, CONTEXT)


@contextmanager
def written(folder: Path, **storage: Any) -> Iterator[Journal]:
    journal = Journal(folder, "{}", Storage(folder=folder, **storage))
    try:
        yield journal
    finally:
        journal.close()


def test_what_is_committed_is_read_back_bit_for_bit(tmp_path: Path) -> None:
    everything = Entry(3, 0.1 + 0.2, "decide", "é\u2028", "a", 1 / 3, 1e-300, "{}", "[]", "b", 2 / 3, -0.0)
    with written(tmp_path) as journal:
        assert journal.append([entry(1), entry(2)]).result()
        assert journal.append([everything]).result()
        assert (journal.seq, journal.durable_seq, journal.queued) == (3, 3, 0)
        assert list(read_entries(tmp_path)) == [entry(1), entry(2), everything]  # while it is being written
    assert list(read_entries(tmp_path, after=1, until=2)) == [entry(2)]
    assert (last_seq(tmp_path), read_identities(tmp_path)) == (3, {1: "{}"})
    with written(tmp_path) as journal:
        assert journal.seq == 3
        assert journal.tail.result()


@pytest.mark.parametrize("size", [1, 2, 3, 100, 2047, 2048, 2049, 5000])
def test_groups_of_every_size_are_written_in_order(tmp_path: Path, size: int) -> None:
    with written(tmp_path) as journal:
        assert journal.append([Entry(seq, 0.0, "reward") for seq in range(1, size + 1)]).result()
        assert journal.append([Entry(size + 1, 0.0, "reward")]).result()
    assert [one.seq for one in read_entries(tmp_path)] == list(range(1, size + 2))


def test_many_tasks_share_a_commit_and_one_that_is_cancelled_disturbs_nobody(tmp_path: Path) -> None:
    async def run(journal: Journal) -> None:
        async def one(seq: int) -> bool:
            return await wait_for(journal.append([entry(seq)]))

        tasks = [asyncio.create_task(one(seq)) for seq in range(1, 51)]
        await asyncio.sleep(0)
        tasks[7].cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert done[:7] + done[8:] == [True] * 49
        assert await wait_for(journal.tail)

    with written(tmp_path) as journal:
        asyncio.run(run(journal))
    assert last_seq(tmp_path) == 50


def refusal(commit: Commit) -> str | None:
    """Wait for a commit; give what it is refused with."""
    try:
        commit.result(20)
    except StorageError as error:
        return str(error)
    return None


def test_what_an_event_loop_takes_at_once_is_one_group(tmp_path: Path) -> None:
    async def ask(journal: Journal) -> set[Commit]:
        commits = set()
        for seq in range(1, 21):
            commits.add(journal.append([entry(seq)]))
            time.sleep(0.005)  # time enough to write one alone
        assert await wait_for(journal.tail)
        return commits

    with written(tmp_path) as journal:
        assert len(asyncio.run(ask(journal))) == 1
    assert last_seq(tmp_path) == 20


@pytest.mark.parametrize("goes_on", [False, True])
def test_what_a_loop_that_ended_has_handed_over_is_written(tmp_path: Path, goes_on: bool) -> None:
    loop = asyncio.new_event_loop()
    with written(tmp_path) as journal:
        asyncio._set_running_loop(loop)  # it will never run: whoever it was to call is not called
        try:
            journal.append([entry(1)])
        finally:
            asyncio._set_running_loop(None)
            loop.close()
        if goes_on:
            assert journal.append([entry(2)]).result(timeout=20)
    assert last_seq(tmp_path) == 1 + goes_on


def test_a_full_disk_refuses_keeps_and_recovers(tmp_path: Path) -> None:
    with written(tmp_path) as journal:
        with full_disk(60_000):
            seq, refused = 0, None
            while refused is None:
                seq += 1
                commit = journal.append([entry(seq)])
                refused = refusal(commit)
            assert "free some space" in refused
            later = journal.append([entry(seq + 1)])
            assert refusal(later)
            assert journal.failure is not None
            assert (journal.queued, commit.durable, later.durable) == (2, False, False)
            assert last_seq(tmp_path) == seq - 1 > 2
        wait_until(lambda: journal.queued == 0)
        assert journal.failure is None
        assert commit.result()
        assert later.result()
    assert [one.seq for one in read_entries(tmp_path)] == list(range(1, seq + 2))


def test_a_full_disk_lets_work_go_on_where_the_project_says_so(tmp_path: Path) -> None:
    with written(tmp_path, full_disk="continue") as journal:
        assert journal.append([entry(1)]).result()
        with full_disk(1):
            assert journal.append([entry(2)]).result(20) is False
            assert journal.append([entry(3)]).result(20) is False
            assert journal.failure is not None
            assert journal.queued == 2
        wait_until(lambda: journal.queued == 0)
        assert journal.tail.result() is True
    assert last_seq(tmp_path) == 3


@pytest.mark.parametrize("has_begun", [False, True])
def test_a_journal_opens_on_a_full_disk_where_the_project_says_so(tmp_path: Path, has_begun: bool) -> None:
    if has_begun:
        with written(tmp_path) as journal:
            journal.append([entry(1)])
    with full_disk(10):
        with pytest.raises(StorageError, match="free some space"):
            Journal(tmp_path, "{}", Storage(folder=tmp_path))
        journal = Journal(tmp_path, "{}", Storage(folder=tmp_path, full_disk="continue"))
        assert journal.seq == has_begun
        assert journal.append([entry(has_begun + 1)]).result(20) is False
        assert journal.failure is not None
    wait_until(lambda: journal.queued == 0)
    journal.close()
    assert [one.seq for one in read_entries(tmp_path)] == list(range(1, has_begun + 2))


def test_closing_on_a_full_disk_tells_what_is_lost(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "{}", Storage(folder=tmp_path))
    assert journal.append([entry(1)]).result()
    with full_disk(1):
        journal.append([entry(2)])
        with pytest.raises(StorageError, match="1 operations could not be written"):
            journal.close()
    assert last_seq(tmp_path) == 1


@pytest.mark.parametrize("when", [{"rotate_bytes": 1}, {"rotate_seconds": 1e-9}])
def test_the_journal_goes_on_in_a_new_file_when_one_is_large_or_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: dict[str, Any]
) -> None:
    monkeypatch.setattr("bandit_forest.service.journal.journal._LOOK_SECONDS", 0.0)
    with written(tmp_path, **when) as journal:
        for seq in range(1, 30, 3):
            journal.append([entry(seq), entry(seq + 1), entry(seq + 2)]).result()
    files = journal_files(tmp_path)
    assert len(files) > 5
    assert not list(tmp_path.glob("*-wal"))
    assert list(read_entries(tmp_path)) == [entry(seq) for seq in range(1, 31)]
    assert list(read_entries(tmp_path, after=11, until=20)) == [entry(seq) for seq in range(12, 21)]
    files[1].rename(tmp_path / "elsewhere")
    with pytest.raises(DamagedFileError, match="put the file back"):
        list(read_entries(tmp_path))
    assert list(read_entries(tmp_path, after=29)) == [entry(30)]  # a start from a snapshot needs the newest only


def test_a_crash_right_after_rotation_leaves_an_empty_file(tmp_path: Path) -> None:
    with written(tmp_path) as journal:
        journal.append([entry(1), entry(2)])
    (tmp_path / "journal-000000000000003.sqlite").touch()
    assert (last_seq(tmp_path), read_identities(tmp_path)) == (2, {1: "{}"})
    assert [one.seq for one in read_entries(tmp_path)] == [1, 2]
    with written(tmp_path) as journal:
        assert journal.seq == 2
        journal.append([entry(3)])
    assert [one.seq for one in read_entries(tmp_path)] == [1, 2, 3]


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "journal-000000000000001.sqlite"
    file.write_bytes(b"no database at all, but long enough to be looked at" * 100)
    with pytest.raises(DamagedFileError, match="damaged"):
        last_seq(tmp_path)
    file.unlink()
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE foreign_table (x)")
    connection.close()
    with pytest.raises(DamagedFileError, match="not a journal"):
        read_identities(tmp_path)


def test_a_folder_has_one_service_at_a_time(tmp_path: Path) -> None:
    lock = folder_lock(tmp_path)
    with pytest.raises(InvalidArgumentError, match="no other service uses"):
        folder_lock(tmp_path)
    lock.close()
    folder_lock(tmp_path).close()


def test_a_folder_that_cannot_be_used_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "taken" / "lock").mkdir(parents=True)
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "lock").write_text("no database " * 100)
    for name, why in (("file", "exists"), ("taken", "unable to open"), ("foreign", "not a database")):
        with pytest.raises(InvalidArgumentError, match=why):
            folder_lock(tmp_path / name)


def test_copies_of_journal_files_are_passed_over(tmp_path: Path) -> None:
    with written(tmp_path) as journal:
        journal.append([entry(1)])
    (tmp_path / "journal-000000000000001 (copy).sqlite").touch()
    assert last_seq(tmp_path) == 1


def test_a_commit_that_nobody_finishes_times_out() -> None:
    with pytest.raises(TimeoutError):
        Commit().result(0.01)


def test_the_log_moves_into_the_file_and_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bandit_forest.service.journal.checkpoints._SECONDS", 0.05)
    monkeypatch.setattr("bandit_forest.service.journal.checkpoints._LONG_PAGES", 100)
    monkeypatch.setattr("bandit_forest.service.journal.journal._LOOK_SECONDS", 0.0)
    with written(tmp_path) as journal:
        start = journal.current_bytes
        seq = 0

        def has_begun_anew() -> bool:
            nonlocal seq
            journal.append([entry(seq := seq + 1) for _ in range(20)]).result()
            (log,) = tmp_path.glob("*-wal")
            has_moved = journal.current_bytes > start + 20_000
            return has_moved and log.stat().st_size < seq * len(CONTEXT) / 2  # or it would be longer than the entries

        wait_until(has_begun_anew)
    assert last_seq(tmp_path) == seq


def test_a_new_file_that_cannot_be_made_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bandit_forest.service.journal.journal._LOOK_SECONDS", 0.0)
    with monkeypatch.context() as broken:
        with written(tmp_path, rotate_bytes=1) as journal:
            broken.setattr("bandit_forest.service.journal.files._SCHEMA", ("CREATE TABLE fails",))
            for seq in (1, 2, 3):  # after each it is tried to go on in a new file
                assert journal.append([entry(seq)]).result()
        assert last_seq(tmp_path) == 3
        assert [one.seq for one in read_entries(tmp_path, after=1)] == [2, 3]
    with written(tmp_path, rotate_bytes=1) as journal:
        assert journal.append([entry(4)]).result()
    assert [one.seq for one in read_entries(tmp_path)] == [1, 2, 3, 4]


def test_nothing_is_acknowledged_into_a_file_that_was_removed(tmp_path: Path) -> None:
    with written(tmp_path) as journal:
        assert journal.append([entry(1)]).result()
        (file,) = journal_files(tmp_path)
        file.rename(tmp_path / "elsewhere")
        assert "put it back" in str(refusal(journal.append([entry(2)])))
        assert journal.current_bytes == 0
        (tmp_path / "elsewhere").rename(file)
        wait_until(lambda: journal.queued == 0)
    assert last_seq(tmp_path) == 2
