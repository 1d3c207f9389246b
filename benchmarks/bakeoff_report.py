"""The tables and the figure of the bake-off, from the rows that `bakeoff.py` wrote.

`python benchmarks/bakeoff_report.py --rows FOLDER` writes them into docs/bakeoff.md, docs/bakeoff-tables.md and
docs/figures/bakeoff.png, and prints the tables of the reporting sets.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from contest.entrants import FOREST, choose_entrants
from contest.report.figure import draw_figure
from contest.report.page import fill_pages
from contest.report.tables import all_tables
from contest.results import Results
from contest.rewards import MODES
from contest.split import SPLIT


def main() -> None:
    """Write the page and the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, nargs="+", default=[Path("out/bakeoff")], help="folders of rows")
    pages = [Path("docs/bakeoff.md"), Path("docs/bakeoff-tables.md")]
    parser.add_argument("--pages", type=Path, nargs="+", default=pages, help="Markdown files with the tables")
    parser.add_argument("--figure", type=Path, default=Path("docs/figures/bakeoff.png"))
    arguments = parser.parse_args()
    console = Console(width=200)
    results = Results(arguments.rows)
    tables = all_tables(results)
    for name, table in tables.items():
        if "reporting" in name or name == "far ahead":
            console.print(f"{name}\n{table}\n", markup=False)
    filled = fill_pages((page.read_text() for page in arguments.pages), tables)
    for page, text in zip(arguments.pages, filled, strict=True):
        page.write_text(text)
    entrants = choose_entrants(results, mode=MODES[0])
    if any(entrant.name == FOREST for entrant in entrants):
        draw_figure(results, mode=MODES[0], sets=SPLIT.reporting, entrants=entrants, path=arguments.figure)
    else:
        console.print("No figure: the forest has not played all sets.")


if __name__ == "__main__":
    main()
