"""The runner: the same rows for any number of jobs, nothing lost and nothing repeated when it is stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bandit_forest.cli import main
from bandit_forest.distributed.tasks import Update
from bandit_forest.errors import InvalidArgumentError
from bandit_forest.experiments import EXPERIMENTS
from bandit_forest.experiments.files import read_lines
from bandit_forest.experiments.run import run_experiment
from bandit_forest.experiments.run.plan import Stage
from bandit_forest.experiments.run.records import OtherRunError, read_records
from bandit_forest.worlds.datasets import MissingDataError, cache_folder

COVTYPE, ACTIONS = EXPERIMENTS["paper/covtype"], EXPERIMENTS["theory/actions"]
PATIENCE = 120.0


def trials_of(file: Path) -> list[bytes]:
    """Return the lines of trials, which do not depend on the machine, whatever their order."""
    return sorted(line for line in read_lines(file) if line.startswith(b'{"trial"'))


class Watching:
    """Remembers what it is told of a run."""

    def __init__(self) -> None:
        self.stages: dict[str, Stage] = {}
        self.updates: dict[str, list[Update]] = {}

    def __call__(self, stage: Stage):
        self.stages[stage.name] = stage
        return lambda number, update: self.updates.setdefault(stage.tasks[number].label, []).append(update)


def test_the_same_rows_whatever_the_number_of_jobs(data: Path, tmp_path: Path):
    settings = ["bandit-forest", "neural-bandit", "lin-ucb"]  # a forest, and the baselines that sum floats

    def run(jobs: int) -> Path:
        out = tmp_path / str(jobs)
        return run_experiment(COVTYPE, settings=settings, n_events=600, n_trials=1, jobs=jobs, data=data, out=out)

    alone, together = run(1), run(3)
    assert trials_of(alone) == trials_of(together)
    records = read_records(alone)
    assert records.trials.keys() == records.seconds.keys() == {(name, 0) for name in settings}
    assert len({trial.reward.tobytes() for trial in records.trials.values()}) == 3


def test_a_run_tells_how_far_it_is_and_where_its_comparator_comes_from(data: Path, tmp_path: Path):
    def run(watching: Watching) -> Path:
        sizes = {"n_events": 500, "n_trials": 2, "jobs": 2}
        return run_experiment(COVTYPE, settings=["uniform"], **sizes, data=data, out=tmp_path / "out", watch=watching)

    watching = Watching()
    file = run(watching)
    assert file == tmp_path / "out" / "paper" / "covtype.jsonl"
    assert {name: len(stage.tasks) for name, stage in watching.stages.items()} == {
        "Forests with full information": 1, "Comparator": 2, "Trials": 2,
    }  # fmt: skip
    last = watching.updates["paper/covtype/uniform Uniform, trial 1"][-1]
    assert last.n_done == 500
    assert last.is_finished
    assert 0.0 < last.reward < 0.4
    comparator = watching.updates["covtype, trial 0"][-1]
    assert comparator.reward > 0.5
    assert len(list((cache_folder() / "comparators").glob("covtype-RandomForest-*"))) == 3
    records = read_records(file)
    assert (records.trials["uniform", 0].regret + records.trials["uniform", 0].reward)[-1] == comparator.reward * 500
    assert records.run["n_events"] == 500
    assert records.run["data"]["covtype"]["files"].keys() == {"covtype.data.gz"}
    assert records.run["comparator"].startswith("RandomForest(n_trees=100, seed=0) of scikit-learn ")
    assert records.settings["uniform"]["policy"] == {"name": "Uniform", "parameters": {}}
    (session,) = records.sessions
    assert session["jobs"] == 2
    assert session["versions"].keys() == {"python", "bandit-forest", "numpy", "scikit-learn"}
    assert session["machine"]["cores"] == os.cpu_count()

    forget_comparators()
    again = Watching()
    run(again)
    assert again.updates == {}  # what is finished needs no comparator any more


def forget_comparators() -> None:
    for path in (cache_folder() / "comparators").iterdir():
        path.unlink()


def test_a_stream_that_some_policy_has_played_needs_no_comparator_again(data: Path, tmp_path: Path):
    def run(id: str, setting: str, n_trials: int, watching: Watching) -> Path:
        sizes = {"n_events": 500, "n_trials": n_trials, "jobs": 1}
        return run_experiment(EXPERIMENTS[id], settings=[setting], **sizes, data=data, out=tmp_path, watch=watching)

    first = read_records(run("paper/covtype", "uniform", 1, Watching())).trials["uniform", 0]
    forget_comparators()
    watching = Watching()
    second = read_records(run("default/covtype", "bandit-forest", 1, watching)).trials["bandit-forest", 0]
    assert watching.updates.keys() == {"default/covtype/bandit-forest Bandit Forest, default, trial 0"}
    np.testing.assert_array_equal(first.regret + first.reward, second.regret + second.reward)
    further = Watching()
    run("default/covtype", "bandit-forest", 2, further)
    assert [len(stage.tasks) for stage in further.stages.values()] == [1, 1, 1]


def test_finished_trials_are_kept_and_more_can_be_added(tmp_path: Path):
    sizes = {"n_events": 300, "jobs": 2, "out": tmp_path}
    file = run_experiment(ACTIONS, settings=["2-actions", "4-actions"], n_trials=1, **sizes)
    before = file.read_bytes()
    watching = Watching()
    run_experiment(ACTIONS, settings=["2-actions", "4-actions"], n_trials=1, **sizes, watch=watching)
    assert watching.updates == {}
    assert watching.stages["Trials"].n_done == 2
    run_experiment(ACTIONS, settings=["4-actions", "8-actions"], n_trials=2, **sizes)
    assert file.read_bytes().startswith(before)
    records = read_records(file)
    assert sorted(records.trials) == [
        ("2-actions", 0), ("4-actions", 0), ("4-actions", 1), ("8-actions", 0), ("8-actions", 1),
    ]  # fmt: skip
    assert len(trials_of(file)) == 5
    assert len(records.sessions) == 3


def test_a_file_of_another_run_is_refused(tmp_path: Path):
    file = run_experiment(ACTIONS, settings=["2-actions"], n_events=300, n_trials=1, jobs=1, out=tmp_path)
    before = file.read_bytes()
    with pytest.raises(
        OtherRunError, match=r"differs in its n_events \(300, not 301\).* Choose another folder with --out"
    ):
        run_experiment(ACTIONS, settings=["4-actions"], n_events=301, n_trials=1, jobs=1, out=tmp_path)
    assert file.read_bytes() == before


def test_unknown_settings_are_refused(tmp_path: Path):
    with pytest.raises(InvalidArgumentError, match=r"'settings' of run_experiment .* 2-actions, .* Got '0' instead"):
        run_experiment(ACTIONS, settings=["0"], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


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
    command = [sys.executable, "-c", "from bandit_forest.cli import main; main()", "run", "theory/actions/2-actions"]
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
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """The trials of the run that is interrupted below, when nothing interrupts it."""
    out = tmp_path_factory.mktemp("whole")
    return trials_of(run_experiment(ACTIONS, settings=["2-actions"], n_events=4000, n_trials=5, jobs=1, out=out))


@pytest.mark.slow
def test_killed_and_started_again_it_loses_nothing_and_repeats_nothing(whole: list[bytes], tmp_path: Path):
    file = tmp_path / "theory" / "actions.jsonl"
    run = start(tmp_path)
    wait_until(lambda: len(trials_of(file)) >= 2, "a trial")
    run.kill()
    run.communicate()
    wait_until(lambda: group_is_gone(run.pid), "the end of the trials without a parent")
    finished = trials_of(file)
    assert 2 <= len(finished) < 5
    again = start(tmp_path)
    printed, _ = again.communicate(timeout=PATIENCE)
    assert again.returncode == 0
    assert f"Trials: {len(finished)} done before" in printed
    assert trials_of(file) == whole


@pytest.mark.slow
def test_runs_side_by_side_in_one_folder_lose_nothing(whole: list[bytes], tmp_path: Path):
    runs = [start(tmp_path), start(tmp_path)]
    assert [(run.communicate(timeout=PATIENCE), run.returncode)[1] for run in runs] == [0, 0]
    assert sorted(set(trials_of(tmp_path / "theory" / "actions.jsonl"))) == whole


@pytest.mark.slow
def test_ctrl_c_stops_it_cleanly(whole: list[bytes], tmp_path: Path):
    file = tmp_path / "theory" / "actions.jsonl"
    run = start(tmp_path)
    wait_until(lambda: len(trials_of(file)) >= 1, "a trial")
    os.killpg(run.pid, signal.SIGINT)
    printed, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 130
    assert "Stopped. Finished trials are kept" in printed
    assert "Traceback" not in printed
    wait_until(lambda: group_is_gone(run.pid), "the end of all processes")
    assert [path.name for path in file.parent.iterdir()] == ["actions.jsonl"]
    assert set(trials_of(file)) < set(whole)
