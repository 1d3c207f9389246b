"""Launchers by name."""

from __future__ import annotations

from bandit_forest.distributed.local import Local
from bandit_forest.distributed.on_ray import Ray
from bandit_forest.distributed.tasks import Launcher
from bandit_forest.errors import refuse

__all__ = ["open_launcher"]


def open_launcher(text: str) -> Launcher:
    """Return the launcher with a name: 'local', 'local:2', 'ray' or 'ray://head:10001'.

    Examples
    --------
    >>> open_launcher("local:2")
    Local(2)
    """
    kind, _, rest = text.partition(":")
    if kind == "local" and (not rest or rest.isdecimal()):
        return Local(int(rest) if rest else None)
    if text == "ray":
        return Ray()
    if text.startswith("ray://"):
        return Ray(text)
    refuse("launcher", "open_launcher", "local, local:JOBS, ray or ray://HOST:PORT", text)
