"""The project file: TOML as input, a `Project` as output, or a refusal with the line and a remedy."""

from __future__ import annotations

import inspect
import os
import re
import tomllib
from collections.abc import Iterable
from dataclasses import fields
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from bandit_forest.bandit.errors import FeatureError
from bandit_forest.bandit.features.kinds import KINDS, Feature
from bandit_forest.bandit.features.learned_kinds import check_names
from bandit_forest.bandit.forests import all_parameters
from bandit_forest.errors import InvalidArgumentError, refuse
from bandit_forest.forest import BanditForest
from bandit_forest.forest.pairs import PairForest
from bandit_forest.service.config.access import Keys, Server
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.tables import Actions, General, Limits, RewardRule, Storage, Table
from bandit_forest.service.errors import Mismatch, mismatch

__all__ = ["IN_FILE", "example_project", "load_project", "parse_project"]

_NOT_IN_FILE = {
    *("n_variables", "n_context_variables", "n_action_variables", "n_actions", "n_threads"),
    *("variable_names", "action_names", "thresholds"),
}
IN_FILE = {"n_bins": "bins"}
"""Names of parameters that are shorter in the file."""


class Document(Table, frozen=True):
    """All tables of a project file."""

    context: dict[str, dict[str, Any]]
    actions: Actions | None = None
    offered: dict[str, dict[str, Any]] | None = None
    project: General = General()
    reward: RewardRule = RewardRule()
    forest: dict[str, Any] = msgspec.field(default_factory=dict)
    storage: Storage = Storage()
    keys: Keys = Keys()
    limits: Limits = Limits()
    server: Server = Server()


_TABLES: dict[str, type[Table]] = {
    "project": General,
    "actions": Actions,
    "reward": RewardRule,
    "storage": Storage,
    "keys": Keys,
    "limits": Limits,
    "server": Server,
}


def example_project(*, is_offered: bool = False) -> str:
    """Return a commented project file that can be served as it is.

    Parameters
    ----------
    is_offered
        Whether each event offers its own actions.

    Examples
    --------
    >>> parse_project(example_project(), name="example.toml").actions.names
    ('discount', 'free shipping', 'nothing')
    >>> list(parse_project(example_project(is_offered=True), name="example.toml").offered)
    ['price', 'kind', 'reduced']
    """
    folder = files("bandit_forest.service.config") / "example"
    parts = ("offered.toml" if is_offered else "fixed.toml", "rest.toml")
    return "\n".join((folder / part).read_text(encoding="utf-8") for part in parts)


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
    return msgspec.structs.replace(project, storage=msgspec.structs.replace(project.storage, folder=folder))


def parse_project(text: str, *, name: str) -> Project:
    """Read the text of a project file, or refuse it.

    Parameters
    ----------
    text
        TOML.
    name
        Name of the file, for refusals.

    Examples
    --------
    >>> parse_project(example_project().replace("n_trees = 32", "n_trees = 0"), name="offers.toml")
    Traceback (most recent call last):
        ...
    bandit_forest.errors.InvalidArgumentError: offers.toml, line 37: The 'n_trees' of BanditForest must be an int in \
[1, 1048576]. Got 0 instead.
    """
    try:
        parsed = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidArgumentError(f"{name}: {error}.") from None
    try:
        return _read(parsed)
    except _WrongError as wrong:
        raise InvalidArgumentError(f"{name}, line {_line(text, wrong.path)}: {wrong}") from None


class _WrongError(Exception):
    """An error in a project file, with its place."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


def _read(parsed: dict[str, Any]) -> Project:
    document = _converted(parsed, Document, "")
    context = _features(document.context, "context")
    offered = None if document.offered is None else _features(document.offered, "offered")
    parts = {part: getattr(document, part) for part in ("actions", "reward", "storage", "keys", "limits", "server")}
    own = msgspec.structs.asdict(document.project)
    table = "project"
    try:
        project = Project(context=context, offered=offered, forest=document.forest, **own, **parts)
        table = "forest"
        forest = BanditForest if offered is None else PairForest
        known = [name for name in inspect.signature(forest).parameters if name not in _NOT_IN_FILE]
        _check_names(document.forest, known, table)
        if offered is None:
            all_parameters(document.forest, "[forest]")
        else:
            _ = project.settings
        return project
    except InvalidArgumentError as error:
        raise _refused(error, table) from None


def _features(tables: dict[str, dict[str, Any]], table: str) -> dict[str, Feature]:
    features = {name: _feature(values, f"{table}.{name}") for name, values in tables.items()}
    try:
        check_names({name: feature.kind for name, feature in features.items()})
    except FeatureError as error:
        raise _WrongError(f"{table}.{error.feature}", str(error)) from None
    return features


def _feature(values: dict[str, Any], table: str) -> Feature:
    kind = values.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        try:
            refuse("kind", f"[{table}]", "one of " + ", ".join(f"'{kind}'" for kind in KINDS), kind)
        except InvalidArgumentError as error:
            raise _refused(error, table) from None
    names = {IN_FILE.get(field.name, field.name): field.name for field in fields(KINDS[kind])}
    _check_names(values, ["kind", *names], table)
    given = {names[name]: value for name, value in values.items() if name != "kind"}
    made: Feature = _converted(given, KINDS[kind], table)
    return made


def _converted(values: Any, kind: Any, table: str) -> Any:
    """Return values as their type, or refuse values of another type."""
    try:
        return msgspec.convert(values, kind, dec_hook=lambda made, value: made(value))
    except msgspec.ValidationError as error:
        found = mismatch(error)
        path = ".".join(filter(None, (table, re.sub(r"\[.*?\]", "", found.path).removeprefix("$").strip("."))))
        if isinstance(error.__cause__, InvalidArgumentError):
            raise _refused(error.__cause__, path) from None
        raise _WrongError(*_explained(found, path)) from None


def _explained(found: Mismatch, path: str) -> tuple[str, str]:
    """Return the path and the message of a value of a wrong type."""
    if found.unknown is not None:
        known = list(_TABLES.get(path, Document).__struct_fields__)
        return f"{path}.{found.unknown}".strip("."), _unknown(found.unknown, known, path)
    if found.missing is not None and not path:
        return path, f"The project needs a table [{found.missing}]: 'bandit-forest init' writes an example."
    if found.missing is not None:
        return path, f"[{path}] is not complete: it needs '{found.missing}'."
    return path, f"'{path}' is wrong: {found.rule}."


def _refused(error: InvalidArgumentError, table: str) -> _WrongError:
    """Return the refusal of a rule with its place, which may be in another table."""
    told = re.search(r"of \[([\w.]+)\]", str(error))
    return _WrongError(f"{told[1] if told else table}.{error.parameter}", str(error))


def _check_names(values: Iterable[str], known: list[str], table: str) -> None:
    for name in values:
        if name not in known:
            raise _WrongError(f"{table}.{name}", _unknown(name, known, table))


def _unknown(name: str, known: list[str], table: str) -> str:
    near = get_close_matches(name, known, n=1)
    hint = f"Did you mean '{near[0]}'?" if near else f"There are: {', '.join(known)}."
    return f"'{name}' is unknown to {f'[{table}]' if table else 'the project'}. {hint}"


def _line(text: str, path: str) -> int:
    """Return the line of a name such as `reward.low`, or of its table if the name is not in the file."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\[?([^\]]+)\]", line):
            table = re.sub(r"[\s\"']", "", header[1])
            lines.setdefault(table, number)
        elif given := re.match(r"\s*([^=#]+?)\s*=", line):
            name = re.sub(r"[\s\"']", "", given[1])
            lines.setdefault(f"{table}.{name}" if table else name, number)
    path = re.sub(r"[\s\"']", "", path)
    while path and path not in lines:
        path = path.rpartition(".")[0]
    return lines.get(path, 1)
