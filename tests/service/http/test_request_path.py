"""One decision by HTTP, traced: it enters few modules, and walks down through the rooms."""

from __future__ import annotations

from request_path import trace_decision

ROOMS = ("http", "operations", "domain", "journal")


def test_a_decision_enters_twelve_modules_at_most() -> None:
    modules = trace_decision()
    assert len(modules) <= 12, modules
    rooms = [name.split(".")[2] for name in modules]
    assert list(dict.fromkeys(rooms)) == list(ROOMS)
