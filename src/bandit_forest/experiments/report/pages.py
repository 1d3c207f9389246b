"""Pages in Markdown whose tables are those of a report.

A comment says which table follows it: `<!-- table: paper/covtype -->` for the summary of an experiment, `<!-- table:
paper/depth, Bandit Forest; Bandit Tree -->` for the lines whose labels begin so, `<!-- table: closeness -->` for the
readings of the paper by their distance from its rates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bandit_forest.experiments.report.closeness import closeness_lines, closeness_markdown
from bandit_forest.experiments.report.results import Results
from bandit_forest.experiments.report.tables import summary_markdown

__all__ = ["fill_tables"]

_TABLE = re.compile(r"(<!-- table: ([\w/-]+)(?:, ([^>]*))? -->\n)((?:\|.*\n)*)")


def fill_tables(text: str, all_results: Sequence[Results]) -> str:
    """Return a page with its tables written anew; a table without results stays as it is.

    Parameters
    ----------
    text
        The page.
    all_results
        The results of a folder.
    """
    tables = {results.experiment.id: summary_markdown(results) for results in all_results}
    if lines := closeness_lines(all_results):
        tables["closeness"] = closeness_markdown(lines)

    def filled(match: re.Match[str]) -> str:
        comment, name, labels, before = match.groups()
        return comment + (_selected(tables[name], labels) if name in tables else before)

    return _TABLE.sub(filled, text)


def _selected(table: str, labels: str | None) -> str:
    if labels is None:
        return table
    head, rule, *lines = table.splitlines(keepends=True)
    beginnings = tuple(f"| {label}" for label in labels.split("; "))
    return "".join([head, rule, *(line for line in lines if line.startswith(beginnings))])
