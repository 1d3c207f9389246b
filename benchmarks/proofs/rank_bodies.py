"""Bodies for a project with offered actions: as `bodies`, with rankings."""

from __future__ import annotations

from typing import Any

from proofs.bodies import BODIES, run_bodies

__all__ = ["run_part"]


def run_part(part: int, *, n_bodies: int = BODIES) -> dict[str, Any]:
    """Send bodies with a seed of its own to a service with an empty folder; verify the folder in the end."""
    return run_bodies(part, n_bodies=n_bodies, is_offered=True)
