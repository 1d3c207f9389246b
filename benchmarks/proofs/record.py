"""What a proof has found: one line of JSON for each of its parts, with date and commit."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

__all__ = ["Record", "run_parts"]


class Record:
    """The lines of a proof; a part that has its line is not run again.

    Parameters
    ----------
    file
        Where the lines are.
    """

    def __init__(self, file: Path) -> None:
        self.file = file

    def rows(self) -> list[dict[str, Any]]:
        """Return what was found; a last line without an end is passed over."""
        if not self.file.exists():
            return []
        return [json.loads(line) for line in self.file.read_text().splitlines(keepends=True) if line.endswith("\n")]

    def add(self, part: int, found: dict[str, Any]) -> None:
        """Add the line of a part."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        row = {"part": part, "date": now, "commit": _commit(), **found}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a") as lines:
            lines.write(json.dumps(row) + "\n")
            lines.flush()
            os.fsync(lines.fileno())


def run_parts(record: Record, parts: Iterable[int], run: Callable[[int], dict[str, Any]], console: Console) -> None:
    """Run the parts that have no line yet, and tell of each."""
    done = {row["part"] for row in record.rows()}
    missing = [part for part in parts if part not in done]
    for number, part in enumerate(missing, 1):
        began = time.monotonic()
        found = run(part)
        seconds = time.monotonic() - began
        record.add(part, found | {"seconds": round(seconds, 1)})
        left = (len(missing) - number) * seconds / 60
        console.print(f"part {part}, {number} of {len(missing)}, about {left:.0f} minutes left: {found}")
    totals = _totals(record.rows())
    console.print(f"{record.file}: {totals}")


def _totals(rows: list[dict[str, Any]]) -> dict[str, float]:
    names = {name for row in rows for name, value in row.items() if isinstance(value, (int, float)) and name != "part"}
    return {name: round(sum(row.get(name, 0) for row in rows), 1) for name in sorted(names)}


def _commit() -> str:
    told = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.strip() or "unknown"
