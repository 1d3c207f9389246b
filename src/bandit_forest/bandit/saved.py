"""What a bandit has that is saved in one file: a path to write it to and to read it from, and copies."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Self

from bandit_forest import archive
from bandit_forest.errors import DamagedFileError

__all__ = ["SavedBandit", "check_format"]


class SavedBandit(ABC):
    """Base class of bandits: saved, loaded, copied and pickled as the bytes of their file."""

    @abstractmethod
    def parts(self) -> tuple[dict[str, Any], bytes]:
        """Return the header and the arrays of a file, as they are now; packing them may be left to a thread."""

    @classmethod
    @abstractmethod
    def from_bytes(cls, data: bytes, name: str = "data") -> Self:
        """Return a bandit that `to_bytes` gave."""

    def to_bytes(self) -> bytes:
        """Return the bytes of a saved bandit."""
        return archive.pack(*self.parts())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, whole or not at all."""
        archive.write(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return a bandit that `save` has written; it goes on as if it had never stopped."""
        return cls.from_bytes(Path(path).read_bytes(), os.fspath(path))

    def __getstate__(self) -> bytes:
        return self.to_bytes()

    def __setstate__(self, state: bytes) -> None:
        self.__dict__ = self.from_bytes(state, "state").__dict__


def check_format(header: dict[str, Any], wanted: str, name: str) -> None:
    """Refuse a file of another format; one that holds the other bandit is refused with the method that reads it."""
    found = header.get("format")
    if found != wanted:
        other = f", but a {_CLASSES[found]}: {_CLASSES[found]}.load reads it" if found in _CLASSES else ""
        raise DamagedFileError(f"'{name}' does not hold a {_CLASSES[wanted]}{other}.")


_CLASSES = {"bandit-forest bandit": "Bandit", "bandit-forest pair bandit": "PairBandit"}
