"""Kills under load: nothing that was acknowledged is lost. The long form is `benchmarks/prove.py kills`."""

from __future__ import annotations

import asyncio

import pytest

from harness.crash_runs import run_crashes, write_project


@pytest.mark.slow
def test_kills_under_load_lose_and_double_nothing(tmp_path):
    survived = []
    ledger = asyncio.run(
        run_crashes(write_project(tmp_path), kills=5, seed=1, told=lambda moment, _: survived.append(moment))
    )
    assert survived == ["load"] * 5
    assert len(ledger.decisions) > 200
    assert len(ledger.rewards) > 100
