"""Replicas and PostgreSQL are killed under load; a longer form is `benchmarks/replica_crash.py`."""

from __future__ import annotations

import pytest

from harness.postgres import why_not
from harness.replica_crash import crash_replicas


@pytest.mark.slow
@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_what_was_acknowledged_is_there_once_after_kills():
    outcome = crash_replicas(n_kills=8)
    assert outcome.n_kills["postgres"] == 1
    assert outcome.n_rewards > 0
    assert outcome.n_repeated > 0
    assert outcome.verification.n_decisions >= outcome.n_decisions
