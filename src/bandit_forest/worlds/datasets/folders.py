"""Where data and caches are."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["cache_folder", "data_folder"]


def cache_folder() -> Path:
    """Return the user's cache folder of this package: `XDG_CACHE_HOME`, or what the system is used to."""
    if chosen := os.environ.get("XDG_CACHE_HOME"):
        return Path(chosen) / "bandit-forest"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "bandit-forest"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "bandit-forest" / "Cache"
    return Path.home() / ".cache" / "bandit-forest"


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of the data sets: the one given, else `BANDIT_FOREST_DATA`, else one in the cache folder."""
    chosen = folder or os.environ.get("BANDIT_FOREST_DATA") or cache_folder() / "data"
    return Path(chosen).expanduser()
