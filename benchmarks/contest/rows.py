"""Rows of results as JSON lines, one file per policy: delete a file to let its policy play again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["append_row", "drop_partial_rows", "read_rows"]


def append_row(folder: Path, row: dict[str, Any]) -> None:
    """Write a row behind those of its policy."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{row['policy']}.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")


def drop_partial_rows(folder: Path) -> None:
    """Remove what an interrupted run left of its last row."""
    for path in folder.glob("*.jsonl"):
        text = path.read_text()
        if not text.endswith("\n"):
            path.write_text(text[: text.rfind("\n") + 1])


def read_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of all policies; a last line that is not whole is left out."""
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                yield json.loads(line)
