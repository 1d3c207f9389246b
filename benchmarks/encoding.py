"""Time to encode a row: one at a time from a dict, and many at once from a frame or a list of dicts.

Run it with `python benchmarks/encoding.py`: microseconds per row, the fastest of several repetitions.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from bandit_forest.encoding import ContextEncoder

N_ROWS, N_ROWS_ONE_BY_ONE = 100_000, 500
REPETITIONS, REPETITIONS_ONE_BY_ONE = 7, 100  # short ones find the moments in which nobody else computes
CITIES = [f"city {number}" for number in range(60)]

Columns = dict[str, NDArray[Any]]


def main() -> None:
    """Print one line per kind of row and encoding."""
    table = Table("row", "encoding", "variables", "encode", "transform frame", "transform dicts", "fit")
    kinds = {"60 numbers": _numbers(60), "60 whole numbers": _whole_numbers(60), "15 mixed fields": _mixed()}
    for kind, columns in kinds.items():
        for encoding, n_bins in (("ordered", None), ("five bins", 5)):
            encoder = ContextEncoder(n_bins=n_bins).fit(columns)
            times = (f"{time:.2f} µs" for time in _times(encoder, columns))
            table.add_row(kind, encoding, str(encoder.n_variables), *times)
    Console(width=150).print(table)


def _numbers(n_columns: int) -> Columns:
    rng = np.random.default_rng(0)
    return {f"number {number}": rng.normal(size=N_ROWS) for number in range(n_columns)}


def _whole_numbers(n_columns: int) -> Columns:
    rng = np.random.default_rng(1)
    return {f"number {number}": rng.integers(0, 1000, size=N_ROWS) for number in range(n_columns)}


def _mixed() -> Columns:
    """Return five numbers, two of which are missing in one of ten rows, five texts and five flags."""
    rng = np.random.default_rng(2)
    columns = dict(_numbers(5))
    for name in list(columns)[:2]:
        columns[name][rng.random(N_ROWS) < 0.1] = np.nan
    texts = {f"text {number}": rng.choice(np.array(CITIES, dtype=object), size=N_ROWS) for number in range(5)}
    flags = {f"flag {number}": rng.random(N_ROWS) < 0.5 for number in range(5)}
    return columns | texts | flags


def _times(encoder: ContextEncoder, columns: Columns) -> tuple[float, float, float, float]:
    frame = polars.DataFrame({name: values.tolist() for name, values in columns.items()})
    rows = frame.to_dicts()
    return (
        _time(lambda: _encode_all(encoder, rows[:N_ROWS_ONE_BY_ONE]), N_ROWS_ONE_BY_ONE, REPETITIONS_ONE_BY_ONE),
        _time(lambda: encoder.transform(frame), N_ROWS, REPETITIONS),
        _time(lambda: encoder.transform(rows), N_ROWS, REPETITIONS),
        _time(lambda: ContextEncoder(**encoder.get_params()).fit(frame), N_ROWS, REPETITIONS),
    )


def _encode_all(encoder: ContextEncoder, rows: Sequence[Mapping[str, Any]]) -> None:
    for row in rows:
        encoder.encode(row)


def _time(work: Callable[[], object], n_rows: int, repetitions: int) -> float:
    return min(timeit.repeat(work, number=1, repeat=repetitions)) / n_rows * 1e6


if __name__ == "__main__":
    main()
