"""Tasks in processes of their own, and what is seen of them."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from bandit_forest.distributed.local import Local
from bandit_forest.distributed.tasks import TaskFailedError, Update, ignore
from bandit_forest.experiments.run.display import Display
from bandit_forest.experiments.run.plan import Stage

PATIENCE = 120.0


@dataclass(frozen=True)
class Doing:
    """A task that does something with a folder."""

    what: str
    folder: Path
    size: int = 1

    @property
    def label(self) -> str:
        return f"Doing {self.what}"

    def run(self, report) -> bytes:
        report(0, None)
        if self.what == "wrong":
            raise ValueError("something is wrong")
        if self.what == "nothing for long":
            time.sleep(PATIENCE)
        if self.what == "harm once" and not (self.folder / "harmed").exists():
            (self.folder / "harmed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if self.what == "harm":
            os.kill(os.getpid(), signal.SIGKILL)
        (self.folder / f"{self.what}-{os.environ['OMP_NUM_THREADS']}").touch()
        return self.what.encode()


def test_tasks_have_processes_of_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    results = dict(Local(2).run([Doing("this", tmp_path), Doing("that", tmp_path)], on_update=ignore))
    assert results == {0: b"this", 1: b"that"}
    assert {path.name for path in tmp_path.iterdir()} == {"this-1", "that-1"}
    assert os.environ["OMP_NUM_THREADS"] == "3"
    assert "MKL_NUM_THREADS" not in os.environ


FIRST_PROCESS = """
import signal
from bandit_forest.distributed.local import Local

class Asking:
    label, size = "Asking", 1

    def run(self, report):
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        print("deaf" if signal.SIGINT in blocked else "hears", flush=True)
        return b""

if __name__ == "__main__":
    list(Local(1).run([Asking()], on_update=lambda *_: None))
    print("hears" if signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ()) else "deaf")
"""


def test_the_first_process_of_all_is_born_deaf_to_ctrl_c(tmp_path: Path):
    (tmp_path / "script.py").write_text(FIRST_PROCESS)
    ended = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["deaf", "hears"]


CTRL_C_WHILE_ONE_STARTS = """
import os, signal, threading, time
from multiprocessing import resource_tracker, util
from bandit_forest.distributed.local import Local
from bandit_forest.distributed.tasks import ignore

class Task:
    label, size = "Task", 1

    def run(self, report):
        time.sleep(600)

def start_and_press(*args, start=util.spawnv_passfds):
    process = start(*args)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.3)
    return process

if __name__ == "__main__":
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()  # takes the signal, as a BLAS thread does
    resource_tracker.ensure_running()  # starts by the same function
    util.spawnv_passfds = start_and_press
    try:
        list(Local(1).run([Task()], on_update=ignore))
    except KeyboardInterrupt:
        print("stopped")
"""


def test_ctrl_c_while_a_process_starts_is_heard_once_it_has_started(tmp_path: Path):
    (tmp_path / "script.py").write_text(CTRL_C_WHILE_ONE_STARTS)
    ended = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "stopped\n", "")


@pytest.mark.parametrize(
    ("what", "why"), [("wrong", "ValueError: something is wrong"), ("harm", "its process ended with code -9")]
)
def test_a_task_that_fails_is_named_and_stops_the_others(what: str, why: str, tmp_path: Path):
    began = time.monotonic()
    with pytest.raises(TaskFailedError, match=f"Doing {what} failed: {why}"):
        list(Local(2).run([Doing("nothing for long", tmp_path), Doing(what, tmp_path)], on_update=ignore))
    assert time.monotonic() - began < PATIENCE / 2


def test_a_task_whose_process_dies_is_run_again(tmp_path: Path):
    tasks = [Doing("harm once", tmp_path), Doing("this", tmp_path)]
    assert dict(Local(1).run(tasks, on_update=ignore)) == {0: b"harm once", 1: b"this"}


def test_who_stops_reading_stops_all_tasks(tmp_path: Path):
    results = Local(2).run([Doing("this", tmp_path), Doing("nothing for long", tmp_path)], on_update=ignore)
    assert next(results) == (0, b"this")
    began = time.monotonic()
    results.close()
    assert time.monotonic() - began < PATIENCE / 2


@pytest.mark.parametrize("terminal", [True, False])
def test_a_task_that_has_all_but_finished_is_waited_for(terminal: bool, tmp_path: Path):
    tasks = [Doing("this", tmp_path), Doing("that", tmp_path)]
    stage = Stage(name="Trials", unit="events", tasks=tasks, n_done=0, launcher=Local(2))
    console = Console(file=io.StringIO(), force_terminal=terminal, color_system=None, width=100)
    with Display(console) as display:
        update = display.watch(stage)
        update(0, Update(0, None))
        update(1, Update(0, None))
        update(0, Update(tasks[0].size, 0.25))  # all events, but its file is still to be named
        update(1, Update(tasks[1].size, 0.5, is_finished=True))
        update(0, Update(tasks[0].size, 0.25, is_finished=True))
    shown = console.file.getvalue()
    assert shown.index("reward 50.0%") < shown.rindex("reward 25.0%")
