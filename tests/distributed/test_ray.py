"""Tasks on a real cluster of Ray, whose workers and nodes are killed."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from bandit_forest.cli import main
from bandit_forest.distributed.launchers import open_launcher
from bandit_forest.errors import InvalidArgumentError, MissingExtraError

ROOT = Path(__file__).parents[2]
needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")


@needs_ray
@pytest.mark.slow
def test_a_forest_is_the_same_from_one_process_from_shards_and_from_a_cluster_that_is_killed():
    command = [sys.executable, "benchmarks/same_bytes.py", "--events", "40000", "--trees", "16", "--shards", "4"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=True).stdout
    assert "killed a worker" in told
    assert "killed a node" in told
    assert "in 4 ways" in told


@needs_ray
@pytest.mark.slow
def test_an_experiment_has_the_same_rows_from_processes_and_from_ray(tmp_path: Path):
    rows = []
    for launcher in ("local:2", "ray"):
        command = [
            sys.executable,
            "-c",
            "from bandit_forest.cli import main; main()",
            "run",
            "theory/actions/2-actions",
        ]
        given = ["--events", "300", "--trials", "3", "--launcher", launcher, "--out", str(tmp_path / launcher)]
        ended = subprocess.run([*command, *given], timeout=600, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
        lines = next((tmp_path / launcher).rglob("*.jsonl")).read_text().splitlines()
        rows.append(sorted(line for line in lines if "trial" in json.loads(line)))
    assert rows[0] == rows[1]
    assert len(rows[0]) == 3


def test_a_launcher_that_nobody_knows_is_refused():
    with pytest.raises(InvalidArgumentError, match="The 'launcher' of open_launcher must be local, local:JOBS, ray"):
        open_launcher("spark")


def test_without_ray_the_cure_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'bandit-forest\[ray\]'"):
        open_launcher("ray://head:10001")
    command = ["bandit-forest", "run", "theory/actions", "--launcher", "ray", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit, match="Ray is not installed"):
        main()
