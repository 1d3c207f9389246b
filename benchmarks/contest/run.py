"""Play all games that have no row yet, several at a time, and write each row as it comes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from contest.dataset import dataset_sizes
from contest.entries import CONTESTANTS, LAST
from contest.game import describe_game
from contest.rewards import MODES
from contest.rows import append_row, drop_partial_rows, read_rows
from contest.stream import make_stream

__all__ = ["Task", "plan_tasks", "play_task", "run_tasks"]


class Task(NamedTuple):
    """One game: a policy with a setting on a stream."""

    folder: Path
    set_name: str
    mode: str
    shuffle: int
    n_events: int
    policy: str
    setting: str


def plan_tasks(
    *, data: Path, sets: Sequence[str], modes: Sequence[str], n_shuffles: int, policies: Sequence[str], n_events: int
) -> list[Task]:
    """Return all games in the order of play: without noise first, the slowest policy last, small sets first."""
    sizes = dataset_sizes(data)
    ranked = [
        (
            (mode != MODES[0], policy == LAST, modes.index(mode), sizes[name], name, shuffle),
            Task(data, name, mode, shuffle, min(n_events, sizes[name]), policy, contestant.setting),
        )
        for mode in modes
        for name in sets
        for shuffle in range(n_shuffles)
        for policy in policies
        for contestant in CONTESTANTS[policy]
    ]
    return [task for _, task in sorted(ranked, key=lambda pair: pair[0])]


def run_tasks(tasks: Sequence[Task], *, out: Path, n_jobs: int, console: Console) -> None:
    """Play the games that have no row in a folder, in processes of their own."""
    drop_partial_rows(out)
    done = {_key(row) for row in read_rows(out)}
    missing = [task for task in tasks if _task_key(task) not in done]
    console.print(f"{len(tasks) - len(missing):,} of {len(tasks):,} games were played before")
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        bar = progress.add_task("games", total=len(missing))
        for row in _play_all(missing, n_jobs):
            append_row(out, row)
            progress.update(bar, advance=1, description=f"{row['policy']} on {row['set']}, {row['mode']}")


def play_task(task: Task) -> dict[str, Any]:
    """Return the row of one game."""
    stream = make_stream(task.folder, name=task.set_name, mode=task.mode, shuffle=task.shuffle, n_events=task.n_events)
    contestant = next(one for one in CONTESTANTS[task.policy] if one.setting == task.setting)
    return describe_game(stream, contestant, contestant.play(stream))


def _play_all(tasks: Sequence[Task], n_jobs: int) -> Iterator[dict[str, Any]]:
    with multiprocessing.get_context("spawn").Pool(n_jobs) as pool:
        yield from pool.imap_unordered(play_task, tasks)


def _task_key(task: Task) -> tuple[Any, ...]:
    return task.set_name, task.mode, task.shuffle, task.n_events, task.policy, task.setting


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["set"], row["mode"], row["shuffle"], row["events"], row["policy"], row["setting"]
