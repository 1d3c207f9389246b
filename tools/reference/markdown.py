"""Tables in Markdown, and texts from docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["default_text", "parameter_texts", "table"]


def table(header: Iterable[str], lines: Iterable[Iterable[object]]) -> str:
    """Return a table in Markdown."""
    rows = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines]
    names = list(header)
    shown = [names, ["---"] * len(names), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in shown) + "\n"


def default_text(value: object) -> str:
    """Return a default as a table shows it; nothing where there is none."""
    is_shown = isinstance(value, str | int | float | Path) and value != ""
    return f"`{value}`" if is_shown else ""


def parameter_texts(documented: Any) -> dict[str, str]:
    """Return the text of each parameter of a NumPy-style docstring."""
    lines = (inspect.getdoc(documented) or "").partition("Parameters\n----------\n")[2].splitlines()
    texts: dict[str, str] = {}
    names: list[str] = []
    for line in lines:
        if line and set(line) == {"-"}:  # the next section
            break
        if line and not line.startswith(" "):
            names = [name.strip() for name in line.split(",")]
        else:
            for name in names:
                texts[name] = f"{texts.get(name, '')} {line.strip()}".strip()
    return texts
