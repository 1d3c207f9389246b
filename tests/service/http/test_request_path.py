"""One decision and one ranking by HTTP, traced: each enters few modules, and walks down through the rooms."""

from __future__ import annotations

import pytest

from request_path import BODIES, trace_request

ROOMS = ("http", "operations", "domain", "journal")


@pytest.mark.parametrize("path", BODIES)
def test_a_request_enters_twelve_modules_at_most(path: str) -> None:
    modules = trace_request(path)
    assert len(modules) <= 12, modules
    rooms = [name.split(".")[2] for name in modules]
    assert list(dict.fromkeys(rooms)) == list(ROOMS)
