"""Check the built site: links have targets, and Chromium visits every page, wide and on a phone, without an error.

`make docs` runs it after the build.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from selenium import webdriver

SITE = Path(__file__).parents[1] / "site"
WIDTHS = {"wide": (1400, 900), "phone": (390, 844)}


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a word."""

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


class Page(HTMLParser):
    """Links and anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        """Collect what an element refers to, and its own name."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name == "id" and value:
                self.anchors.add(value)


@cache
def read_page(path: Path) -> Page:
    """Return links and anchors of a file."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def pages() -> list[Path]:
    """Return all pages; the one for unknown addresses has links from the root of a server."""
    return sorted(path for path in SITE.rglob("*.html") if path.name != "404.html")


def broken_links() -> Iterator[str]:
    """Yield links within the site that have no target."""
    for path in pages():
        for link in sorted(read_page(path).links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not (target.is_file() and target.is_relative_to(SITE)):
                yield f"{path.relative_to(SITE)}: there is no {link}"
            elif (
                parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in read_page(target).anchors
            ):
                yield f"{path.relative_to(SITE)}: there is no anchor {link}"


def errors_in_browser() -> Iterator[str]:
    """Yield errors in the console, pages that are wider than their window."""
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_port}/"
    try:
        for name, size in WIDTHS.items():
            browser.set_window_size(*size)
            for path in pages():
                browser.get(root + path.relative_to(SITE).as_posix())
                shown = f"{path.relative_to(SITE)}, {name}"
                for entry in browser.get_log("browser"):  # type: ignore[no-untyped-call]
                    if entry["level"] == "SEVERE":
                        yield f"{shown}: {entry['message']}"
                if browser.execute_script("return document.documentElement.scrollWidth > window.innerWidth + 1"):
                    yield f"{shown}: wider than its window"
    finally:
        browser.quit()
        server.shutdown()


def main() -> None:
    """Print what is wrong, and fail if anything is."""
    if not pages():
        sys.exit(f"There are no pages in {SITE}: build them with 'make docs'.")
    problems = [*broken_links(), *errors_in_browser()]
    print(*problems, f"{len(pages())} pages, {len(problems)} problems", sep="\n")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
