"""Rows of CSV files, and where a file is not UTF-8."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from bandit_forest.errors import refuse

__all__ = ["csv_rows", "refuse_encoding"]

_PARQUET = b"PAR1"  # how a Parquet file begins
_AROUND = 20  # bytes shown on each side of what is not UTF-8


def csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Return the rows of a CSV file with the line in which each ends; the header comes first, and must be there.

    Parameters
    ----------
    path
        The file.
    """
    with path.open("rb") as file:
        if file.read(len(_PARQUET)) == _PARQUET:
            rule = "a CSV file; one of Parquet is read by its ending .parquet, by --format parquet, or by read_parquet"
            refuse("format", path.name, rule, "a Parquet file")
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows, width = csv.reader(file, strict=True), None
        try:
            for row in rows:
                if width is not None and row and len(row) != width:
                    place = f"{path.name}, line {rows.line_num}"
                    refuse("row", place, f"{width} cells, like the header", f"{len(row)} cells")
                if row or width is None:
                    yield rows.line_num, row
                width = len(row) if width is None else width
        except UnicodeDecodeError:
            refuse_encoding(path)
        except csv.Error as error:
            refuse("row", f"{path.name}, line {rows.line_num}", "CSV", str(error))
    if width is None:
        refuse("path", path.name, "a file with a header", "an empty file")


def refuse_encoding(path: Path) -> NoReturn:
    """Refuse a file that is not UTF-8 by the first line that is not.

    Parameters
    ----------
    path
        The file, which could not be decoded.
    """
    rule = "in UTF-8: save the file with this encoding"
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                shown = line[max(error.start - _AROUND, 0) : error.start + _AROUND].rstrip(b"\r\n")
                refuse("text", f"{path.name}, line {number}", rule, shown)
    refuse("text", path.name, rule, "another encoding")
