"""The commands of logged data: evaluate policies on a log, and learn a forest from one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from bandit_forest.atomic import write_text
from bandit_forest.bandit import Bandit
from bandit_forest.bandit.pairs import PairBandit
from bandit_forest.distributed.launchers import open_launcher
from bandit_forest.distributed.learning import learn_in_shards
from bandit_forest.distributed.shards import Lessons, cut
from bandit_forest.distributed.tasks import Launcher, Update
from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import refuse
from bandit_forest.evaluation.bandits import FeaturePolicy
from bandit_forest.evaluation.evaluate import Evaluation, shown
from bandit_forest.evaluation.evaluate import evaluate as evaluate_log
from bandit_forest.evaluation.log import Log, Source
from bandit_forest.evaluation.opening import FORMATS, encoder_path, open_log, open_policy, read_encoder
from bandit_forest.evaluation.progressive import Progressive, learn_along, lessons_of
from bandit_forest.evaluation.requirements import is_met
from bandit_forest.forest import BanditForest

__all__ = ["register"]

UNMET = 3
"""Exit code of `evaluate` when a requirement is not met."""

LogFile = Annotated[Path, typer.Argument(metavar="LOG", help="The file with the log.")]
Format = Annotated[str | None, typer.Option(help=f"One of {', '.join(FORMATS)}; default: by the file's ending.")]
Column = Annotated[
    list[str] | None, typer.Option(help="Role of a column, such as reward=click or time=when. Repeatable.")
]
Action = Annotated[
    list[str] | None, typer.Option(help="Name of an action, in their order; default: as in the file. Repeatable.")
]
Low = Annotated[float | None, typer.Option(help="Least possible reward; default: that in a Parquet file, or 0.")]
High = Annotated[float | None, typer.Option(help="Largest possible reward; default: that in a Parquet file, or 1.")]
Encoder = Annotated[
    Path | None, typer.Option(help="JSON of a ContextEncoder; default: the file beside the forest, NAME.encoder.json.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command()(evaluate)
    app.command()(learn)


def evaluate(
    log: LogFile,
    policy: Annotated[
        list[str],
        typer.Option(
            help="uniform, always:ACTION, column:NAME, or [NAME=]FILE of a Bandit, PairBandit or forest. Repeatable."
        ),
    ],
    format: Format = None,
    column: Column = None,
    action: Action = None,
    reward_low: Low = None,
    reward_high: High = None,
    encoder: Encoder = None,
    confidence: Annotated[float, typer.Option(help="Confidence level of all intervals.")] = 0.95,
    json_: Annotated[bool, typer.Option("--json", help="Print all numbers as JSON.")] = False,
    report: Annotated[Path | None, typer.Option(help="HTML page to write.")] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(help=f"Requirement such as 'new > logged'; exit code {UNMET} if it is not met. Repeatable."),
    ] = None,
) -> None:
    """Estimate the rewards of policies on a log, with findings about the log."""
    console = Console()
    if report is not None:
        from bandit_forest.evaluation.report.figures import figure_class

        _check_folder(report, "report")
        figure_class()  # before anything takes time
    source = open_log(
        log,
        format=format,
        columns=column or (),
        actions=action or (),
        reward_low=reward_low,
        reward_high=reward_high,
    )
    known = None if encoder is None else _read_encoder(encoder)
    targets = [open_policy(text, encoder=known) for text in policy]
    with _progress(console, "evaluate", source.n_events, quiet=json_) as told:
        evaluation = evaluate_log(source, targets, confidence=confidence, encoder=known, progress=told)
    if json_:
        typer.echo(json.dumps(evaluation.to_json(), indent=2))
    else:
        _print(console, evaluation)
    if report is not None:
        from bandit_forest.evaluation.report import write_report

        write_report(evaluation, report, title=f"Evaluation of {log.name}")
        if not json_:
            console.print(f"The page: {report}", soft_wrap=True)
    unmet = [text for text in require or () if not is_met(text, evaluation)]
    for text in unmet:
        typer.echo(f"Not met: {text}", err=True)
    if unmet:
        raise typer.Exit(UNMET)


def learn(
    log: LogFile,
    out: Annotated[Path, typer.Option(help="File to write.")],
    format: Format = None,
    column: Column = None,
    action: Action = None,
    reward_low: Low = None,
    reward_high: High = None,
    encoder: Encoder = None,
    trees: Annotated[int, typer.Option(min=1, help="Number of trees.")] = 32,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random draws.")] = 0,
    launcher: Annotated[
        str | None,
        typer.Option(help="Launcher of parallel parts: local, local:JOBS, ray or ray://HOST:PORT; same file."),
    ] = None,
) -> None:
    """Learn from a log, and estimate the reward during the learning (without a launcher).

    The file holds a Bandit, or a PairBandit if events offer their actions: `bandit-forest serve --from` takes it.
    If contexts are zeros and ones, or with an encoder, it holds a forest.
    """
    console = Console()
    _check_folder(out, "out")
    source = open_log(
        log,
        format=format,
        columns=column or (),
        actions=action or (),
        reward_low=reward_low,
        reward_high=reward_high,
    )
    first = next(iter(source.batches()), None)
    if first is None:
        refuse("log", "learn", "one with at least one event", log.name)
    launched = None if launcher is None else open_launcher(launcher)
    if first.offers is not None:
        if encoder is not None or launcher is not None:
            given, value = ("launcher", launcher) if encoder is None else ("encoder", str(encoder))
            refuse(given, "learn", "left out for a log with offers", value)
        pairs = PairBandit(
            reward_range=source.reward_range,
            context_features=first.kinds.context or None,
            action_features=first.kinds.action or None,
            seed=seed,
            forest={"n_trees": trees},
        )
        _learn_along(console, source, pairs, None, out)
    elif encoder is None and first.contexts is None:
        names = list(source.action_names)
        bandit = Bandit(
            actions=names,
            reward_range=source.reward_range,
            features=first.kinds.context or None,
            seed=seed,
            forest={"n_trees": trees},
        )
        policy = FeaturePolicy(bandit, source)
        if bandit.policy is None:
            bandit.fit(policy.columns(first))
        if launched is None:
            _learn_along(console, source, bandit, None, out)
        else:
            forest = bandit.forest("learn")
            forest = _learn_in_shards(console, forest, lessons_of(source, encode=policy.encoded), launched)
            bandit.model.restore(forest, bandit.model.schema, forest.n_events)
            _save(console, bandit, out)
    else:
        known = None if encoder is None else _read_encoder(encoder)
        forest = _new_forest(source, first, known, trees, seed)
        if launched is None:
            _learn_along(console, source, forest, known, out)
        else:
            encode = partial(Log.encoded, encoder=known)
            _save(console, _learn_in_shards(console, forest, lessons_of(source, encode=encode), launched), out)
        if known is not None:
            beside = encoder_path(out)
            write_text(beside, known.to_json())
            console.print(f"Its encoder: {beside}", soft_wrap=True)
    console.print("Evaluate it on events that it has not learned from.", style="dim")


def _new_forest(source: Source, first: Log, encoder: ContextEncoder | None, n_trees: int, seed: int) -> BanditForest:
    names = list(first.variable_names) if encoder is None else encoder.variable_names
    return BanditForest(
        n_variables=len(names),
        n_actions=len(source.action_names),
        thresholds=None if encoder is None else encoder.thresholds,
        n_trees=n_trees,
        seed=seed,
        variable_names=names,
        action_names=source.action_names,
    )


def _learn_along(
    console: Console,
    source: Source,
    policy: Bandit | PairBandit | BanditForest,
    encoder: ContextEncoder | None,
    out: Path,
) -> None:
    """Let a policy learn the log, write its file, and print what it would have earned."""
    with _progress(console, "learn", source.n_events) as told:
        along = learn_along(source, policy, encoder=encoder, progress=told)
    _save(console, policy, out)
    _print_along(console, along)


def _save(console: Console, policy: Bandit | PairBandit | BanditForest, out: Path) -> None:
    policy.save(out)
    n_events = policy.n_events if isinstance(policy, BanditForest) else policy.version
    console.print(f"Learned from {n_events:,} events: {out}", soft_wrap=True)


def _print_along(console: Console, along: Progressive) -> None:
    if along.is_judged:
        earned, logged = shown(along.doubly_robust), shown(along.logged)
        console.print(f"While it learned it would have earned {earned}; the log earned {logged}.")
    else:
        told = f"an effective sample of {along.effective:,.0f} events, with {along.rare_rewards:,.1f} rare rewards"
        console.print(f"The log cannot tell what it would have earned while it learned: {told}.", soft_wrap=True)


def _learn_in_shards(console: Console, forest: BanditForest, lessons: Lessons, launcher: Launcher) -> BanditForest:
    """Return the forest that has learned the lessons; the progress of all shards is one."""
    n_done: dict[int, int] = {}
    n_shards = len(cut(forest, forest.n_trees))
    with _progress(console, f"learn in {n_shards} shards", n_shards * len(lessons.rewards)) as told:

        def add_up(number: int, update: Update) -> None:
            n_done[number] = update.n_done
            told(sum(n_done.values()))

        return learn_in_shards(forest, lessons, launcher=launcher, on_update=add_up)


def _print(console: Console, evaluation: Evaluation) -> None:
    """Print verdicts first, then numbers, then what stands behind them."""
    for name in evaluation.names[1:]:
        console.print(evaluation.verdict(name), style="bold", soft_wrap=True, markup=False)
    heads, *rows = evaluation.table
    table = Table(box=box.SIMPLE_HEAD)
    for number, head in enumerate(heads):
        table.add_column(head, justify="right" if number else "left")
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)
    *doubts, sound = evaluation.remarks
    for doubt in doubts:
        console.print(doubt, soft_wrap=True, markup=False)
    console.print(sound, style="dim")


def _check_folder(file: Path, option: str) -> None:
    """Refuse a file that cannot be written, before anything takes time."""
    if file.is_dir() or not file.parent.is_dir():
        refuse(option, "bandit-forest", "a file in a folder that exists", str(file))


def _read_encoder(path: Path) -> ContextEncoder:
    if not path.is_file():
        refuse("encoder", "bandit-forest", "the JSON file of a ContextEncoder", str(path))
    return read_encoder(path)


@contextmanager
def _progress(console: Console, name: str, n_events: int, *, quiet: bool = False) -> Iterator[Callable[[int], object]]:
    columns = (TextColumn(name), BarColumn(), MofNCompleteColumn(), TextColumn("events"), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        bar = progress.add_task(name, total=n_events)
        yield lambda n_events: progress.update(bar, completed=n_events)
