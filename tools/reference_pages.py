"""Write the reference pages that come from the code: `make reference`. The tests fail for a page that is not up to date."""

from __future__ import annotations

from pathlib import Path

from reference.command_line import command_page
from reference.project_file import project_page
from reference.service import http_page, metrics_page

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
PAGES = {"cli": command_page, "project": project_page, "http": http_page, "metrics": metrics_page}


def main() -> None:
    """Write all pages."""
    for name, make in PAGES.items():
        (FOLDER / f"{name}.md").write_text(make().rstrip() + "\n")


if __name__ == "__main__":
    main()
