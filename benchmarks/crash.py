"""The crash test in its long form: SIGKILL at random moments under load from several clients.

    python benchmarks/crash.py --kills 50

After each kill, every decision and reward that was acknowledged must be in the journal exactly once, and the forest of
the restarted service must be, bit for bit, the one that is rebuilt from the whole journal.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

from rich.console import Console

from harness.crash_runs import Ledger, run_crashes, write_project


def main() -> None:
    """Kill, check and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    console = Console(highlight=False)

    def told(kill: int, ledger: Ledger) -> None:
        decisions, rewards = len(ledger.decisions), len(ledger.rewards)
        console.print(
            f"kill {kill}: {decisions:,} decisions and {rewards:,} rewards acknowledged, none lost or doubled"
        )

    with tempfile.TemporaryDirectory() as folder:
        project = write_project(Path(folder))
        ledger = asyncio.run(run_crashes(project, kills=options.kills, seed=options.seed, told=told))
    console.print(f"{options.kills} kills, nothing lost; {ledger.repeated:,} requests had to be sent again")


if __name__ == "__main__":
    main()
