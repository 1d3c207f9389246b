"""Vowpal Wabbit at its best beside the default forest: a grid of its settings on three data sets.

Each setting plays the first events of the same stream as the forest; the best of each family then plays more of it. A
line is written as it comes, and a second run goes on where the first was stopped:
`python benchmarks/vowpal_wabbit.py --data FOLDER`.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.table import Table

from contest.policies.vowpal_wabbit import N_BITS
from harness.rivals import ForestKind, play_forest, run_vowpal_wabbit, write_events
from harness.streams import make_world

WORLDS = ("covtype", "adult", "census1990")
FAMILIES = {
    "squarecb": [f"--squarecb --gamma_scale {scale}" for scale in (10, 100, 1000)],
    "synthcover": ["--synthcover"],
    "cover": ["--cover 8 --nounif"],
    "bag": ["--bag 5"],
}
PAIRS = ("", " -q ::")
RATES = (0.05, 0.1, 0.5)
FOREST = "BanditForest"
COLUMNS = ("world", "events", "family", "arguments", "average_reward", "seconds")


def main() -> None:
    """Play what is not in the file yet, and print the best of each family."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000, help="events that every setting plays")
    parser.add_argument("--more-events", type=int, default=1_000_000, help="events that the best of each family plays")
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=WORLDS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", required=True, help="folder of UCI's files")
    parser.add_argument("--out", type=Path, default=Path("out/vowpal-wabbit.csv"))
    arguments = parser.parse_args()
    console = Console(width=120)
    for world in arguments.worlds:
        grid = Grid(world, arguments.data, arguments.seed, arguments.out, console)
        grid.play(arguments.events, [(family, setting) for family in FAMILIES for setting in settings(family)])
        grid.play(arguments.more_events, [grid.best(arguments.events, family) for family in FAMILIES])
        for n_events in (arguments.events, arguments.more_events):
            console.print(grid.table(n_events))


def settings(family: str) -> Iterator[str]:
    """Return the arguments of all settings of a family."""
    for base, pairs, rate in product(FAMILIES[family], PAIRS, RATES):
        yield f"{base}{pairs} -l {rate} -b {N_BITS}"


class Grid:
    """The results on one world, in a file."""

    def __init__(self, world: str, data: str, seed: int, out: Path, console: Console) -> None:
        self._world, self._data, self._seed, self._out, self._console = world, data, seed, out, console
        out.parent.mkdir(parents=True, exist_ok=True)
        if not out.exists():
            out.write_text(",".join(COLUMNS) + "\n")

    def play(self, n_events: int, chosen: list[tuple[str, str]]) -> None:
        """Play settings of Vowpal Wabbit, and the forest, as far as they are not in the file."""
        done = {row["arguments"] for row in self._rows(n_events)}
        if FOREST not in done:
            measured = play_forest(self._world, self._data, n_events, self._seed, ForestKind())
            self._write(n_events, FOREST, FOREST, measured.average_reward, measured.seconds)
        if all(arguments in done for _, arguments in chosen):
            return
        n_actions = make_world(self._world, self._data).n_actions
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "events.txt")
            write_events(path, self._world, self._data, n_events, self._seed)
            for family, arguments in chosen:
                if arguments not in done:
                    measured = run_vowpal_wabbit(path, n_actions, arguments)
                    self._write(n_events, family, arguments, measured.average_reward, measured.seconds)

    def best(self, n_events: int, family: str) -> tuple[str, str]:
        """Return the setting of a family that earned most."""
        rows = [row for row in self._rows(n_events) if row["family"] == family]
        return family, max(rows, key=lambda row: float(row["average_reward"]))["arguments"]

    def table(self, n_events: int) -> Table:
        """Show the best of each family."""
        table = Table(title=f"{self._world}, first {n_events:,} events")
        for column in ("policy", "average reward", "events/s"):
            table.add_column(column, justify="left" if column == "policy" else "right")
        rows = {row["arguments"]: row for row in self._rows(n_events)}
        best = [FOREST, *(self.best(n_events, family)[1] for family in FAMILIES)]
        for row in sorted((rows[name] for name in best), key=lambda row: -float(row["average_reward"])):
            name = row["arguments"] if row["arguments"] == FOREST else f"vw {row['arguments']}"
            table.add_row(name, f"{float(row['average_reward']):.4f}", f"{n_events / float(row['seconds']):,.0f}")
        return table

    def _rows(self, n_events: int) -> list[dict[str, str]]:
        with self._out.open(newline="") as file:
            rows = list(csv.DictReader(file))
        return [row for row in rows if row["world"] == self._world and int(row["events"]) == n_events]

    def _write(self, n_events: int, family: str, arguments: str, reward: float, seconds: float) -> None:
        with self._out.open("a", newline="") as file:
            csv.writer(file).writerow([self._world, n_events, family, arguments, f"{reward:.6f}", f"{seconds:.2f}"])
        self._console.print(f"{self._world} {n_events:,} {arguments}: {reward:.4f} ({seconds:.0f} s)")


if __name__ == "__main__":
    main()
