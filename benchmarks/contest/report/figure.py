"""The figure of the bake-off: how the policies learn, and the forest's lead on each set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from contest.entrants import FOREST, VOWPAL_WABBIT, Entrant
from contest.game import N_BLOCKS
from contest.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_figure"]

COLOURS = {
    FOREST: "#1b7837",
    VOWPAL_WABBIT: "#2166ac",
    "LightGBM": "#b2182b",
    "LinUCB": "#e08214",
    "NeuralBandit": "#8073ac",
    "best constant action": "#888888",
}
COMPARED = (VOWPAL_WABBIT, "LightGBM", "LinUCB")


def draw_figure(results: Results, *, mode: str, sets: Sequence[str], entrants: Sequence[Entrant], path: Path) -> None:
    """Draw the learning curves over some sets, and the forest's lead on each of them, into a file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    by_name = {entrant.name: entrant for entrant in entrants}
    figure, (curves, leads) = pyplot.subplots(1, 2, figsize=(11, 5), layout="constrained")
    _draw_curves(curves, results, mode, sets, by_name)
    _draw_leads(leads, results, mode, sets, by_name)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _draw_curves(axes: Axes, results: Results, mode: str, sets: Sequence[str], entrants: dict[str, Entrant]) -> None:
    parts = (np.arange(N_BLOCKS) + 0.5) / N_BLOCKS
    for name, colour in COLOURS.items():
        if name in entrants:
            keys = entrants[name].keys
            mean = np.mean([results.blocks(mode, one, keys[one]).mean(axis=0) for one in sets], axis=0)
            axes.plot(100 * parts, 100 * mean, color=colour, label=name, linewidth=2.2 if name == FOREST else 1.3)
    axes.set(xlabel="% of the stream", ylabel="% right actions", title=f"mean of the {len(sets)} reporting sets")
    axes.legend(fontsize=8, loc="lower right")
    axes.grid(alpha=0.3)


def _draw_leads(axes: Axes, results: Results, mode: str, sets: Sequence[str], entrants: dict[str, Entrant]) -> None:
    def lead(name: str, rival: str) -> float:
        ours, theirs = (results.score(mode, name, entrants[one].keys[name]) for one in (FOREST, rival))
        return 100 * (ours - theirs)

    order = sorted(sets, key=lambda name: lead(name, VOWPAL_WABBIT))
    for rival in COMPARED:
        if rival in entrants:
            axes.scatter([lead(name, rival) for name in order], order, color=COLOURS[rival], label=rival, s=28)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set(xlabel="points by which the forest is ahead", title="all events, each set")
    axes.legend(fontsize=8, loc="best")
    axes.grid(alpha=0.3)
