"""The results file: whole lines, however many processes write and whenever they are stopped."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bandit_forest.errors import DamagedFileError
from bandit_forest.experiments.files import appending, read_lines
from bandit_forest.experiments.run.records import OtherRunError, append_trial, open_run, read_records
from bandit_forest.experiments.run.trial import TrialRow

RUN = {
    "experiment": "made/run",
    "title": "A made run",
    "n_events": 20,
    "points": [10, 20],
    "data": {},
    "comparator": "the optimum",
}
SETTING = {"label": "One", "world": {"name": "Made"}, "policy": {"name": "Made", "parameters": {"size": 1}}}
ROWS = [TrialRow(10, 1.25, 5.0, 0.5), TrialRow(20, 3.0, 9999999.0, 1.0)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A results file with one trial."""
    path = tmp_path / "made" / "run.jsonl"
    open_run(path, RUN, {"one": SETTING}, {"jobs": 1})
    append_trial(path, "one", 0, iter(ROWS))
    return path


def test_a_trial_is_read_as_it_was_written(path: Path):
    records = read_records(path)
    assert records.run == RUN
    assert records.settings == {"one": {"name": "one", **SETTING}}
    assert records.sessions == [{"jobs": 1}]
    assert records.seconds == {("one", 0): 1.0}
    ((key, trial),) = records.trials.items()
    assert key == ("one", 0)
    assert (trial.regret.tolist(), trial.reward.tolist()) == ([1.25, 3.0], [5.0, 9999999.0])


def test_the_line_of_a_trial_has_no_time_in_it(path: Path):
    lines = [line for line in read_lines(path) if line.startswith(b'{"trial"')]
    assert lines == [b'{"trial":{"setting":"one","seed":0,"regret":[1.25,3],"reward":[5,9999999]}}']


def test_rows_from_before_parameters_were_renamed_are_read_and_continued(tmp_path: Path):
    path = tmp_path / "run.jsonl"
    before = {"growth": "Elimination(delta=0.05, remaining='path')", "exploration": "RoundRobin(quorum=1.0)"}
    now = {"growth": "Elimination(delta=0.05, remaining_actions='path')", "exploration": "RoundRobin(quorum=1.0)"}
    rates = {"exploration": 0.005, "member_exploration": 0.05}
    old, new = (
        {name: SETTING | {"policy": {"name": "Made", "parameters": one}} for name, one in zip("ab", both, strict=True)}
        for both in ((before, rates), (now, {f"{name}_rate": rate for name, rate in rates.items()}))
    )
    open_run(path, RUN, old, {})
    assert open_run(path, RUN, new, {}).settings == {name: {"name": name, **one} for name, one in new.items()}


@pytest.mark.parametrize("n_left", [1, 30, 60])
def test_an_unfinished_line_does_not_count_and_is_cut_off(path: Path, n_left: int):
    whole = path.read_bytes()
    append_trial(path, "one", 1, iter(ROWS))
    path.write_bytes(path.read_bytes()[: len(whole) + n_left])
    assert read_records(path).trials.keys() == {("one", 0)}
    append_trial(path, "one", 2, iter(ROWS))
    assert path.read_bytes().startswith(whole)
    assert read_records(path).trials.keys() == {("one", 0), ("one", 2)}


def test_files_of_the_same_run_can_be_joined(path: Path, tmp_path: Path):
    other = tmp_path / "other.jsonl"
    open_run(other, RUN, {"one": SETTING, "two": SETTING}, {"jobs": 2})
    for setting, seed in (("one", 0), ("one", 1), ("two", 0)):
        append_trial(other, setting, seed, iter(ROWS))
    path.write_bytes(path.read_bytes() + other.read_bytes())
    records = read_records(path)
    assert records.trials.keys() == {("one", 0), ("one", 1), ("two", 0)}
    assert len(records.sessions) == 2


def test_settings_can_be_added_and_labels_may_change(path: Path):
    before = path.read_bytes()
    assert open_run(path, RUN, {"one": SETTING | {"label": "1"}, "two": SETTING}, {}).trials.keys() == {("one", 0)}
    added = path.read_bytes().removeprefix(before).splitlines()
    assert [next(iter(json.loads(line))) for line in added] == ["setting", "session"]


@pytest.mark.parametrize(
    ("run", "setting", "difference"),
    [
        ({"n_events": 30}, {}, r"n_events \(20, not 30\)"),
        ({"data": {"covtype": {}}}, {}, "data"),
        ({}, {"policy": {"name": "Made", "parameters": {"size": 2}}}, "setting 'one'"),
    ],
)
def test_another_run_is_refused_and_nothing_is_written(path: Path, run: dict, setting: dict, difference: str):
    before = path.read_bytes()
    with pytest.raises(OtherRunError, match=rf"run.jsonl holds a run that differs in its {difference}: .*--out"):
        open_run(path, RUN | run, {"one": SETTING | setting}, {})
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{}", "values to unpack"),
        ("[1]", "'list' object"),
        ('{"trail":{}}', "'trail' is not a kind of record"),
        ('{"trial":{"setting":"one"}}', "'regret'"),
        (
            '{"trial":{"setting":"two","seed":0,"regret":[1,2],"reward":[1,2]}}',
            "no line before it describes its setting",
        ),
        ('{"trial":{"setting":"one","seed":1,"regret":[1,2],"reward":[1]}}', "it has not 2 rows"),
        ('{"trial":{"setting":"one","seed":1,"regret":[1,"two"],"reward":[1,2]}}', "could not convert"),
        ('{"setting":{"name":"one","world":{},"policy":{}}}', "the setting differs from an earlier one of its name"),
        (json.dumps({"run": RUN | {"points": [20]}}), "it is of another run"),
    ],
)
def test_a_damaged_line_is_named(path: Path, line: str, why: str):
    with path.open("a") as stream:
        stream.write(f"{line}\n")
    with pytest.raises(DamagedFileError, match=rf"run.jsonl, line 6 cannot be read: .*{why}.* Remove the line"):
        read_records(path)


APPEND = """
import sys
from pathlib import Path
from bandit_forest.experiments.run.records import append_trial
from bandit_forest.experiments.run.trial import TrialRow
for seed in range(int(sys.argv[2]), int(sys.argv[2]) + 100):
    append_trial(Path(sys.argv[1]), "one", seed, [TrialRow(10, 1.0, 2.0, 3.0), TrialRow(20, 1.0, 2.0, 3.0)])
"""


def test_processes_side_by_side_lose_nothing(path: Path):
    processes = [subprocess.Popen([sys.executable, "-c", APPEND, path, str(100 * i)]) for i in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert read_records(path).trials.keys() == {("one", seed) for seed in range(300)}


def test_while_one_process_appends_others_wait(path: Path):
    with appending(path) as stream:
        process = subprocess.Popen([sys.executable, "-c", APPEND, path, "0"])
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=2)
        stream.write(b'{"session":{}}\n')
    assert process.wait() == 0
    assert len(read_records(path).sessions) == 2


def test_sums_of_rewards_are_exact(path: Path):
    append_trial(path, "one", 3, [TrialRow(10, -7.0, 9_999_999_999.0, 0.0), TrialRow(20, 0.1 + 0.2, 0.0, 0.0)])
    trial = read_records(path).trials["one", 3]
    np.testing.assert_array_equal(trial.regret, [-7.0, 0.3])
    np.testing.assert_array_equal(trial.reward, [9_999_999_999.0, 0.0])
