"""Write the reference pages that come from the code: `make reference`. Tests fail for a page that is out of date."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from reference.api import API, api_index, api_page
from reference.command_line import command_page
from reference.project_file import project_page
from reference.service import http_page, metrics_page

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
PAGES: dict[str, Callable[[], str]] = {
    "api": api_index,
    **{f"api/{name}": partial(api_page, group) for name, group in API.items()},
    "cli": command_page,
    "project": project_page,
    "http": http_page,
    "metrics": metrics_page,
}


def main() -> None:
    """Write all pages."""
    (FOLDER / "api").mkdir(exist_ok=True)
    for name, make in PAGES.items():
        (FOLDER / f"{name}.md").write_text(make().rstrip() + "\n")


if __name__ == "__main__":
    main()
