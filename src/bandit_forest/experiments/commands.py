"""The commands of experiments: list them, run them, report them, and fetch the data they need."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.table import Column, Table

from bandit_forest.atomic import write_text
from bandit_forest.distributed.launchers import open_launcher
from bandit_forest.experiments.catalogue import EXPERIMENTS, find
from bandit_forest.experiments.report import write_report
from bandit_forest.experiments.report.closeness import CLOSENESS_HEADER, closeness_lines
from bandit_forest.experiments.report.pages import fill_tables
from bandit_forest.experiments.report.results import Results
from bandit_forest.experiments.report.tables import HEADER, notes, summary_lines
from bandit_forest.experiments.run import run_experiment
from bandit_forest.experiments.run.display import Display
from bandit_forest.worlds.datasets import fetch

__all__ = ["register"]

_INTERRUPTED = 130

Data = Annotated[Path | None, typer.Option(help="Folder of UCI's files; default: BANDIT_FOREST_DATA, or the cache.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command()(experiments)
    app.command()(run)
    app.command()(report)
    data = typer.Typer(help="Data sets of the experiments.", no_args_is_help=True)
    data.command("fetch")(fetch_data)
    data.callback()(lambda: None)
    app.add_typer(data, name="data")


def experiments(
    id: Annotated[str | None, typer.Argument(help="An experiment, to list its settings.")] = None,
) -> None:
    """List the experiments, or the settings of one."""
    if id is None:
        table = Table(Column("id", no_wrap=True), "settings", "what", "shows", box=None)
        for experiment in EXPERIMENTS.values():
            table.add_row(experiment.id, str(len(experiment.settings)), experiment.title, experiment.shows)
    else:
        experiment, settings = find(id)
        table = Table(Column("id", no_wrap=True), "what", box=None)
        for setting in settings:
            table.add_row(experiment.setting_id(setting), setting.label)
    console = Console()
    console.print(table)
    console.print("\nRun one with: bandit-forest run ID")


def run(
    id: Annotated[str, typer.Argument(help="An experiment, or one setting of it, such as paper/covtype/uniform.")],
    events: Annotated[int | None, typer.Option(min=1, help="Events of a trial; default: the experiment's.")] = None,
    trials: Annotated[int | None, typer.Option(min=1, help="Trials of a setting; default: the experiment's.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Number of trials at a time; default: all cores.")] = None,
    launcher: Annotated[
        str | None, typer.Option(help="Launcher of the trials: local, local:JOBS, ray or ray://HOST:PORT.")
    ] = None,
    data: Data = None,
    out: Annotated[Path, typer.Option(help="Folder of all results.")] = Path("out"),
) -> None:
    """Run an experiment; the same command continues a run that was stopped."""
    experiment, settings = find(id)
    console = Console()
    try:
        with Display(console) as display:
            run_experiment(
                experiment,
                settings=[setting.name for setting in settings],
                n_events=events,
                n_trials=trials,
                jobs=jobs,
                launcher=None if launcher is None else open_launcher(launcher),
                data=data,
                out=out,
                watch=display.watch,
            )
    except KeyboardInterrupt:
        console.print("Stopped. Finished trials are kept: the same command goes on from there.")
        raise typer.Exit(_INTERRUPTED) from None
    console.print(f"Finished. See the results with: bandit-forest report {out}", soft_wrap=True)


def report(
    out: Annotated[Path, typer.Argument(help="Folder of all results.")] = Path("out"),
    page: Annotated[list[Path] | None, typer.Option(help="A Markdown file with tables to update. Repeatable.")] = None,
) -> None:
    """Make tables, figures and a page of all results in a folder."""
    console = Console()
    all_results = write_report(out)
    for results in all_results:
        console.print(_table(results))
        for note in notes(results):
            console.print(note, style="dim")
        console.print()
    if lines := closeness_lines(all_results):
        console.print(_closeness_table(lines), "")
    for path in page or ():
        write_text(path, fill_tables(path.read_text(), all_results))
    console.print(f"The page: {out / 'report.html'}; the figures: {out / 'figures'}", soft_wrap=True)


def fetch_data(
    name: Annotated[str, typer.Argument(help="covtype, adult or census1990.")],
    data: Data = None,
) -> None:
    """Download a data set from UCI and check it; existing files are not downloaded again."""
    console = Console()
    columns = (TextColumn(name), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        bar = progress.add_task(name, total=None)
        paths = fetch(name, data, progress=lambda here, whole: progress.update(bar, completed=here, total=whole))
    for path in paths:
        console.print(str(path), soft_wrap=True)


def _table(results: Results) -> Table:
    table = _empty_table(f"{results.title}: {results.experiment.id}", HEADER)
    for line in summary_lines(results):
        table.add_row(*line, style="dim" if line.is_from_paper else None)
    return table


def _closeness_table(lines: Iterable[Iterable[str]]) -> Table:
    table = _empty_table("Readings of the paper, the closest to its rates first", CLOSENESS_HEADER)
    for line in lines:
        table.add_row(*line)
    return table


def _empty_table(title: str, header: Iterable[str]) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for number, name in enumerate(header):
        table.add_column(name, justify="right" if number else "left")
    return table
