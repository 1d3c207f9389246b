"""The demonstration: four policies play one world, and tell how they did in a table, as rules and in a figure."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bandit_forest.baselines import UCB, Uniform
from bandit_forest.errors import MissingExtraError, refuse
from bandit_forest.forest import BanditForest, BanditTree
from bandit_forest.policy import Policy
from bandit_forest.rules import Elimination
from bandit_forest.simulation import Row, evenly_spaced, simulate
from bandit_forest.worlds import HiddenTree, World

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from rich.console import Console
    from rich.progress import Progress, TaskID
    from rich.table import Table

__all__ = ["Contestants", "contestants", "regret_figure", "run_demo"]

Results = dict[str, list[Row]]

_NAMES = ("Bandit Forest", "Bandit Tree", "UCB, no context", "Uniform")
# Okabe and Ito's colours, which colour-blind people tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#555555")
_N_ROWS = 100


class Contestants(NamedTuple):
    """The policies of the demonstration."""

    forest: BanditForest
    tree: BanditTree
    ucb: UCB
    uniform: Uniform


def contestants(world: World, *, seed: int) -> Contestants:
    """Make the policies of the demonstration.

    The forest is the default one. The tree keeps all actions in play until a path has chosen its variables, as in the
    paper's Algorithm 6, with the tolerances of its experiments.
    """
    n_variables, n_actions = world.n_variables, world.n_actions
    growth = Elimination(tolerance=(0.4, 0.8), remaining_actions="all", test_interval=64)
    return Contestants(
        BanditForest(n_variables=n_variables, n_actions=n_actions, seed=seed),
        BanditTree(n_variables=n_variables, n_actions=n_actions, max_depth=3, growth=growth, seed=seed),
        UCB(n_variables=n_variables, n_actions=n_actions),
        Uniform(n_variables=n_variables, n_actions=n_actions, seed=seed),
    )


def run_demo(*, n_events: int = 300_000, seed: int = 0, figure: Path = Path("out/demo-regret.png")) -> None:
    """Play the demonstration and print its results.

    Parameters
    ----------
    n_events
        Number of events that each policy plays.
    seed
        Seed of the stream and of the policies.
    figure
        File for the figure of regret against events; the ending of its name says in which format.
    """
    console = _console()
    if figure.is_dir() or figure.suffix not in (".pdf", ".png", ".svg"):
        refuse("figure", "run_demo", "a file name that ends in .png, .svg or .pdf", str(figure))
    world = HiddenTree(n_variables=100, n_actions=7, depth=3, noise=0.05)
    hidden = ", ".join(f"x{variable}" for variable in world.relevant_variables)
    console.print(f"A hidden tree over {hidden} of 100 variables decides among 7 actions.")
    console.print("Rewards are flipped with probability 0.05. All policies play the same events.\n")
    policies = contestants(world, seed=seed)
    results = _play(policies, world, n_events, seed, console)
    console.print(_table(results))
    console.print("\nThe rules of the Bandit Tree:\n")
    console.print(policies.tree.tree(0).to_text(), highlight=False)
    figure.parent.mkdir(parents=True, exist_ok=True)
    regret_figure(results).savefig(figure)
    console.print(f"\nRegret against events is drawn in {figure}.", highlight=False, soft_wrap=True)


def _play(policies: Contestants, world: World, n_events: int, seed: int, console: Console) -> Results:
    """Let each policy play, with a bar that shows how far it is."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:<16}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    players: tuple[Policy, ...] = policies
    results = {}
    with Progress(*columns, console=console) as bars:
        for name, policy in zip(_NAMES, players, strict=True):
            progress = partial(_advance, bars, bars.add_task(name, total=n_events))
            rows = evenly_spaced(n_events, _N_ROWS)
            results[name] = simulate(policy, world, n_events=n_events, seed=seed, rows=rows, progress=progress)
    return results


def _advance(bars: Progress, bar: TaskID, n_events: int) -> None:
    bars.update(bar, completed=n_events)


def _table(results: Results) -> Table:
    from rich.table import Table

    table = Table("policy")
    for heading in ("regret", "average reward", "optimal decisions", "events/s"):
        table.add_column(heading, justify="right")
    for name, rows in results.items():
        last = rows[-1]
        speed = f"{last.n_events / last.seconds:,.0f}"
        table.add_row(name, f"{last.regret:,.0f}", f"{last.average_reward:.3f}", f"{last.optimal_share:.1%}", speed)
    return table


def regret_figure(results: Results) -> Figure:
    """Draw the regret of each policy against the number of events, its name at the end of its line."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.5), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    for colour, rows in zip(_COLOURS, results.values(), strict=False):
        axes.plot([row.n_events for row in rows], [row.regret for row in rows], color=colour, linewidth=2)
    axes.set(xlabel="events", ylabel="regret", title="Regret against the best decision in each context", ylim=(0, None))
    axes.set_xlim(0, max(rows[-1].n_events for rows in results.values()))
    axes.spines[["top", "right"]].set_visible(False)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    _label_ends(axes, {name: rows[-1].regret for name, rows in results.items()})
    return figure


def _label_ends(axes: Axes, ends: dict[str, float]) -> None:
    """Write each name beside the end of its line, moved up where it would cover the name below."""
    right, height = axes.get_xlim()[1], axes.get_ylim()[1]
    lowest = 0.0
    colours = dict(zip(ends, _COLOURS, strict=False))
    for name, end in sorted(ends.items(), key=lambda item: item[1]):
        place = max(end, lowest)
        axes.annotate(name, (right, place), xytext=(6, 0), textcoords="offset points", color=colours[name], va="center")
        lowest = place + 0.06 * height


def _console() -> Console:
    """Return the console, once all that the demonstration needs is known to be installed."""
    try:
        import matplotlib  # noqa: F401 - asked for now rather than after a minute of play
        from rich.console import Console
    except ImportError as error:
        cure = "pip install 'bandit-forest[cli,plot]'"
        raise MissingExtraError(f"The demonstration needs {error.name}: {cure}.") from error
    return Console()
