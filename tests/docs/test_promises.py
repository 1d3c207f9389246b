"""Every promise names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROMISED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs" / "promises.md").read_text())


def test_there_are_promises():
    assert len(PROMISED) > 20


@pytest.mark.parametrize(("file", "name"), PROMISED, ids=[name for _, name in PROMISED])
def test_a_promise_is_held_by_a_test(file, name):
    assert f"def {name}(" in (ROOT / file).read_text()
