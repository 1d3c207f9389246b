"""An evaluation as one self-contained HTML page."""

from __future__ import annotations

import os
from html import escape

from bandit_forest.atomic import write_text
from bandit_forest.evaluation.evaluate import LOGGED, Evaluation
from bandit_forest.evaluation.report.figures import figures

__all__ = ["write_report"]

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: .3rem .6rem; vertical-align: top; }
tr { border-bottom: 1px solid #ddd; } td.number { text-align: right; font-variant-numeric: tabular-nums; }
.verdict { font-size: 1.1rem; padding: .6rem 1rem; background: #f3f5f7; border-left: 4px solid #1f5fa8; }
.sound { color: #2f7d4f; } .caution { color: #a3641c; font-weight: 600; } .stop { color: #b3261e; font-weight: 600; }
svg { max-width: 100%; height: auto; } figcaption { color: #555; }
"""


def write_report(evaluation: Evaluation, path: str | os.PathLike[str], *, title: str = "Evaluation of a log") -> None:
    """Write a page with verdicts, numbers, findings and figures.

    Parameters
    ----------
    evaluation
        Evaluation that `evaluate` returned.
    path
        The HTML file to write.
    title
        Title of the page.
    """
    policies = evaluation.names[1:]
    verdicts = "".join(f'<p class="verdict">{escape(evaluation.verdict(name))}</p>' for name in policies)
    drawn = "".join(
        f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"
        for caption, svg in figures(evaluation).items()
    )
    body = (
        f"<h1>{escape(title)}</h1>{verdicts}"
        f"<p>{evaluation.n_events:,} events, {evaluation.n_rewarded:,} with a reward. Intervals hold with "
        f"{evaluation.confidence:.0%}. Sequences may be looked at as often as one likes.</p>"
        f"<h2>Can this log tell?</h2>{_findings(evaluation)}"
        f"<h2>What each policy would have earned</h2>{_numbers(evaluation)}{drawn}"
    )
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>{body}</body></html>\n'
    )
    write_text(path, page)


def _findings(evaluation: Evaluation) -> str:
    rows = [*evaluation.findings, *(one for found in evaluation.policy_findings.values() for one in found)]
    cells = "".join(
        f'<tr><td>{escape(one.name)}</td><td class="{one.level}">{one.level}</td><td>{escape(one.value)}</td>'
        f"<td>{escape(one.meaning)}</td></tr>"
        for one in rows
    )
    return f"<table><tr><th>look</th><th></th><th>found</th><th>meaning</th></tr>{cells}</table>"


def _numbers(evaluation: Evaluation) -> str:
    heads = ("policy", "effective events", "SNIPS", "gain over logged", "doubly robust", "IPS", "direct", "sequence")
    rows = []
    for name in evaluation.names:
        size = f"{evaluation.effective_sample_size(name):,.0f}"
        if name == LOGGED:
            logged = evaluation.estimate(name)
            cells = [name, size, _shown(logged.value, logged.low, logged.high), *[""] * 5]
        else:
            gain = evaluation.difference(name)
            values = [evaluation.estimate(name, kind) for kind in ("snips", "dr", "ips")]
            snips, robust, plain = (_shown(one.value, one.low, one.high) for one in values)
            low, high = evaluation.sequences[name]
            cells = [
                *(name, size, snips, _shown(gain.value, gain.low, gain.high), robust, plain),
                *(f"{evaluation.estimate(name, 'dm').value:.4f}", f"{low:.4f} to {high:.4f}"),
            ]
        rows.append(
            "".join(f'<td class="{"number" if place else ""}">{escape(cell)}</td>' for place, cell in enumerate(cells))
        )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>{body}</table>"


def _shown(value: float, low: float, high: float) -> str:
    return f"{value:.4f} ({low:.4f} to {high:.4f})"
