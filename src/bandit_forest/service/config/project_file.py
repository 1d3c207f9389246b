"""The project file: TOML in, a `Project` out, or a refusal with the line and the cure."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any, NoReturn

from bandit_forest.errors import InvalidArgumentError
from bandit_forest.service.config.fields import BooleanField, CategoricalField, Field, NumericField
from bandit_forest.service.config.project import Actions, Keys, Limits, Project, RewardRule, Server, Storage
from bandit_forest.service.config.storage_identity import check_forest

__all__ = ["example_project", "load_project", "parse_project"]

_KINDS: dict[str, type[Field]] = {
    "numeric": NumericField,
    "categorical": CategoricalField,
    "boolean": BooleanField,
}
_TABLES: dict[str, Callable[..., Any]] = {
    "actions": Actions,
    "reward": RewardRule,
    "storage": Storage,
    "keys": Keys,
    "limits": Limits,
    "server": Server,
}
_IN_FILE = {"n_bins": "bins"}  # names of fields that are shorter in the file
_PROJECT = ("name", "mode", "warm_up_events")
_FOREST = ("n_trees", "max_depth", "variable_share", "max_nodes", "seed", "growth", "exploration")


def example_project() -> str:
    """Give a commented project file that can be served as it is.

    Examples
    --------
    >>> parse_project(example_project(), name="example.toml").actions.names
    ('discount', 'free shipping', 'nothing')
    """
    return files("bandit_forest.service.config").joinpath("example.toml").read_text(encoding="utf-8")


def load_project(path: str | os.PathLike[str]) -> Project:
    """Read a project file; a relative storage folder is relative to it."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InvalidArgumentError(f"There is no project file '{file}': make one with 'bandit-forest init'.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArgumentError(f"The project file '{file}' cannot be read: {error}.") from None
    project = parse_project(text, name=str(file))
    folder = file.parent / project.storage.folder
    return replace(project, storage=replace(project.storage, folder=folder))


def parse_project(text: str, *, name: str) -> Project:
    """Read the text of a project file, or refuse it.

    Parameters
    ----------
    text
        TOML.
    name
        Of the file, for refusals.

    Examples
    --------
    >>> parse_project(example_project().replace("n_trees = 100", "n_trees = 0"), name="offers.toml")
    Traceback (most recent call last):
        ...
    bandit_forest.errors.InvalidArgumentError: offers.toml, line 44: The 'n_trees' of BanditForest must be an int in \
[1, 1048576]. Got 0 instead.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidArgumentError(f"{name}: {error}.") from None
    return _Reader(text, name).project(document)


class _Reader:
    """Makes the parts of a project, and finds the line of what is wrong."""

    def __init__(self, text: str, name: str) -> None:
        self._places = _places(text)
        self._name = name

    def project(self, document: dict[str, Any]) -> Project:
        self._check_names("", document, ("project", "context", "forest", *_TABLES))
        for table in ("actions", "context"):
            if not isinstance(document.get(table), dict):
                self._refuse("", None, f"The project needs a table [{table}]: 'bandit-forest init' writes an example.")
        parts = {table: self._part(table, document[table]) for table in _TABLES if table in document}
        context = {name: self._field(name, values) for name, values in document["context"].items()}
        own = self._table("project", document.get("project", {}), _PROJECT)
        forest = self._table("forest", document.get("forest", {}), _FOREST)
        self._make("forest", lambda: check_forest(forest))
        made: Project = self._make("project", lambda: Project(context=context, forest=forest, **own, **parts))
        return made

    def _part(self, table: str, values: Any) -> Any:
        make = _TABLES[table]
        checked = self._table(table, values, tuple(field.name for field in fields(make)))  # type: ignore[arg-type]
        return self._make(table, lambda: make(**checked))

    def _field(self, name: str, values: Any) -> Field:
        table = f"context.{name}"
        kind = values.get("kind") if isinstance(values, dict) else None
        if not isinstance(kind, str) or kind not in _KINDS:
            rule = "'numeric', 'categorical' or 'boolean'"
            self._refuse(table, "kind", f"The 'kind' of [{table}] must be {rule}. Got {kind!r} instead.")
        make = _KINDS[kind]
        names = {_IN_FILE.get(field.name, field.name): field.name for field in fields(make)}
        self._table(table, values, ("kind", *names))
        given = {names[part]: value for part, value in values.items() if part != "kind"}
        made: Field = self._make(table, lambda: make(**given))
        return made

    def _table(self, table: str, values: Any, known: tuple[str, ...]) -> dict[str, Any]:
        """Check that a table is one and has no unknown names; give it with tuples for lists."""
        if not isinstance(values, dict):
            self._refuse("", table, f"'{table}' must be a table: begin it with a line [{table}].")
        self._check_names(table, values, known)
        return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}

    def _check_names(self, table: str, values: Mapping[str, Any], known: tuple[str, ...]) -> None:
        for name in values:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"Did you mean '{near[0]}'?" if near else f"There are: {', '.join(known)}."
                where = f"[{table}]" if table else "the project"
                self._refuse(table, name, f"'{name}' is unknown to {where}. {hint}")

    def _make(self, table: str, make: Callable[[], Any]) -> Any:
        try:
            return make()
        except TypeError as error:  # a name that must be there is not
            self._refuse(table, None, f"[{table}] is not complete: {error}.")
        except InvalidArgumentError as error:
            told = re.search(r"of \[([\w.]+)\]", str(error))  # one table may tell of another
            self._refuse(told[1] if told else table, error.parameter, str(error))

    def _refuse(self, table: str, name: str | None, message: str) -> NoReturn:
        raise InvalidArgumentError(f"{self._name}, line {self._line(table, name)}: {message}") from None

    def _line(self, table: str, name: str | None) -> int:
        """Give the line of a name in a table, or else of what is around it."""
        path = ".".join(part for part in (table, name) if part)
        while path and path not in self._places:
            path = path.rpartition(".")[0]
        return self._places.get(path, 1)


def _places(text: str) -> dict[str, int]:
    """Give the line of every table and name, by its path such as `reward.low`."""
    places: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\[?([^\]]+)\]", line):
            table = re.sub(r"[\s\"']", "", header[1])
            places.setdefault(table, number)
        elif given := re.match(r"\s*([^=#]+?)\s*=", line):
            name = re.sub(r"[\s\"']", "", given[1])
            places.setdefault(f"{table}.{name}" if table else name, number)
    return places
