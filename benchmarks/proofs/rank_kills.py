"""Kills of a service whose events offer their own actions: as `kills`, with rankings."""

from __future__ import annotations

from typing import Any

from proofs.kills import run_kills

__all__ = ["run_part"]


def run_part(part: int) -> dict[str, Any]:
    """Kill the service of a new folder twenty times."""
    return run_kills(part, is_offered=True)
