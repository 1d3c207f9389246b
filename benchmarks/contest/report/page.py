"""Tables between the markers of pages: `<!-- name -->` before, `<!-- end -->` behind."""

from __future__ import annotations

from collections.abc import Iterable

from bandit_forest.errors import refuse

__all__ = ["fill_pages"]

END = "<!-- end -->"


def fill_pages(pages: Iterable[str], tables: dict[str, str]) -> list[str]:
    """Return pages with new tables between their markers.

    Parameters
    ----------
    pages
        The pages. Each table has its marker in one of them.
    tables
        Tables by the names of their markers.
    """
    filled = list(pages)
    for name, table in tables.items():
        marker = f"<!-- {name} -->\n"
        place = next((number for number, page in enumerate(filled) if END in page.partition(marker)[2]), None)
        if place is None:
            rule = f"texts with the marker '{marker.strip()}' and an end behind it"
            refuse("pages", "fill_pages", rule, [page[:80] for page in filled])
        before, _, rest = filled[place].partition(marker)
        filled[place] = f"{before}{marker}{table}\n{END}{rest.partition(END)[2]}"
    return filled
