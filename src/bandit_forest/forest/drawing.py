"""Draws a binary tree of boxes as SVG, from left to right: one file, no scripts, no fonts, for light and dark pages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

__all__ = ["Box", "draw"]

# Okabe and Ito's colours, which colour-blind people tell apart.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
_PLAIN = "#8b949e"
_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_MARGIN = 16
_HEIGHT = 46  # of a box
_STEP = 58  # from a box to the one below it
_GAP = 80  # between columns, for edges and their labels
_PADDING = 14  # beside the text of a box
_NARROWEST, _WIDEST = 96, 250  # boxes
_TITLE, _NOTE = 8.6, 6.8  # width of a letter
_WIDEST_EDGE = 11.0

_STYLE = """\
svg.bandit-forest { color-scheme: light dark; font: 600 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
.bandit-forest .box { fill: #ffffff; stroke: #c9d1d9; }
.bandit-forest .test { fill: #f2f5f8; stroke: #c9d1d9; }
.bandit-forest .more { fill: none; stroke: #8b949e; stroke-dasharray: 4 3; }
.bandit-forest .track { fill: #e4e8ec; }
.bandit-forest .edge { fill: none; stroke: #b9c4d0; stroke-linecap: round; }
.bandit-forest .title { fill: #1b2733; }
.bandit-forest .note { fill: #55606c; font-size: 11.5px; font-weight: 400; font-variant-numeric: tabular-nums; }
.bandit-forest .label { fill: #55606c; font-size: 11px; text-anchor: end; }
@media (prefers-color-scheme: dark) {
  .bandit-forest .box { fill: #1c232b; stroke: #3c4752; }
  .bandit-forest .test { fill: #263039; stroke: #3c4752; }
  .bandit-forest .track { fill: #36414c; }
  .bandit-forest .edge { stroke: #4d5a67; }
  .bandit-forest .title { fill: #edf2f7; }
  .bandit-forest .note, .bandit-forest .label { fill: #a9b4bf; }
}"""


@dataclass(frozen=True)
class Box:
    """Drawing of a node and of those below it."""

    title: str
    note: str
    events: int
    """Makes the edge to the box as wide as its share of the root's."""
    kind: str = "box"
    """Shape: "box", "test" or "more"."""
    colour: int | None = None
    """A number, the same for what belongs together."""
    level: float | None = None
    """Length of a bar, in [0, 1]."""
    children: tuple[Box, ...] = ()
    """None, or where "yes" and where "no" leads."""


@dataclass(frozen=True)
class _Placed:
    """A box and its place: the middle of its left side."""

    box: Box
    column: int
    y: float
    children: tuple[_Placed, ...]


def draw(root: Box, *, caption: str) -> str:
    """Draw a tree of boxes as SVG.

    Examples
    --------
    >>> draw(Box("stay", "3 events", 3), caption="One leaf").startswith("<svg")
    True
    """
    placed, n_rows = _place(root, 0, 0)
    columns = _columns(placed)
    lefts = [_MARGIN]
    for width in columns:
        lefts.append(lefts[-1] + width + _GAP)
    total = max(lefts[-1] - _GAP + _MARGIN, round(2 * _MARGIN + len(caption) * _NOTE))
    height = 2 * _MARGIN + n_rows * _STEP + 8
    parts = [*_edges(placed, lefts, columns, max(root.events, 1)), *_boxes(placed, lefts, columns)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="bandit-forest" role="img" viewBox="0 0 {total} {height}"'
            f' width="{total}" height="{height}" style="max-width:100%;height:auto">',
            f"<title>{_escaped(caption)}</title>",
            f"<style>{_STYLE}</style>",
            *parts,
            f'<text class="note" x="{_MARGIN}" y="{height - 12}">{_escaped(caption)}</text>',
            "</svg>",
        ]
    )


def _place(box: Box, column: int, row: int) -> tuple[_Placed, int]:
    """Place leaves one below the other and parents in the middle of their children; return the next free row too."""
    children = []
    next_row = row
    for child in box.children:
        placed, next_row = _place(child, column + 1, next_row)
        children.append(placed)
    if not children:
        return _Placed(box, column, _MARGIN + row * _STEP + _HEIGHT / 2, ()), row + 1
    y = (children[0].y + children[-1].y) / 2
    return _Placed(box, column, y, tuple(children)), next_row


def _walk(placed: _Placed) -> Iterator[_Placed]:
    yield placed
    for child in placed.children:
        yield from _walk(child)


def _columns(root: _Placed) -> list[int]:
    """Return the width of the widest text of each column."""
    widths: dict[int, float] = {}
    for placed in _walk(root):
        text = max(_length(placed.box.title) * _TITLE, _length(placed.box.note) * _NOTE)
        widths[placed.column] = max(widths.get(placed.column, _NARROWEST), text + 2 * _PADDING)
    return [round(min(widths[column], _WIDEST)) for column in sorted(widths)]


def _edges(root: _Placed, lefts: list[int], columns: list[int], events: int) -> Iterator[str]:
    """Draw edges that leave a box together; the answer is written on the outer side of where each ends."""
    for parent in _walk(root):
        for child, label, side in zip(parent.children, ("yes", "no"), (-1, 1), strict=False):
            start, end = lefts[parent.column] + columns[parent.column], lefts[child.column]
            middle = (start + end) / 2
            width = 1.5 + (_WIDEST_EDGE - 1.5) * child.box.events / events
            yield (
                f'<path class="edge" stroke-width="{width:.1f}" d="M{start} {parent.y:g}'
                f'C{middle:g} {parent.y:g} {middle:g} {child.y:g} {end} {child.y:g}"/>'
            )
            label_y = child.y + side * (width / 2 + 8) + 4
            yield f'<text class="label" x="{end - 7}" y="{label_y:.1f}">{label}</text>'


def _boxes(root: _Placed, lefts: list[int], columns: list[int]) -> Iterator[str]:
    for placed in _walk(root):
        yield from _box(placed.box, lefts[placed.column], placed.y - _HEIGHT / 2, columns[placed.column])


def _box(box: Box, x: float, y: float, width: int) -> Iterator[str]:
    room = width - 2 * _PADDING
    colour = _PLAIN if box.colour is None else _COLOURS[box.colour % len(_COLOURS)]
    yield f"<g><title>{_escaped(f'{box.title}: {box.note}')}</title>"
    yield f'<rect class="{box.kind}" x="{x:g}" y="{y:g}" width="{width}" height="{_HEIGHT}" rx="8"/>'
    if box.kind != "test":
        yield f'<rect x="{x + 4:g}" y="{y + 7:g}" width="4" height="{_HEIGHT - 14}" rx="2" fill="{colour}"/>'
    text = x + _PADDING + (3 if box.kind != "test" else 0)
    raised = 3 if box.level is not None else 0
    yield f'<text class="title" x="{text:g}" y="{y + 20 - raised:g}">{_fitted(box.title, room / _TITLE)}</text>'
    yield f'<text class="note" x="{text:g}" y="{y + 36 - raised:g}">{_fitted(box.note, room / _NOTE)}</text>'
    if box.level is not None:
        bar = f'x="{text:g}" y="{y + _HEIGHT - 8:g}" height="3" rx="1.5"'
        yield f'<rect class="track" {bar} width="{room}"/>'
        yield f'<rect {bar} width="{room * box.level:.1f}" fill="{colour}"/>'
    yield "</g>"


def _length(text: str) -> int:
    """Count letters; those of East Asia are twice as wide."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def _fitted(text: str, room: float) -> str:
    """Shorten a text that is too long, and escape it."""
    if _length(text) <= room + 0.5:
        return _escaped(text)
    text = text[: int(room)]  # of a very long text only what may fit is looked at
    while _length(text) > room - 1:
        text = text[:-1]
    return _escaped(text.rstrip()) + "…"


def _escaped(text: str) -> str:
    """Escape a text for XML, which has no place for control characters, not even escaped."""
    return escape(_NOT_XML.sub("\ufffd", text))
