"""Actions with features: the forest over pairs beside its rivals, on two worlds with exact regret.

Run `python benchmarks/actions.py`; rows go to results/actions.jsonl.gz as they come, and none is played again.
With `--table` the rows that are there become the table of docs/actions.md.
"""

from __future__ import annotations

import argparse
import gzip
import json
from functools import partial
from pathlib import Path
from typing import Any

from bandit_forest.baselines.pairs import HybridLinUCB, SharedLinUCB
from offered.play import WORLDS, Entrant, Score, play
from offered.policies import Forest, LightGbm, Linear, VowpalWabbit

RESULTS = Path(__file__).parents[1] / "results" / "actions.jsonl.gz"
SETTINGS = ("--squarecb --gamma_scale 1000 -l 2 -q ca", "--regcbopt --mellowness 0.01 -l 0.5 -q ca")
"""Of Vowpal Wabbit: the best of six and the other rule, on structure seed 101 and 10,000 events; as are the widths."""
ENTRANTS = (
    Entrant("PairForest", "", Forest),
    *(
        Entrant("Vowpal Wabbit", setting, lambda _, setting=setting: VowpalWabbit(setting))  # type: ignore[misc]
        for setting in SETTINGS
    ),
    Entrant("shared LinUCB", "width 0.1", partial(Linear, kind=SharedLinUCB, width=0.1)),
    Entrant("hybrid LinUCB", "width 0.1", partial(Linear, kind=HybridLinUCB, width=0.1)),
    Entrant("LightGBM", "refitted on doubling logs, 5 bags", lambda _: LightGbm()),
)


def main() -> None:
    """Play what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--policies", nargs="+", default=[entrant.policy for entrant in ENTRANTS])
    parser.add_argument("--table", action="store_true", help="print the table alone")
    arguments = parser.parse_args()
    if not arguments.table:
        for seed in arguments.seeds:
            for world in WORLDS:
                for entrant in ENTRANTS:
                    if entrant.policy in arguments.policies:
                        _play(entrant, world, seed, arguments.events)
    print(table([row for row in _rows() if row["seed"] in arguments.seeds], arguments.events))


def table(rows: list[dict[str, Any]], n_events: int) -> str:
    """Return the table in Markdown: means over seeds, in per cent of the best possible reward."""
    head = "| policy | world | all events | first tenth | second half | fresh actions | best action fresh |"
    lines = [head, "|" + "---|" * 7]
    for world in WORLDS:
        for entrant in ENTRANTS:
            of_entrant = [row for row in rows if _names(row) == (entrant.policy, entrant.setting, world, n_events)]
            if of_entrant:
                parts = Score._fields[:-1]
                means = [100 * sum(row[part] for row in of_entrant) / len(of_entrant) for part in parts]
                name = f"{entrant.policy} `{entrant.setting}`" if entrant.setting else entrant.policy
                lines.append(f"| {name} | {world} | " + " | ".join(f"{mean:.1f}" for mean in means) + " |")
    return "\n".join(lines)


def _play(entrant: Entrant, world: str, seed: int, n_events: int) -> None:
    wanted = {"policy": entrant.policy, "setting": entrant.setting, "world": world, "n_events": n_events, "seed": seed}
    if any(wanted.items() <= row.items() for row in _rows()):
        return
    made = WORLDS[world](structure_seed=seed)
    score = play(entrant.make(made), made, n_events=n_events, seed=seed)
    row = wanted | {name: round(value, 5) for name, value in score._asdict().items()}
    with gzip.open(RESULTS, "at") as file:
        file.write(json.dumps(row) + "\n")
    print(row, flush=True)


def _rows() -> list[dict[str, Any]]:
    if not RESULTS.exists():
        return []
    with gzip.open(RESULTS, "rt") as file:
        return [json.loads(line) for line in file]


def _names(row: dict[str, Any]) -> tuple[str, str, str, int]:
    return row["policy"], row["setting"], row["world"], row["n_events"]


if __name__ == "__main__":
    main()
