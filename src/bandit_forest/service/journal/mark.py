"""The mark beside a journal: how far it was acknowledged, so that an end that was lost is found.

The mark is written after each commit and not waited for: it survives a killed process, and after a power cut it may be
behind the journal, but never ahead of it.
"""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path
from zlib import crc32

__all__ = ["MARK", "Mark", "acknowledged_seq"]

MARK = "acknowledged"

_logger = logging.getLogger(__name__)
_LINE = re.compile(rb"([0-9]{15}) ([0-9a-f]{8})\n")


class Mark:
    """The file that says how far a journal was acknowledged.

    Parameters
    ----------
    folder
        Folder of the journal.
    """

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / MARK, os.O_WRONLY | os.O_CREAT, 0o600)

    def set(self, seq: int) -> None:
        """Write that everything up to an entry is on disk."""
        number = b"%015d" % seq
        try:
            os.pwrite(self._file, b"%b %08x\n" % (number, crc32(number)), 0)
        except OSError as error:  # the entries themselves are safe
            _logger.warning("The mark of the journal could not be written: %s.", error)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def acknowledged_seq(folder: Path) -> int:
    """Return the number of the last entry that is known to have been acknowledged; 0 where there is no mark."""
    try:
        line = (folder / MARK).read_bytes()
    except FileNotFoundError:
        return 0
    found = _LINE.fullmatch(line)
    if found is None or crc32(found[1]) != int(found[2], 16):
        _logger.warning("'%s' is passed over: it is not whole, as after a power cut.", folder / MARK)
        return 0
    return int(found[1])
