"""The files of the page."""

from __future__ import annotations

from importlib.resources import files
from mimetypes import guess_type

__all__ = ["page_files"]


def page_files() -> dict[str, tuple[bytes, str]]:
    """Return the content and the media type of each file of the page, by path; the index is at '/'."""
    found: dict[str, tuple[bytes, str]] = {}
    for file in files("bandit_forest.service.dashboard").joinpath("page").iterdir():
        media_type = guess_type(file.name)[0] or "application/octet-stream"
        shown = f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type
        found["/" if file.name == "index.html" else f"/{file.name}"] = (file.read_bytes(), shown)
    return found
