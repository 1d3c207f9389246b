"""Kills under load: nothing that was acknowledged is lost. The long form is benchmarks/crash.py."""

from __future__ import annotations

import asyncio

import pytest

from harness.crash_runs import run_crashes, write_project


@pytest.mark.slow
def test_kills_under_load_lose_and_double_nothing(tmp_path):
    survived = []
    ledger = asyncio.run(
        run_crashes(write_project(tmp_path), kills=5, seed=1, told=lambda kill, _: survived.append(kill))
    )
    assert survived == [1, 2, 3, 4, 5]
    assert len(ledger.decisions) > 200
    assert len(ledger.rewards) > 100
