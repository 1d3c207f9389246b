"""Tables between the markers of a page: `<!-- name -->` before, `<!-- end -->` behind."""

from __future__ import annotations

from bandit_forest.errors import refuse

__all__ = ["fill_page"]

END = "<!-- end -->"


def fill_page(page: str, tables: dict[str, str]) -> str:
    """Return a page with new tables between its markers.

    Parameters
    ----------
    page
        The page, with a marker for each table.
    tables
        Tables by the names of their markers.
    """
    for name, table in tables.items():
        before, marker, rest = page.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition(END)
        if not end:
            refuse("page", "fill_page", f"a page with the marker '<!-- {name} -->' and an end behind it", before[-80:])
        page = f"{before}{marker}{table}\n{end}{after}"
    return page
