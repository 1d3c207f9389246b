"""What a release says about itself is the same everywhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from bandit_forest import __version__

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("CITATION.cff", r"^version: (.*)$"),
        ("conda/recipe.yaml", r'^  version: "(.*)"$'),
        ("README.md", r"Bandit Forest (0\S+)"),
    ],
)
def test_the_version_is_the_same(file: str, pattern: str):
    (version,) = re.findall(pattern, (ROOT / file).read_text(), re.MULTILINE)
    assert __version__.startswith(version)


def test_numpy_is_the_only_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert [one.partition(">")[0] for one in project["dependencies"]] == ["numpy"]


def test_there_is_a_front_door():
    for name in ("CODE_OF_CONDUCT.md", "SECURITY.md", "ROADMAP.md", "LICENSE", ".github/ISSUE_TEMPLATE/bug.yml"):
        assert (ROOT / name).stat().st_size > 0
