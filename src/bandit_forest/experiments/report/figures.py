"""The figures of an experiment: regret and reward over events with 95 % bands, or a dot for each setting."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.errors import MissingExtraError
from bandit_forest.experiments.catalogue import Experiment, Setting
from bandit_forest.experiments.report.results import Result, Results
from bandit_forest.experiments.report.statistics import mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["caption", "draw_figure", "render"]

# Okabe and Ito's colours without their yellow, which white paper swallows, with a grey, a purple and a brown. Dashes
# tell lines apart without colours.
_COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"),
    *("#56B4E9", "#000000", "#777777", "#8B4A8B", "#6B4F1D"),
)
_DASHES = (
    *("-", "--", "-.", (0, (5, 1)), (0, (3, 1, 1, 1))),
    *((0, (1, 1)), (0, (6, 2, 1, 2)), ":", (0, (9, 2)), (0, (2, 2))),
)
_TITLE_WIDTH = 90  # letters that fit above a figure
_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "legend.frameon": False,
}


def draw_figure(results: Results) -> Figure:
    """Draw the figure of an experiment, in the way that the experiment asks for."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("Figures need matplotlib: pip install 'bandit-forest[experiments]'.") from error
    with mpl.rc_context(_STYLE):
        figure = Figure(layout="constrained", dpi=150)
        draw = {"policies": _draw_policies, "levels": _draw_levels, "dots": _draw_dots}[results.experiment.chart]
        draw(figure, results)
        figure.suptitle(textwrap.fill(results.title, _TITLE_WIDTH), fontsize=10)
    return figure


def caption(experiment: Experiment) -> str:
    """Return the caption of the figure."""
    if experiment.chart == "dots":
        return "Means over trials with 95 % intervals."
    return (
        "Means over trials; bands are 95 % intervals, drawn from three trials on. "
        "Reward is the average over a twentieth of all events."
    )


def render(figure: Figure, format: str) -> bytes:
    """Return a figure as the bytes of a file, the same for the same figure."""
    import matplotlib as mpl

    content = io.BytesIO()
    metadata = {"Date": None} if format == "svg" else {"Software": None}
    with mpl.rc_context({"svg.hashsalt": "bandit-forest"}):
        figure.savefig(content, format=format, metadata=metadata)
    return content.getvalue()


def _draw_policies(figure: Figure, results: Results) -> None:
    figure.set_size_inches(7.5, 4.0)
    left, right = figure.subplots(1, 2)
    for number, result in enumerate(results.results):
        style: dict[str, Any] = {
            "color": _COLOURS[number % len(_COLOURS)],
            "linestyle": _DASHES[number % len(_DASHES)],
        }
        _draw_curve(left, result, result.regrets, **style)
        _draw_curve(right, result, result.recent_rates, **style)
    _finish_regret(left)
    _finish_reward(right, results)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)


def _draw_levels(figure: Figure, results: Results) -> None:
    import matplotlib as mpl

    families = list(dict.fromkeys(result.setting.family for result in results.results))
    figure.set_size_inches(7.5, 3.6 if len(families) == 1 else 5.6)
    shape = (1, 2) if len(families) == 1 else (2, len(families))
    axes = np.reshape(figure.subplots(*shape, sharey=False if len(families) == 1 else "row"), (2, len(families)))
    levels = list(dict.fromkeys(_level(result.setting) for result in results.results))
    colours = mpl.colormaps["viridis_r"](np.linspace(0.15, 1.0, len(levels)))  # its light end vanishes in print
    for column, family in enumerate(families):
        regret, reward = axes[:, column]
        for result in results.results:
            if result.setting.family == family:
                colour = colours[levels.index(_level(result.setting))]
                _draw_curve(regret, result, result.regrets, color=colour)
                _draw_curve(reward, result, result.recent_rates, color=colour)
        _finish_regret(regret)
        _finish_reward(reward, results)
        if len(families) > 1:
            regret.set_title(family, fontsize=9)
    for inner in axes[:, 1:].flat:
        inner.set_ylabel("")
    lines = {line.get_label(): line for ax in axes.flat for line in ax.get_lines() if line.get_label() in levels}
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=len(levels))


def _draw_dots(figure: Figure, results: Results) -> None:
    ordered = sorted(results.results, key=lambda result: float(result.rates.mean()))
    figure.set_size_inches(7.5, 1.6 + 0.26 * len(ordered))
    ax = figure.subplots()
    rows = np.arange(len(ordered))
    kinds: Sequence[tuple[str, str, Callable[[Result], NDArray[np.float64]]]] = (
        ("all events", "white", lambda result: result.averages),
        ("last 100,000 events", _COLOURS[0], lambda result: result.rates),
    )
    for label, fill, values in kinds:
        means = [mean(values(result)) for result in ordered]
        ax.errorbar(
            [100 * one.value for one in means],
            rows,
            xerr=[100 * one.margin for one in means],
            fmt="o",
            color=_COLOURS[0],
            markerfacecolor=fill,
            capsize=2,
            label=label,
        )
    published = {result.setting.published for result in ordered}
    if len(published) == 1 and (paper := published.pop()) is not None:
        ax.axvline(100 * paper.rate, color=_COLOURS[1], linestyle="--", label="the paper, last 100,000")
    ax.set_yticks(rows, [result.setting.label for result in ordered])
    ax.set_xlabel("average reward (%)")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)


def _draw_curve(ax: Axes, result: Result, values: NDArray[np.float64], **style: Any) -> None:
    """Draw the mean of the trials, and its 95 % interval as a band; that of two trials would cover everything."""
    means = [mean(column) for column in values.T]
    middle, margin = np.array(means).T
    ax.plot(result.n_events, middle, label=_level(result.setting), linewidth=1.4, **style)
    if result.n_trials > 2:
        ax.fill_between(
            result.n_events, middle - margin, middle + margin, color=style["color"], alpha=0.15, linewidth=0
        )


def _level(setting: Setting) -> str:
    """Return the part of the label that tells a setting from others of its family."""
    return setting.label.removeprefix(f"{setting.family}, ")


def _finish_regret(ax: Axes) -> None:
    _finish_axes(ax)
    ax.set_ylabel("regret")
    ax.yaxis.set_major_formatter(_short)


def _finish_reward(ax: Axes, results: Results) -> None:
    rates = results.comparator_rates
    if rates is not None:
        ax.axhline(rates.mean(), color="#444444", linewidth=0.8)
        ax.annotate("comparator", (results.n_events, rates.mean()), (0, 2), **_AT_THE_END)
    _finish_axes(ax)
    ax.set_ylabel("reward (%)")
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g}")


_AT_THE_END: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "va": "bottom", "fontsize": 8}


def _finish_axes(ax: Axes) -> None:
    # The lines decide what is shown, here and in axes of the same scale: the bands of few trials would dwarf them.
    lines = [line for one in ax.get_shared_y_axes().get_siblings(ax) for line in one.get_lines()]
    heights = np.concatenate([np.asarray(line.get_ydata()) for line in lines])
    ax.set_ylim(min(0.0, 1.1 * heights.min()), 1.1 * heights.max())
    ax.set_xlabel("events")
    ax.set_xlim(left=0)
    ax.xaxis.set_major_formatter(_short)


def _short(value: float, _: float = 0.0) -> str:
    """Return a large number in few characters.

    Examples
    --------
    >>> _short(2_500_000), _short(40_000), _short(12)
    ('2.5 M', '40 k', '12')
    """
    for size, name in ((1e6, " M"), (1e3, " k")):
        if abs(value) >= size:
            return f"{value / size:g}{name}"
    return f"{value:g}"
