"""Measure what the paper proves: how often the algorithms are wrong, and how many events they need.

    python benchmarks/guarantees.py --runs 200 --out docs/figures/guarantees.png

Every run plays another stream of a world whose gaps are known, with a tolerance of 0, until the algorithm has finished.
A run is wrong if it ends with another variable, action, stump or forest than the optimum; the share of such runs should
be at most δ, and no run should need more events than the bound.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from math import comb
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from harness.guarantee_runs import (
    FOREST,
    MAX_DEPTH,
    N_TREES,
    NUMBERS_OF_ACTIONS,
    NUMBERS_OF_VARIABLES,
    VARIABLES_OF_ACTION_SWEEP,
    Outcome,
    Setting,
    all_settings,
    sweep_of_actions,
    sweep_of_variables,
)

# Colours that colour-blind eyes tell apart (Okabe and Ito). The measured points of Theorem 1 lie on those of Lemma 1,
# since its variable takes longer to find than its actions: so they are large and open.
BLUE, ORANGE, GREEN, BLACK = "#0072B2", "#D55E00", "#009E73", "#000000"
STYLES = {
    "Lemma 1": (BLUE, "o", 5, BLUE),
    "Theorem 1": (ORANGE, "s", 10, "none"),
    "Lemma 3": (GREEN, "^", 6, GREEN),
}


def measure(settings: list[Setting], runs: int, jobs: int) -> dict[Setting, list[Outcome]]:
    """Run every setting with the seeds 0, 1, 2, ... and show how far it has come."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    outcomes = {}
    with ProcessPoolExecutor(jobs) as pool, Progress(*columns) as progress:
        total = progress.add_task("all runs", total=len(settings) * runs)
        for setting in settings:
            progress.update(total, description=f"{setting.statement}, M={setting.n_variables}, K={setting.n_actions}")
            done = []
            for outcome in pool.map(setting.run, range(runs), chunksize=max(1, runs // (10 * jobs))):
                done.append(outcome)
                progress.advance(total)
            outcomes[setting] = done
    return outcomes


def print_table(outcomes: dict[Setting, list[Outcome]]) -> None:
    """Print how often each setting was wrong and how many events it took."""
    table = Table(title="Wrong runs (their share is below, with a confidence of 95 %) and events needed")
    table.add_column("statement")
    for column in (
        "M",
        "K",
        "gap",
        "δ",
        "runs",
        "wrong",
        "share below",
        "events: mean",
        "most",
        "bound",
        "most / bound",
    ):
        table.add_column(column, justify="right")
    for setting, done in outcomes.items():
        events = np.array([outcome.events for outcome in done])
        ratio = max(outcome.events / outcome.bound for outcome in done)
        wrong = sum(outcome.is_wrong for outcome in done)
        bounds = sorted({round(outcome.bound) for outcome in done})
        table.add_row(
            setting.statement,
            f"{setting.n_variables}",
            f"{setting.n_actions}",
            f"{setting.gap}",
            f"{setting.delta}",
            f"{len(done)}",
            f"{wrong}",
            f"{highest_share(wrong, len(done)):.3f}",
            f"{events.mean():,.0f}",
            f"{events.max():,}",
            " to ".join(f"{bound:,}" for bound in dict.fromkeys((bounds[0], bounds[-1]))),
            f"{ratio:.2f}",
        )
    Console(width=130).print(table)


def highest_share(wrong: int, runs: int) -> float:
    """Return the share of wrong runs that is exceeded with a confidence of 5 % only (Clopper and Pearson)."""
    low, high = wrong / runs, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        at_most = sum(comb(runs, k) * middle**k * (1 - middle) ** (runs - k) for k in range(wrong + 1))
        low, high = (middle, high) if at_most > 0.05 else (low, middle)
    return high


def print_growth(outcomes: dict[Setting, list[Outcome]]) -> None:
    """Print how the events grow with the number of variables and of actions."""
    console = Console(width=130)
    for statement in ("Lemma 1", "Theorem 1"):
        doublings, events = np.log2(NUMBERS_OF_VARIABLES), mean_events(outcomes, sweep_of_variables(statement))
        slope, start = np.polyfit(doublings, events, 1)
        residue = np.abs(events - start - slope * doublings).max() / events.mean()
        console.print(
            f"{statement}: each doubling of M costs {slope:.0f} events more (a straight line to {residue:.1%})"
        )
    for statement in ("Lemma 1", "Lemma 3", "Theorem 1"):
        events = mean_events(outcomes, sweep_of_actions(statement))
        power, _ = np.polyfit(np.log(NUMBERS_OF_ACTIONS), np.log(events), 1)
        console.print(f"{statement}: events grow with K to the power of {power:.2f}")


def mean_events(outcomes: dict[Setting, list[Outcome]], settings: list[Setting]) -> np.ndarray:
    """Return the mean number of events of each setting."""
    return np.array([np.mean([outcome.events for outcome in outcomes[setting]]) for setting in settings])


def draw(outcomes: dict[Setting, list[Outcome]], path: Path) -> None:
    """Draw the measured events beside their bounds."""
    figure, (by_variables, by_actions, forests) = plt.subplots(1, 3, figsize=(14, 5), layout="constrained")
    for statement in ("Theorem 1", "Lemma 1"):
        draw_sweep(by_variables, statement, NUMBERS_OF_VARIABLES, sweep_of_variables(statement), outcomes)
    for statement in ("Theorem 1", "Lemma 1", "Lemma 3"):
        draw_sweep(by_actions, statement, NUMBERS_OF_ACTIONS, sweep_of_actions(statement), outcomes)
    by_variables.set(title="logarithmic in the variables (K = 2)", xlabel="number of variables M", ylabel="events")
    by_variables.set_ylim(bottom=0)
    by_actions.set(title=f"linear in the actions (M = {VARIABLES_OF_ACTION_SWEEP})", xlabel="number of actions K")
    by_actions.set_yscale("log")
    draw_forests(forests, outcomes[FOREST])
    for axes in (by_variables, by_actions, forests):
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*by_actions.get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
    n_runs = len(outcomes[FOREST])
    figure.suptitle(
        f"Events until finished (mean, least and most of {n_runs} runs) and the paper's bounds, δ = {FOREST.delta}"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def draw_sweep(
    axes: Axes, statement: str, sizes: tuple[int, ...], settings: list[Setting], outcomes: dict[Setting, list[Outcome]]
) -> None:
    """Draw the mean and the range of the events of each setting, and the bound."""
    events = np.array([[outcome.events for outcome in outcomes[setting]] for setting in settings])
    means = events.mean(axis=1)
    spread = np.abs(np.stack([events.min(axis=1), events.max(axis=1)]) - means)
    colour, marker, size, fill = STYLES[statement]
    points = axes.errorbar(
        sizes, means, yerr=spread, color=colour, marker=marker, markersize=size, capsize=3, linewidth=1
    )
    points.lines[0].set(markerfacecolor=fill)
    points.set_label(f"{statement}, measured")
    bounds = [outcomes[setting][0].bound for setting in settings]
    axes.plot(sizes, bounds, color=colour, linestyle="--", label=f"{statement}, bound")
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, labels=[str(size) for size in sizes])


def draw_forests(axes: Axes, outcomes: list[Outcome]) -> None:
    """Draw the events of each forest against its bound."""
    bounds = np.array([outcome.bound for outcome in outcomes])
    events = np.array([outcome.events for outcome in outcomes])
    ends = np.array([bounds.min() / 2, bounds.max() * 2])
    axes.plot(ends, ends, color=BLACK, linestyle="--")
    axes.annotate("bound", (bounds.min(), bounds.min()), xytext=(-6, 6), textcoords="offset points", ha="right")
    axes.scatter(bounds, events, color=BLUE, s=16, alpha=0.4)
    axes.set(title=f"Theorem 3: {N_TREES} trees, depth {MAX_DEPTH}", xscale="log", yscale="log")
    axes.set(xlabel="bound on the events of each world", xlim=ends, ylim=(events.min() / 2, ends[1]))


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200, help="runs of each setting")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--out", type=Path, default=Path("docs/figures/guarantees.png"), help="where the figure goes")
    arguments = parser.parse_args()
    outcomes = measure(all_settings(), arguments.runs, arguments.jobs)
    print_table(outcomes)
    print_growth(outcomes)
    draw(outcomes, arguments.out)


if __name__ == "__main__":
    main()
