"""From rows to what people read: tables, figures and a page."""

from __future__ import annotations

from pathlib import Path

from bandit_forest.atomic import replacing, write_text
from bandit_forest.experiments.report.closeness import closeness_lines, closeness_markdown
from bandit_forest.experiments.report.figures import draw_figure, render
from bandit_forest.experiments.report.page import make_page
from bandit_forest.experiments.report.reading import read_results
from bandit_forest.experiments.report.results import Results
from bandit_forest.experiments.report.tables import summary_csv, summary_markdown

__all__ = ["write_report"]


def write_report(out: Path) -> list[Results]:
    """Report all experiments in a folder, and return their results.

    It writes `report.html`, which needs no other file, `summary.md`, `summary.csv`, and each figure as PNG and SVG in
    `figures`.
    """
    all_results = read_results(out)
    drawings = []
    (out / "figures").mkdir(parents=True, exist_ok=True)
    for results in all_results:
        figure = draw_figure(results)
        for format in ("png", "svg"):
            content = render(figure, format)
            with replacing(out / "figures" / f"{results.name}.{format}") as stream:
                stream.write(content)
        drawings.append(content)
    write_text(out / "report.html", make_page(all_results, drawings))
    write_text(out / "summary.csv", summary_csv(all_results))
    chapters = [_chapter(results) for results in all_results]
    if lines := closeness_lines(all_results):
        chapters.append(f"## Readings of the paper, the closest to its rates first\n\n{closeness_markdown(lines)}")
    write_text(out / "summary.md", "\n".join(chapters))
    return all_results


def _chapter(results: Results) -> str:
    return f"## {results.title} (`{results.experiment.id}`)\n\n{summary_markdown(results)}"
