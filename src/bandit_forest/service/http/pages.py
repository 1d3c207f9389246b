"""The files of the status page, with headers that keep it safe in a browser."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from mimetypes import guess_type

from bandit_forest.service.http.messages import Response

__all__ = ["Page", "read_pages"]

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Page:
    """One file, read once; asked again each time, and answered with 304 while nothing has changed."""

    def __init__(self, content: bytes, media_type: str) -> None:
        self._content = content
        self._tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'.encode()
        lines = (
            f"content-type: {media_type}",
            "cache-control: no-cache",
            f"content-security-policy: {_POLICY}",
            "referrer-policy: no-referrer",
            "x-content-type-options: nosniff",
            f"etag: {self._tag.decode()}",
        )
        self._headers = "".join(f"{line}\r\n" for line in lines).encode()

    def response(self, if_none_match: bytes | None) -> Response:
        """Return the file, or that it has not changed."""
        if if_none_match == self._tag:
            return Response(b"", 304, self._headers)
        return Response(self._content, 200, self._headers)


def read_pages() -> dict[str, Page]:
    """Return the files of the page by path; the index is at '/'."""
    found: dict[str, Page] = {}
    for file in files("bandit_forest.service.dashboard").joinpath("page").iterdir():
        media_type = guess_type(file.name)[0] or "application/octet-stream"
        shown = f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type
        found["/" if file.name == "index.html" else f"/{file.name}"] = Page(file.read_bytes(), shown)
    return found
