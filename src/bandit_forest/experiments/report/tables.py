"""The summary of an experiment as lines of text: for the terminal, for pages and for files."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from typing import NamedTuple

from bandit_forest.experiments.catalogue import Published
from bandit_forest.experiments.report.results import Result, Results
from bandit_forest.experiments.report.statistics import Mean, mean
from bandit_forest.experiments.run.trial import LAST_EVENTS

__all__ = ["HEADER", "notes", "summary_csv", "summary_lines", "summary_markdown"]

PAPER_EVENTS = 10_000_000
_IN_THE_PAPER, _ALL_IN_THE_PAPER = "… in the paper", "In the paper"


class Line(NamedTuple):
    """A line of a table, all in words."""

    policy: str
    trials: str
    regret: str
    rate: str
    time: str

    @property
    def is_from_paper(self) -> bool:
        """Whether the numbers are the paper's."""
        return self.policy in (_IN_THE_PAPER, _ALL_IN_THE_PAPER)


HEADER = Line("policy", "trials", "regret", "last 100,000", "time")


def summary_lines(results: Results) -> list[Line]:
    """Return the lines of the summary: the comparator, where it is a forest, and each policy, with the paper's below.

    Where the paper has one number for all, as for readings of its text, it stands once and first.
    """
    lines = []
    rates = results.comparator_rates
    if rates is not None:
        lines.append(Line("Comparator", str(len(rates)), "0", _percent(mean(rates)), ""))
    published = [result.setting.published for result in results.results]
    is_shared = len(published) > 1 and len(set(published)) == 1
    if is_shared and published[0] is not None:
        lines.append(_paper_line(_ALL_IN_THE_PAPER, published[0]))
    for result, paper in zip(results.results, published, strict=True):
        lines.append(_line(result))
        if paper is not None and not is_shared:
            lines.append(_paper_line(_IN_THE_PAPER, paper))
    return lines


def notes(results: Results) -> list[str]:
    """Return the sentences that explain the summary."""
    last = min(results.n_events, LAST_EVENTS)
    sentences = [
        f"Trials of {results.n_events:,} events; 'last 100,000' is the average reward of the last {last:,}. "
        "± is the 95 % interval over trials. Time is that of the policy, for one trial on one core."
    ]
    if any(result.setting.published for result in results.results):
        sentences.append(
            f"The paper's numbers are for {PAPER_EVENTS:,} events, ten trials, its own comparator and encoding."
        )
    return sentences + results.data


def summary_markdown(results: Results) -> str:
    """Return the summary as a table in Markdown."""
    rows = [HEADER, Line("---", *["---:"] * (len(HEADER) - 1)), *summary_lines(results)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def summary_csv(all_results: Sequence[Results]) -> str:
    """Return the numbers of all summaries, to six digits, for other programs."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    quantities = [
        f"{name}{part}" for name in ("regret", "average_reward", "rate", "seconds") for part in ("", "_margin")
    ]
    writer.writerow(["setting", "label", "data", "n_events", "n_trials", *quantities])
    for results in all_results:
        own = f"{results.experiment.id}/"
        for result in (result for result in results.results if result.id.startswith(own)):
            identity = [result.id, result.setting.label, results.data_names]
            measured = (result.regrets[:, -1], result.averages, result.rates, result.seconds)
            numbers = [f"{number:.6g}" for values in measured for number in mean(values)]
            writer.writerow([*identity, results.n_events, result.n_trials, *numbers])
    return text.getvalue()


def _line(result: Result) -> Line:
    return Line(
        result.setting.label,
        str(result.n_trials),
        _count(mean(result.regrets[:, -1])),
        _percent(mean(result.rates)),
        _duration(mean(result.seconds).value),
    )


def _paper_line(label: str, published: Published) -> Line:
    return Line(
        label,
        "10",
        _count(Mean(published.regret, published.interval)),
        _percent(Mean(published.rate, math.nan)),
        _duration(60 * published.minutes),
    )


def _count(number: Mean) -> str:
    """Return a count in words, in thousands when it is large.

    Examples
    --------
    >>> _count(Mean(742_123.4, 50_012.3)), _count(Mean(7_170.0, math.nan))
    ('742 ± 50 k', '7,170')
    """
    size, unit = (1e3, " k") if number.value >= 1e5 else (1.0, "")
    return _with_margin(number, size, ",.0f") + unit


def _percent(number: Mean) -> str:
    return _with_margin(number, 0.01, ".1f") + " %"


def _with_margin(number: Mean, size: float, form: str) -> str:
    text = f"{number.value / size:{form}}"
    return text if math.isnan(number.margin) else f"{text} ± {number.margin / size:{form}}"


def _duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> _duration(3.14159), _duration(600), _duration(30000)
    ('3.1 s', '10 min', '500 min')
    """
    if math.isnan(seconds):
        return ""
    return f"{seconds:.2g} s" if seconds < 99.5 else f"{seconds / 60:,.0f} min"
