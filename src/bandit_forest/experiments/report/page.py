"""One page of HTML with everything in it: tables, figures, and how they were made."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from bandit_forest.experiments.report.figures import caption
from bandit_forest.experiments.report.results import Results
from bandit_forest.experiments.report.tables import HEADER, notes, summary_lines

__all__ = ["make_page"]

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 62rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 3rem; border-top: 1px solid #ddd; padding-top: 1rem; }
h2 code { font-weight: normal; color: #555; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.7rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 2px solid #999; }
.ours td { border-top: 1px solid #eee; }
.paper { color: #777; }
.paper td:first-child { padding-left: 2rem; }
figure { margin: 1.5rem 0; }
img { width: 100%; height: auto; }
.note, summary, details { color: #555; font-size: 0.9rem; }
details td { text-align: left; white-space: normal; vertical-align: top; }
"""


def make_page(all_results: Sequence[Results], figures: Sequence[bytes]) -> str:
    """Return the page.

    Parameters
    ----------
    all_results
        The experiments, in their order on the page.
    figures
        The figure of each, as SVG.
    """
    sections = "\n".join(_section(*pair) for pair in zip(all_results, figures, strict=True))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Bandit Forest: results</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>Bandit Forest: results</h1>\n{sections}\n</body>\n</html>\n"
    )


def _section(results: Results, figure: bytes) -> str:
    experiment = results.experiment
    # An image of its own, since the names within two SVGs on one page would clash.
    source = f"data:image/svg+xml;base64,{base64.b64encode(figure).decode()}"
    return "\n".join(
        [
            f"<section>\n<h2>{escape(results.title)} <code>{escape(experiment.id)}</code></h2>",
            f'<p class="note">{escape(f"Shows: {experiment.shows}." if experiment.shows else "")}</p>',
            f'<div class="wide">{_summary(results)}</div>',
            *(f'<p class="note">{escape(note)}</p>' for note in notes(results)),
            f'<figure><img src="{source}" alt="{escape(results.title)}">',
            f'<figcaption class="note">{escape(caption(experiment))}</figcaption></figure>',
            f"<details><summary>How it was made</summary>\n{_origin(results)}</details>\n</section>",
        ]
    )


def _summary(results: Results) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in HEADER)
    lines = "".join(
        f'<tr class="{"paper" if line.is_from_paper else "ours"}">{_cells(line)}</tr>\n'
        for line in summary_lines(results)
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{lines}</tbody>\n</table>"


def _cells(texts: Iterable[str]) -> str:
    return "".join(f"<td>{escape(text)}</td>" for text in texts)


def _origin(results: Results) -> str:
    command = f"bandit-forest run {results.experiment.id} --events {results.n_events} --trials {results.n_trials}"
    settings = "".join(
        f"<tr>{_cells([setting['name'], setting['label'], _call(setting['policy'])])}</tr>\n"
        for setting in results.settings
    )
    sessions = "".join(f"<li>{escape(_session(session))}</li>\n" for session in results.sessions)
    comparator = escape(results.run["comparator"])
    return (
        f"<p><code>{escape(command)}</code></p>\n<p>Regret is counted against {comparator}.</p>\n"
        f"<table>\n{settings}</table>\n<p>Run in:</p>\n<ul>\n{sessions}</ul>\n"
    )


def _call(policy: dict[str, Any]) -> str:
    return f"{policy['name']}({', '.join(f'{name}={value}' for name, value in policy['parameters'].items())})"


def _session(session: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in session["versions"].items())
    machine = session["machine"]
    where = f"{machine['processor']}, {machine['cores']} cores, {machine['system']}"
    return f"{session['started']}: {versions}; commit {session['commit']}; {where}; {session['jobs']} jobs"
