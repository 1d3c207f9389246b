"""The bake-off: the default forest and its rivals on public data sets that nobody tuned it to.

Each row of a set is played once, shuffled. Results are written as they come, and a second run goes on where the first
was stopped: `python benchmarks/bakeoff.py --data FOLDER --out FOLDER`, then `python benchmarks/bakeoff_report.py`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from contest.entries import POLICIES
from contest.rewards import MODES
from contest.run import plan_tasks, run_tasks
from contest.split import SETS


def main() -> None:
    """Play the games that the arguments name."""
    arguments = _arguments()
    tasks = plan_tasks(
        data=arguments.data,
        sets=arguments.sets,
        modes=arguments.modes,
        n_shuffles=arguments.shuffles,
        policies=arguments.policies,
        n_events=arguments.events,
    )
    run_tasks(tasks, out=arguments.out, n_jobs=arguments.jobs, console=Console())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets, as Parquet")
    parser.add_argument("--out", type=Path, default=Path("out/bakeoff"), help="folder of the results")
    parser.add_argument("--sets", type=_names, default=SETS, help="names of sets with commas between")
    parser.add_argument("--policies", type=_names, default=POLICIES, help=f"some of {','.join(POLICIES)}")
    parser.add_argument("--modes", type=_names, default=MODES, help=f"some of {','.join(MODES)}")
    parser.add_argument("--shuffles", type=int, default=3)
    parser.add_argument("--events", type=int, default=100_000, help="largest number of events of a stream")
    parser.add_argument("--jobs", type=int, default=1, help="games at a time; with more than one core each, times rise")
    return parser.parse_args()


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


if __name__ == "__main__":
    main()
