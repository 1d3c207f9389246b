"""The long proofs of the decision service, resumable: what was done is in the results folder and is not done again.

python benchmarks/prove.py kills --parts 50        # 1,000 kills under load
python benchmarks/prove.py --help
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console

from proofs.record import Record, run_parts

PROOFS = {
    "kills": (50, "20 kills each: under load, and in snapshots, rotation and recovery"),
    "rank-kills": (5, "20 kills each of a service whose events offer their own actions"),
    "power-cut": (20, "a recorded run each, and all states that a power cut may leave of it"),
    "bodies": (20, "50,000 bodies by a grammar each, through the application"),
    "rank-bodies": (5, "50,000 bodies each, through the application of a project with offered actions"),
    "byte-streams": (20, "5,000 raw streams of bytes each, over real connections"),
    "soak": (1, "two hours under full load, or SOAK_MINUTES"),
    "migration": (1, "a journal of a million events carried over into another definition"),
    "archive": (100, "10,000 mutated saved forests each, through libFuzzer and AddressSanitizer"),
}


def main() -> None:
    """Run the parts of a proof that are missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    proofs = parser.add_subparsers(dest="proof", required=True)
    for name, (n_parts, text) in PROOFS.items():
        proof = proofs.add_parser(name, help=f"{n_parts} parts, {text}")
        proof.add_argument("--parts", type=int, default=n_parts, help="how many parts there shall be in the end")
        proof.add_argument("--results", type=Path, default=Path(__file__).parents[1] / "results" / "proofs")
    options = parser.parse_args()
    run: Callable[[int], dict[str, Any]] = import_module(f"proofs.{options.proof.replace('-', '_')}").run_part
    logging.getLogger("bandit_forest").setLevel(logging.ERROR)  # damage is warned about all the time
    record = Record(options.results / f"{options.proof}.jsonl")
    run_parts(record, range(options.parts), run, Console(highlight=False))


if __name__ == "__main__":
    main()
