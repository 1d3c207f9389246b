"""One decision and one ranking by HTTP, traced: each enters few modules, and walks in through the rooms and back."""

from __future__ import annotations

import pytest

from request_path import BODIES, trace_request

ROOMS = ("http", "operations", "domain", "journal")
BACK = ("journal.commits", "http.connection")  # the end of a commit wakes the connection that waits for it


@pytest.mark.parametrize("path", BODIES)
def test_a_request_enters_twelve_modules_at_most(path: str) -> None:
    calls = trace_request(path)
    modules = {called for _, called in calls}
    assert len(modules) <= 12, modules
    within = [(caller, called) for caller, called in calls if caller is not None]
    assert {(0, 1), (1, 2), (2, 3)} <= {(room(caller), room(called)) for caller, called in within}
    assert [call for call in within if room(call[0]) > room(call[1])] in ([], [BACK])


def room(module: str) -> int:
    """Return how far in the room of a module is."""
    return ROOMS.index(module.partition(".")[0])
