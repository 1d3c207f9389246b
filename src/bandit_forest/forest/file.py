"""A saved forest: what a file holds of it, and which class reads it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar, cast

from bandit_forest.errors import DamagedFileError, InvalidArgumentError, OutdatedFileError, refuse
from bandit_forest.forest.settings import arguments_of, header_of

if TYPE_CHECKING:
    from bandit_forest.forest.bandit_forest import BanditForest

__all__ = ["check_path", "forest_parts", "restore_forest"]

_Kind = TypeVar("_Kind", bound="BanditForest")


def forest_parts(forest: BanditForest) -> tuple[dict[str, Any], bytes]:
    """Return the header and the arrays of a file: all that must be taken while nobody learns."""
    header = header_of(forest._saved_as, forest._parameters, forest.variable_names, forest.action_names)
    return header, forest._core.save()


def restore_forest(kind: type[_Kind], header: dict[str, Any], arrays: bytes, *, name: str, n_threads: int = 1) -> _Kind:
    """Return the forest of a file, or refuse what could not have been saved.

    Parameters
    ----------
    kind
        The class that is asked for; a file that holds a tree is read as a tree where that is a `kind`.
    header, arrays
        What `forest_parts` returned.
    name
        Name of the file, for refusals.
    n_threads
        As in `BanditForest`.
    """
    from bandit_forest.forest.bandit_forest import BanditForest  # which imports this file
    from bandit_forest.forest.bandit_tree import BanditTree

    saved = BanditTree if header.get("policy") == "BanditTree" else BanditForest
    if issubclass(kind, BanditTree) and saved is not BanditTree:
        raise DamagedFileError(f"'{name}' holds a {saved.__name__}, not a {kind.__name__}.")
    made = saved if issubclass(saved, kind) else kind
    try:
        forest = cast(_Kind, object.__new__(made))
        BanditForest.__init__(forest, **arguments_of(header), n_threads=n_threads)
        forest._core = forest._make_core(arrays)
        if saved is BanditTree and forest.n_trees != 1:
            raise ValueError("a tree has other trees beside it")
    except OutdatedFileError as error:
        raise OutdatedFileError(f"'{name}' {error}") from error
    except (AttributeError, KeyError, MemoryError, OverflowError, TypeError, ValueError) as error:
        if isinstance(error, InvalidArgumentError) and error.parameter == "n_threads":
            raise  # it is the caller's, not the file's
        raise DamagedFileError(f"'{name}' is damaged: {str(error).rstrip('.')}.") from error
    return forest


def check_path(path: object, owner: str) -> str:
    """Return the name of a file."""
    try:
        name = os.fspath(path)  # type: ignore[call-overload]
    except TypeError:
        refuse("path", owner, "the name of a file", path)
    if not isinstance(name, str) or not name or "\0" in name:
        refuse("path", owner, "the name of a file", path)
    return name
