"""Power cuts: what may be left of a recorded run recovers. The long form is `benchmarks/prove.py power-cut`."""

from __future__ import annotations

import shutil

import pytest

from proofs.power_cut import run_part


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler, to record the calls of a process")
def test_states_that_a_power_cut_may_leave_recover_to_a_prefix_with_everything_acknowledged() -> None:
    found = run_part(0, most_states=400)
    assert found["states"] == 400
    assert found["states_started"] >= 10
    assert found["changes"] > 500
