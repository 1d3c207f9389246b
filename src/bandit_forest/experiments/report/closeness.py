"""Readings of the paper that were played on all of its data sets, by their distance from the paper's rates."""

from __future__ import annotations

from collections.abc import Sequence

from bandit_forest.experiments.catalogue.readings import BY_DATA
from bandit_forest.experiments.report.results import Results

__all__ = ["CLOSENESS_HEADER", "closeness_lines", "closeness_markdown"]

CLOSENESS_HEADER = ("reading", "Cover Type", "Adult", "Census 1990", "distance")

Line = tuple[str, ...]
"""The cells of a line of the table."""


def closeness_lines(all_results: Sequence[Results]) -> list[Line]:
    """Return one line per reading, the closest first; none where a data set has no results.

    A line has the rates of the last 100,000 events, and the sum of their distances from the paper's, in points.
    """
    rates, published = _rates(all_results)
    if len(published) < len(BY_DATA):
        return []
    goal = [published[id] for id in BY_DATA]
    lines = [_line("In the paper", goal, goal)]
    for label, by_data in rates.items():
        if len(by_data) == len(BY_DATA):
            lines.append(_line(label, [by_data[id] for id in BY_DATA], goal))
    return sorted(lines, key=lambda line: float(line[-1]))


def closeness_markdown(lines: Sequence[Line]) -> str:
    """Return the lines as a table in Markdown."""
    rule = ("---", *["---:"] * (len(CLOSENESS_HEADER) - 1))
    return "\n".join(f"| {' | '.join(row)} |" for row in (CLOSENESS_HEADER, rule, *lines)) + "\n"


def _rates(all_results: Sequence[Results]) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Return the rates in percent, by reading and experiment, and the paper's by experiment."""
    rates: dict[str, dict[str, float]] = {}
    published: dict[str, float] = {}
    for results in all_results:
        for result in results.results if results.experiment.id in BY_DATA else ():
            rates.setdefault(result.setting.label, {})[results.experiment.id] = 100 * float(result.rates.mean())
            if result.setting.published is not None:
                published[results.experiment.id] = 100 * result.setting.published.rate
    return rates, published


def _line(label: str, rates: Sequence[float], goal: Sequence[float]) -> Line:
    distance = sum(abs(rate - paper) for rate, paper in zip(rates, goal, strict=True))
    return (label, *(f"{rate:.1f} %" for rate in rates), f"{distance:.1f}")
