"""What is seen while an experiment runs: a bar for each trial under way, and a line for each that is finished."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from bandit_forest.distributed.tasks import Update
from bandit_forest.experiments.run.plan import Stage

__all__ = ["Display"]


class _Speed(ProgressColumn):
    """Amount that is done in a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f} {task.fields['unit']}/s", style="cyan")


class Display:
    """Shows the stages of a run in the terminal; elsewhere it only prints what is finished.

    Parameters
    ----------
    console
        The terminal.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.completed:,.0f} of {task.total:,.0f} {task.fields[unit]}"),
            _Speed(),
            TextColumn("{task.fields[reward]}", style="green"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for bar in self._progress.task_ids:  # bars of trials that were stopped mean nothing any more
            self._progress.remove_task(bar)
        self._progress.stop()

    def watch(self, stage: Stage) -> Callable[[int, Update], None]:
        """Begin a stage, and return the function to call with the progress of each of its tasks."""
        if stage.n_done:
            self._console.print(f"{stage.name}: {stage.n_done} done before")
        return _Watch(stage, self._console, self._progress).update


class _Watch:
    """The bars of one stage."""

    def __init__(self, stage: Stage, console: Console, progress: Progress) -> None:
        self._stage, self._console, self._progress = stage, console, progress
        self._bars: dict[int, TaskID] = {}
        self._starts: dict[int, float] = {}
        self._n_done: dict[int, int] = {}
        self._n_running = len(stage.tasks)  # a task that has done all of its events may still have rows to write
        if stage.tasks:
            self._whole = self._add(stage.name, sum(task.size for task in stage.tasks))

    def update(self, number: int, update: Update) -> None:
        """Show the progress of a task."""
        task = self._stage.tasks[number]
        if number not in self._bars:
            self._bars[number] = self._add(f"  {task.label}", task.size)
            self._starts[number] = time.monotonic()
        self._n_done[number] = update.n_done
        reward = "" if update.reward is None else f"reward {update.reward:.1%}"
        self._progress.update(self._bars[number], completed=update.n_done, reward=reward)
        self._progress.update(self._whole, completed=sum(self._n_done.values()))
        if update.is_finished:
            self._progress.remove_task(self._bars[number])
            seconds = time.monotonic() - self._starts[number]
            self._console.print(f"{task.label}: {', '.join(filter(None, [reward, f'{seconds:,.1f} s']))}", style="dim")
            self._n_running -= 1
            if self._n_running == 0:
                self._progress.remove_task(self._whole)

    def _add(self, description: str, size: int) -> TaskID:
        return self._progress.add_task(description, total=size, unit=self._stage.unit, reward="")
