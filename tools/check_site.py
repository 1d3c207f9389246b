"""Check the built site: links, entries of public names, and every page in Chromium, wide and on a phone.

`make docs` runs it after the build.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver import ActionChains
from selenium.webdriver.support.wait import WebDriverWait

SITE = Path(__file__).parents[1] / "site"
WIDTHS = {"wide": (1400, 900), "phone": (390, 844)}
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


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


def missing_entries() -> Iterator[str]:
    """Yield public names for which the API pages have a directive, but the site has no entry."""
    for source in sorted((SITE.parent / "docs" / "reference" / "api").glob("*.md")):
        anchors = read_page(SITE / "reference" / "api" / f"{source.stem}.html").anchors
        for name in re.findall(r"^::: (\S+)$", source.read_text(encoding="utf-8"), re.MULTILINE):
            if name not in anchors:
                yield f"{source.name}: {name} has no entry; it needs a docstring"


@contextmanager
def served_site() -> Iterator[str]:
    """Serve the site on this machine, and give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


@contextmanager
def open_browser() -> Iterator[webdriver.Chrome]:
    """Open Chromium with an empty profile; nothing is looked for in the network."""
    options = webdriver.ChromeOptions()
    with tempfile.TemporaryDirectory() as profile:
        for argument in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
        browser = webdriver.Chrome(options=options, service=driver)
        try:
            yield browser
        finally:
            browser.quit()


def set_size(browser: webdriver.Chrome, width: int, height: int) -> None:
    """Set the size that pages see: a window cannot be as narrow as a phone."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def errors_in_browser(browser: webdriver.Chrome, root: str) -> Iterator[str]:
    """Yield errors in the console, and pages that are wider than their window."""
    for name, size in WIDTHS.items():
        set_size(browser, *size)
        for path in pages():
            browser.get(root + path.relative_to(SITE).as_posix())
            shown = f"{path.relative_to(SITE)}, {name}"
            for entry in browser.get_log("browser"):  # type: ignore[no-untyped-call]
                if entry["level"] == "SEVERE":
                    yield f"{shown}: {entry['message']}"
            if browser.execute_script("return document.documentElement.scrollWidth > window.innerWidth + 1"):
                yield f"{shown}: wider than its window"


def search_finds(browser: webdriver.Chrome, root: str, word: str) -> bool:
    """Return whether a search has results; its dialog is a shadow tree."""
    links = "return [...(document.activeElement.shadowRoot?.querySelectorAll('a') ?? [])].map(a => a.textContent)"
    browser.get(root + "index.html")
    browser.find_element("class name", "md-search__button").click()
    try:
        WebDriverWait(browser, 10).until(lambda _: browser.execute_script("return document.activeElement.shadowRoot"))
        ActionChains(browser).send_keys(word).perform()
        WebDriverWait(browser, 10).until(lambda _: any(word in text for text in browser.execute_script(links)))
        return True
    except TimeoutException:
        return False


def main() -> None:
    """Print what is wrong, and fail if anything is."""
    if not pages():
        sys.exit(f"There are no pages in {SITE}: build them with 'make docs'.")
    problems = [*broken_links(), *missing_entries()]
    with served_site() as root, open_browser() as browser:
        problems += errors_in_browser(browser, root)
        set_size(browser, *WIDTHS["wide"])
        problems += [] if search_finds(browser, root, "propensity") else ["the search finds nothing"]
    print(*problems, f"{len(pages())} pages, {len(problems)} problems", sep="\n")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
