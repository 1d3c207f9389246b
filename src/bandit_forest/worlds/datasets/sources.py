"""Where each data set comes from, and what its files must hash to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bandit_forest.errors import refuse

__all__ = ["NAMES", "SOURCES", "Source", "source"]


@dataclass(frozen=True, kw_only=True)
class Source:
    """A data set of the UCI Machine Learning Repository (CC BY 4.0)."""

    name: str
    title: str
    address: str
    """The zip archive that holds the files."""
    files: Mapping[str, str]
    """The files to take from it, and the SHA-256 of each one's text, uncompressed."""
    citation: str


SOURCES = {
    entry.name: entry
    for entry in (
        Source(
            name="covtype",
            title="Cover Type",
            address="https://archive.ics.uci.edu/static/public/31/covertype.zip",
            files={"covtype.data.gz": "0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945"},
            citation="Blackard, J. (1998). Covertype. UCI Machine Learning Repository. doi 10.24432/C50K5N",
        ),
        Source(
            name="adult",
            title="Adult",
            address="https://archive.ics.uci.edu/static/public/2/adult.zip",
            files={
                "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
                "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
            },
            citation="Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. doi 10.24432/C5XW20",
        ),
        Source(
            name="census1990",
            title="Census 1990",
            address="https://archive.ics.uci.edu/static/public/116/us+census+data+1990.zip",
            files={"USCensus1990.data.txt": "38e99f50855ddc03167b715b36519ef40b77295ae4e85dfef0c6429ac79ed799"},
            citation="Meek, C., Thiesson, B. and Heckerman, D. US Census Data (1990). UCI Machine Learning Repository. "
            "doi 10.24432/C5VP42",
        ),
    )
}

NAMES = tuple(SOURCES)


def source(name: object, owner: str) -> Source:
    """Return the source of a data set by its name."""
    if not isinstance(name, str) or name not in SOURCES:
        refuse("name", owner, " or ".join(f"'{known}'" for known in NAMES), name)
    return SOURCES[name]
