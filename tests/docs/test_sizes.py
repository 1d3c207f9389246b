"""Pages that can be read, results that can be cloned: how long and how large things may be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MOST_WORDS = {"README.md": 700, "docs/results.md": 1500, "docs/readings.md": 1500}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_words_of_a_page(path: Path):
    words = re.findall(r"\S*\w\S*", path.read_text())  # bars between cells are not words
    assert len(words) <= MOST_WORDS.get(path.relative_to(ROOT).as_posix(), 2500)


def test_results_are_few_files_and_few_bytes():
    files = [path for path in (ROOT / "results").rglob("*") if path.is_file() and path.suffix in (".jsonl", ".gz")]
    assert 0 < len(files) <= 40
    assert sum(path.stat().st_size for path in files) < 10_000_000
