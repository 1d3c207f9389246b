"""The runner: the same rows for any number of jobs, nothing lost and nothing repeated when it is stopped."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from bandit_forest.cli import main
from bandit_forest.errors import InvalidArgumentError
from bandit_forest.experiments import EXPERIMENTS
from bandit_forest.experiments.display import Display
from bandit_forest.experiments.manifest import OtherRunError
from bandit_forest.experiments.plan import Stage
from bandit_forest.experiments.pool import TaskFailedError, Update, run_tasks
from bandit_forest.experiments.runner import run_experiment
from bandit_forest.worlds.datasets import MissingDataError, cache_folder

COVTYPE, ACTIONS = EXPERIMENTS["paper/covtype"], EXPERIMENTS["theory/actions"]
PATIENCE = 120.0


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("BANDIT_FOREST_DATA", raising=False)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with a Cover Type of 300 rows, in which the first binary columns tell the class."""
    draws = np.random.default_rng(1)
    labels = draws.integers(1, 8, size=(300, 1))
    flags = draws.integers(0, 2, size=(300, 44))
    flags[:, :3] = labels >> np.arange(3) & 1
    rows = np.hstack([draws.integers(0, 9, size=(300, 10)), flags, labels])
    text = "".join(",".join(map(str, row)) + "\n" for row in rows.tolist())
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "covtype.data.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def rows_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "rows").iterdir())}


def made_at(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / "rows").glob("*.csv")}


class Watching:
    """Remembers what it is told of a run."""

    def __init__(self) -> None:
        self.stages: dict[str, Stage] = {}
        self.updates: dict[str, list[Update]] = {}

    def __call__(self, stage: Stage):
        self.stages[stage.name] = stage
        return lambda number, update: self.updates.setdefault(stage.tasks[number].label, []).append(update)


def test_the_same_rows_whatever_the_number_of_jobs(data: Path, tmp_path: Path):
    settings = [0, 2, 3]  # a forest, and the baselines that sum floats

    def run(jobs: int) -> Path:
        out = tmp_path / str(jobs)
        return run_experiment(COVTYPE, settings=settings, n_events=600, n_trials=1, jobs=jobs, data=data, out=out)

    alone, together = run(1), run(3)
    assert list(rows_of(alone)) == ["0-seed0.csv", "2-seed0.csv", "3-seed0.csv"]
    assert rows_of(alone) == rows_of(together)
    assert len(set(rows_of(alone).values())) == 3
    assert {path.name for path in (alone / "times").iterdir()} == set(rows_of(alone))


def test_a_run_tells_how_far_it_is_and_where_its_reference_comes_from(data: Path, tmp_path: Path):
    def run(watching: Watching) -> Path:
        sizes = {"n_events": 500, "n_trials": 2, "jobs": 2}
        return run_experiment(COVTYPE, settings=[7], **sizes, data=data, out=tmp_path / "out", watch=watching)

    watching = Watching()
    folder = run(watching)
    assert {name: len(stage.tasks) for name, stage in watching.stages.items()} == {
        "Forests with full information": 1, "Reference": 2, "Trials": 2,
    }  # fmt: skip
    last = watching.updates["paper/covtype/7 Uniform, trial 1"][-1]
    assert last.n_done == 500
    assert last.is_finished
    assert 0.0 < last.reward < 0.4
    reference = watching.updates["covtype, trial 0"][-1]
    assert reference.reward > 0.5
    assert len(list((cache_folder() / "references").glob("covtype-RandomForest-*"))) == 3
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["n_trials"] == 2
    assert manifest["run"]["n_events"] == 500
    assert manifest["run"]["data"]["covtype"]["files"].keys() == {"covtype.data.gz"}
    assert manifest["run"]["reference"].startswith("RandomForest(n_trees=100, seed=0) of scikit-learn ")
    assert manifest["run"]["settings"][0]["policy"]["parameters"]["n_trees"] == 100
    (session,) = manifest["sessions"]
    assert session["jobs"] == 2
    assert session["versions"].keys() == {"python", "bandit-forest", "numpy", "scikit-learn"}
    assert session["machine"]["cores"] == os.cpu_count()

    for path in (cache_folder() / "references").iterdir():
        path.unlink()
    again = Watching()
    run(again)
    assert again.updates == {}  # what is finished needs no reference any more


def test_finished_trials_are_kept_and_more_can_be_added(tmp_path: Path):
    folder = run_experiment(ACTIONS, settings=[0, 1], n_events=300, n_trials=1, jobs=2, out=tmp_path)
    before = made_at(folder)
    watching = Watching()
    run_experiment(ACTIONS, settings=[0, 1], n_events=300, n_trials=1, jobs=2, out=tmp_path, watch=watching)
    assert watching.updates == {}
    assert watching.stages["Trials"].n_done == 2
    run_experiment(ACTIONS, settings=[1, 2], n_events=300, n_trials=2, jobs=2, out=tmp_path)
    after = made_at(folder)
    assert after.keys() == before.keys() | {"1-seed1.csv", "2-seed0.csv", "2-seed1.csv"}
    assert after.items() >= before.items()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["n_trials"] == 2
    assert len(manifest["sessions"]) == 3


def test_a_folder_of_another_run_is_refused(tmp_path: Path):
    folder = run_experiment(ACTIONS, settings=[0], n_events=300, n_trials=1, jobs=1, out=tmp_path)
    before = rows_of(folder)
    with pytest.raises(
        OtherRunError, match=r"differs in its n_events \(300, not 301\).* Choose another folder with --out"
    ):
        run_experiment(ACTIONS, settings=[1], n_events=301, n_trials=1, jobs=1, out=tmp_path)
    assert rows_of(folder) == before


@pytest.mark.parametrize("wrong", [{"n_events": 0}, {"n_trials": 0}, {"jobs": 0}, {"jobs": 1.5}])
def test_wrong_numbers_are_refused_before_anything_is_written(wrong: dict[str, int], tmp_path: Path):
    with pytest.raises(InvalidArgumentError, match=f"The '{next(iter(wrong))}' of run_experiment must be an int"):
        run_experiment(ACTIONS, out=tmp_path / "out", **wrong)
    assert not (tmp_path / "out").exists()


def test_missing_data_is_answered_with_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    cure = f"bandit-forest data fetch covtype --data {tmp_path}"
    with pytest.raises(MissingDataError, match=cure):
        run_experiment(COVTYPE, data=tmp_path, out=tmp_path / "out")
    monkeypatch.setattr(sys, "argv", ["bandit-forest", "run", "paper/covtype", "--data", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert cure in ended.value.code
    assert not (tmp_path / "out").exists()


# Interruptions


def start(out: Path, *, events: int = 4000, trials: int = 5) -> subprocess.Popen[str]:
    """Start a run in a process group of its own, as a terminal does."""
    command = [sys.executable, "-c", "from bandit_forest.cli import main; main()", "run", "theory/actions/0"]
    options = ["--events", str(events), "--trials", str(trials), "--jobs", "2", "--out", str(out)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen([*command, *options], text=True, start_new_session=True, **pipes)


def wait_until(condition, what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"{what} takes too long"
        time.sleep(0.01)


def group_is_gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The rows of the run that is interrupted below, when nothing interrupts it."""
    out = tmp_path_factory.mktemp("whole")
    return rows_of(run_experiment(ACTIONS, settings=[0], n_events=4000, n_trials=5, jobs=1, out=out))


@pytest.mark.slow
def test_killed_and_started_again_it_loses_nothing_and_repeats_nothing(whole: dict[str, bytes], tmp_path: Path):
    folder = tmp_path / "theory" / "actions"
    run = start(tmp_path)
    wait_until(lambda: len(made_at(folder)) >= 2, "a trial")
    run.kill()
    run.communicate()
    wait_until(lambda: group_is_gone(run.pid), "the end of the trials without a parent")
    finished = made_at(folder)
    assert 2 <= len(finished) < 5
    again = start(tmp_path)
    printed, _ = again.communicate(timeout=PATIENCE)
    assert again.returncode == 0
    assert f"Trials: {len(finished)} done before" in printed
    assert rows_of(folder) == whole
    assert made_at(folder).items() >= finished.items()


@pytest.mark.slow
def test_ctrl_c_stops_it_cleanly(whole: dict[str, bytes], tmp_path: Path):
    folder = tmp_path / "theory" / "actions"
    run = start(tmp_path)
    wait_until(lambda: len(made_at(folder)) >= 1, "a trial")
    os.killpg(run.pid, signal.SIGINT)
    printed, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 130
    assert "Stopped. Finished trials are kept" in printed
    assert "Traceback" not in printed
    wait_until(lambda: group_is_gone(run.pid), "the end of all processes")
    assert all(path.suffix == ".csv" for name in ("rows", "times") for path in (folder / name).iterdir())
    assert rows_of(folder).items() <= whole.items()
    assert len(rows_of(folder)) < 5


# The pool


@dataclass(frozen=True)
class Doing:
    """A task that does something with a folder."""

    what: str
    folder: Path
    size: int = 1
    is_done: bool = False

    @property
    def label(self) -> str:
        return f"Doing {self.what}"

    def run(self, report) -> None:
        report(0, None)
        if self.what == "wrong":
            raise ValueError("something is wrong")
        if self.what == "nothing for long":
            time.sleep(PATIENCE)
        if self.what == "harm":
            os.kill(os.getpid(), signal.SIGKILL)
        (self.folder / f"{self.what}-{os.environ['OMP_NUM_THREADS']}").touch()


def test_tasks_have_processes_of_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    run_tasks([Doing("this", tmp_path), Doing("that", tmp_path)], jobs=2, on_update=lambda *_: None)
    assert {path.name for path in tmp_path.iterdir()} == {"this-1", "that-1"}
    assert os.environ["OMP_NUM_THREADS"] == "3"
    assert "MKL_NUM_THREADS" not in os.environ


FIRST_PROCESS = """
import signal
from bandit_forest.experiments.pool import run_tasks

class Asking:
    label, size = "Asking", 1

    def run(self, report):
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        print("deaf" if signal.SIGINT in blocked else "hears", flush=True)

if __name__ == "__main__":
    run_tasks([Asking()], jobs=1, on_update=lambda *_: None)
    print("hears" if signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ()) else "deaf")
"""


def test_the_first_process_of_all_is_born_deaf_to_ctrl_c(tmp_path: Path):
    (tmp_path / "script.py").write_text(FIRST_PROCESS)
    ended = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["deaf", "hears"]


@pytest.mark.parametrize(
    ("what", "why"), [("wrong", "ValueError: something is wrong"), ("harm", "its process ended with code -9")]
)
def test_a_task_that_fails_is_named_and_stops_the_others(what: str, why: str, tmp_path: Path):
    began = time.monotonic()
    with pytest.raises(TaskFailedError, match=f"Doing {what} failed: {why}"):
        run_tasks([Doing("nothing for long", tmp_path), Doing(what, tmp_path)], jobs=2, on_update=lambda *_: None)
    assert time.monotonic() - began < PATIENCE / 2


# What is seen of it


@pytest.mark.parametrize("terminal", [True, False])
def test_a_task_that_has_all_but_finished_is_waited_for(terminal: bool, tmp_path: Path):
    tasks = [Doing("this", tmp_path), Doing("that", tmp_path)]
    stage = Stage(name="Trials", unit="events", tasks=tasks, n_done=0, jobs=2)
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
