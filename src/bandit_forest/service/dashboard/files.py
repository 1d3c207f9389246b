"""The page: a few files, read once and given out with what keeps it safe in a browser."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from importlib.resources import files

from fastapi import APIRouter, Request, Response

__all__ = ["page_files", "page_router"]

_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_HEADERS = {
    "cache-control": "no-cache",  # asked again each time, answered with 304 while nothing has changed
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


def page_files() -> dict[str, tuple[bytes, str]]:
    """Give the content and the media type of each file of the page, by path; the index is at '/'."""
    found: dict[str, tuple[bytes, str]] = {}
    for file in files("bandit_forest.service.dashboard").joinpath("page").iterdir():
        media_type = _MEDIA_TYPES.get(file.name[file.name.rfind(".") :])
        if media_type is not None:
            found["/" if file.name == "index.html" else f"/{file.name}"] = (file.read_bytes(), media_type)
    return found


def page_router(pages: dict[str, tuple[bytes, str]]) -> APIRouter:
    """Give the routes of the page."""
    router = APIRouter(include_in_schema=False)
    for path, (content, media_type) in pages.items():
        router.add_route(path, _giver(content, media_type), methods=["GET", "HEAD"])
    return router


def _giver(content: bytes, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    """Make the endpoint of one file."""
    headers = _HEADERS | {"etag": f'"{hashlib.sha256(content).hexdigest()[:16]}"'}

    async def give(request: Request) -> Response:
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=media_type, headers=headers)

    return give
