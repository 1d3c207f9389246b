"""Everything that a user can name has an entry in the reference; what is missing is written by `make reference`."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import bandit_forest
import reference_pages
from bandit_forest.service.config.project_file import Document
from reference.api import API, INTERNAL, SOURCE, entries, public_names
from reference.command_line import command_line, commands, option_names
from reference.project_file import NOT_IN_FILE, typed_tables
from reference.service import service_tells

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = DOCS / "reference"


def page(name: str) -> str:
    return (REFERENCE / f"{name}.md").read_text()


@pytest.mark.parametrize("name", reference_pages.PAGES)
def test_pages_are_what_the_code_says_now(name: str):
    assert page(name) == reference_pages.PAGES[name]().rstrip() + "\n", "run 'make reference'"


def test_every_public_name():
    index = page("api")
    names = [name for name in bandit_forest.__all__ if name != "__version__"]
    assert [name for name in names if f"[`{name}`]" not in index] == []


@pytest.mark.parametrize("name", API)
def test_every_name_of_a_public_module(name: str):
    shown = re.findall(r"^::: bandit_forest\.(\S+)$", page(f"api/{name}"), re.MULTILINE)
    assert shown
    assert len(shown) == len(list(entries(API[name])))


def test_every_module_is_public_or_internal():
    """A new module with names for users gets a page in tools/reference/api.py; any other is named there as internal."""
    modules = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    listed = {module.partition(".")[0] for group in API.values() for module in group.modules}
    assert [name for name in sorted(modules - listed - INTERNAL) if name[0] != "_" and public_names(name)] == []


@pytest.mark.parametrize("command", list(commands(command_line())), ids=lambda one: one[0])
def test_every_option_of_the_command_line(command):
    name, made = command
    section = page("cli").partition(f"## {name}\n")[2].partition("\n## ")[0]
    assert made.help in section
    for parameter in made.params:
        if parameter.name != "help":
            assert parameter.help, parameter.name
            assert f"| {option_names(parameter)} | {parameter.help} |" in section


@pytest.mark.parametrize("table", typed_tables())
def test_every_setting_of_the_project_file(table: str):
    section = page("project").partition(f"## [{table}]\n")[2].partition("\n## ")[0]
    names = typed_tables()[table].__struct_fields__
    assert [name for name in names if f"| `{name}` |" not in section] == []


def test_every_table_of_the_project_file():
    headings = page("project")
    for name in Document.__struct_fields__:
        shown = f"{name}.NAME" if name in ("context", "offered") else name
        assert f"## [{shown}]\n" in headings


def test_every_parameter_of_the_forest():
    text = page("project")
    parameters = inspect.signature(bandit_forest.BanditForest).parameters
    names = set(parameters) - NOT_IN_FILE
    assert [name for name in sorted(names) if f"| `{name}` |" not in text] == []


def test_every_route_of_a_running_service():
    text = page("http")
    paths = service_tells().openapi["paths"]
    assert "/v1/decide" in paths
    assert [path for path in paths if f"| `{path}` |" not in text] == []


def test_every_metric_of_a_running_service():
    text = page("metrics")
    names = re.findall(r"^# TYPE (\w+)", service_tells().metrics, re.MULTILINE)
    assert "bandit_forest_decisions_total" in names
    assert [name for name in names if f"| `{name}` |" not in text] == []


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: path.relative_to(DOCS).as_posix())
def test_every_page_is_in_the_navigation(path: Path):
    assert f": {path.relative_to(DOCS).as_posix()}\n" in (DOCS.parent / "mkdocs.yml").read_text()
