"""Kills under load: nothing that was acknowledged is lost. The long forms are in `benchmarks/prove.py`."""

from __future__ import annotations

import asyncio

import pytest

from harness.crash_runs import run_crashes, write_project


@pytest.mark.slow
@pytest.mark.parametrize("is_offered", [False, True], ids=["fixed", "offered"])
def test_kills_under_load_lose_and_double_nothing(tmp_path, is_offered):
    survived = []
    project = write_project(tmp_path, is_offered=is_offered)
    ledger = asyncio.run(run_crashes(project, kills=5, seed=1, told=lambda moment, _: survived.append(moment)))
    assert survived == ["load"] * 5
    assert len(ledger.decisions) > 200
    assert len(ledger.rewards) > 100
