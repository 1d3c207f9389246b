"""Figures of an evaluation, as SVG."""

from __future__ import annotations

import io
import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from bandit_forest.errors import MissingExtraError
from bandit_forest.evaluation.balance import N_BINS
from bandit_forest.evaluation.evaluate import LOGGED, Evaluation
from bandit_forest.evaluation.passing import WEIGHT_EDGES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["figure_class", "figures"]

_COLOURS = ("#444444", "#1f5fa8", "#c4541a", "#2f7d4f", "#8a4fa3", "#a3842c", "#3c9aa6")
_NAMES = {"snips": "SNIPS", "dr": "doubly robust", "ips": "IPS", "sequence": "confidence sequence"}


def figures(evaluation: Evaluation) -> dict[str, str]:
    """Return the figures of a report as SVG, by their captions."""
    new_figure, drawn = figure_class(), {}
    n_policies = len(evaluation.names) - 1
    for caption, draw, height in (
        ("Value of each policy, with intervals", _values, 1.2 + 0.9 * n_policies),
        ("Value over time, in each part of the log alone (SNIPS)", _over_time, 3.4),
        ("Confidence sequences, from the first event on", _sequences, 3.4),
        ("Effective sample size of each part of the log", _effective, 2.8),
        ("Weights: which share of a policy's estimate rests on weights of which size", _weights, 2.8),
        ("Calibration of propensities: mean weight of actions by how likely they looked", _calibration, 2.8),
    ):
        figure = new_figure(figsize=(8, height), layout="constrained")
        axes = figure.subplots()
        draw(axes, evaluation)
        axes.spines[["top", "right"]].set_visible(False)
        drawn[caption] = _svg(figure)
    return drawn


def figure_class() -> type[Figure]:
    """Return the class of matplotlib's figures; without matplotlib, refuse to draw."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(f"The report needs {error.name}: pip install 'bandit-forest[cli,plot]'.") from error
    return Figure


def _values(axes: Axes, evaluation: Evaluation) -> None:
    places, labels = [], []
    logged = evaluation.estimate(LOGGED)
    axes.axvspan(logged.low, logged.high, color=_COLOURS[0], alpha=0.12, linewidth=0)
    axes.axvline(logged.value, color=_COLOURS[0], linewidth=1, label=f"{LOGGED}, with its interval")
    for number, name in enumerate(evaluation.names[1:]):
        for line, kind in enumerate(_NAMES):
            place = -(number + 0.2 * line)
            colour = _COLOURS[1 + line]
            label = _NAMES[kind] if number == 0 else "_"  # matplotlib leaves such labels out of the legend
            if kind == "sequence":
                low, high = evaluation.sequences[name]
                axes.hlines(place, low, high, color=colour, linewidth=1, linestyle=":", label=label)
            else:
                estimate = evaluation.estimate(name, kind)
                axes.hlines(place, estimate.low, estimate.high, color=colour, linewidth=2)
                axes.plot(estimate.value, place, "o", color=colour, markersize=5, label=label)
        places.append(-(number + 0.3))
        labels.append(name)
    axes.set_yticks(places, labels)
    axes.set_xlabel("mean reward per event")
    axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))


def _over_time(axes: Axes, evaluation: Evaluation) -> None:
    positions = _positions(axes, evaluation)
    for number, name in enumerate(evaluation.names):
        estimates = [moment.estimates[name] for moment in evaluation.moments]
        colour = _COLOURS[number % len(_COLOURS)]
        axes.plot(positions, [one.value for one in estimates], color=colour, label=name, marker=".")
        low, high = ([getattr(one, side) for one in estimates] for side in ("low", "high"))
        axes.fill_between(positions, low, high, color=colour, alpha=0.12, linewidth=0)
    span = [limit for moment in evaluation.moments for limit in moment.estimates[LOGGED][2:]]
    values = [moment.estimates[name].value for moment in evaluation.moments for name in evaluation.names]
    known = [value for value in (*span, *values) if math.isfinite(value)]
    if known:
        margin = 0.1 * (max(known) - min(known)) + 1e-6
        axes.set_ylim(min(known) - margin, max(known) + margin)
    axes.set_ylabel("mean reward")
    axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))


def _sequences(axes: Axes, evaluation: Evaluation) -> None:
    positions = _positions(axes, evaluation)
    for number, name in enumerate(evaluation.names[1:], start=1):
        colour = _COLOURS[number % len(_COLOURS)]
        low, high = ([moment.sequences[name][side] for moment in evaluation.moments] for side in (0, 1))
        axes.fill_between(positions, low, high, color=colour, alpha=0.2, linewidth=0, label=name)
    axes.set_ylabel("limits of the value")
    axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))


def _effective(axes: Axes, evaluation: Evaluation) -> None:
    positions = _positions(axes, evaluation)
    for number, name in enumerate(evaluation.names):
        sizes = [moment.effective[name] for moment in evaluation.moments]
        axes.plot(positions, sizes, color=_COLOURS[number % len(_COLOURS)], label=name, marker=".")
    axes.set_yscale("log")
    axes.set_ylabel("effective events")
    axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))


def _weights(axes: Axes, evaluation: Evaluation) -> None:
    edges = np.concatenate([WEIGHT_EDGES[:1] / 2, WEIGHT_EDGES, WEIGHT_EDGES[-1:] * 2])  # the outer groups have no end
    for number, name in enumerate(evaluation.names[1:], start=1):
        sums = evaluation.weight_sums[name]
        shares = 100 * sums / max(float(sums.sum()), 1e-300)
        axes.stairs(shares, edges, color=_COLOURS[number % len(_COLOURS)], label=name)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("weight: probability by the policy / propensity")
    axes.set_ylabel("% of all weight")
    axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))


def _calibration(axes: Axes, evaluation: Evaluation) -> None:
    means, errors = evaluation.balance.by_bin.means()
    middles = (np.arange(N_BINS) + 0.5) / N_BINS
    known = np.isfinite(means)
    axes.axhline(1.0, color=_COLOURS[0], linewidth=1)
    axes.errorbar(middles[known], means[known], 2 * errors[known], fmt="o", color=_COLOURS[1], capsize=3)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, max(2.0, float(np.nanmax(means[known], initial=1.0)) * 1.1))
    axes.set_xlabel("expected probability of the action")
    axes.set_ylabel("mean weight ± 2 errors")


def _positions(axes: Axes, evaluation: Evaluation) -> Any:
    """Return where the parts of the log lie on the horizontal axis: by time where it is known."""
    times = [moment.time for moment in evaluation.moments]
    if all(time is not None for time in times) and len(set(times)) == len(times):
        axes.tick_params(axis="x", labelrotation=20)
        return [datetime.fromtimestamp(time or 0.0, UTC) for time in times]
    axes.set_xlabel("events")
    return [moment.n_events for moment in evaluation.moments]


def _svg(figure: Figure) -> str:
    content = io.StringIO()
    figure.savefig(content, format="svg")
    text = content.getvalue()
    return text[text.index("<svg") :]
