"""Kills: SIGKILL at random moments under load, a tenth of them in snapshots, in rotation and in recovery itself.

After each kill, every decision and reward that was acknowledged must be in the journal exactly once, and the forest of
the restarted service must be, bit for bit, the one that is rebuilt from the whole journal.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from harness.crash_runs import run_crashes, write_project

__all__ = ["KILLS_PER_PART", "run_kills", "run_part"]

KILLS_PER_PART = 20


def run_part(part: int) -> dict[str, Any]:
    """Kill the service of a new folder twenty times."""
    return run_kills(part, is_offered=False)


def run_kills(part: int, *, is_offered: bool) -> dict[str, Any]:
    """Kill the service of a new folder twenty times; its actions are fixed or offered."""
    moments: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        run = run_crashes(
            write_project(Path(folder), is_offered=is_offered),
            kills=KILLS_PER_PART,
            seed=part,
            told=lambda moment, _: moments.update([moment]),
        )
        ledger = asyncio.run(run)
    return {
        "kills": KILLS_PER_PART,
        **{f"kills_in_{moment}": count for moment, count in sorted(moments.items())},
        "decisions": len(ledger.decisions),
        "rewards": len(ledger.rewards),
        "repeated_requests": ledger.repeated,
        "lost_or_doubled": 0,  # or the run would have ended
    }
