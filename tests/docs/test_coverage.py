"""Everything that a user can name has an entry in the reference."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import bandit_forest
import reference_pages

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = DOCS / "reference"


def page(name: str) -> str:
    return (REFERENCE / f"{name}.md").read_text()


def test_every_public_name():
    api = page("api")
    names = [name for name in bandit_forest.__all__ if name != "__version__"]
    assert [name for name in names if f"::: bandit_forest.{name}\n" not in api] == []


@pytest.mark.parametrize(
    "command", list(reference_pages.commands(reference_pages.command_line())), ids=lambda one: one[0]
)
def test_every_option_of_the_command_line(command):
    name, made = command
    section = page("cli").partition(f"## {name.removeprefix('bandit-forest ')}\n")[2].partition("\n## ")[0]
    assert made.help in section
    for parameter in made.params:
        if parameter.name != "help":
            assert parameter.help, parameter.name
            assert f"| {reference_pages.option_names(parameter)} | {parameter.help} |" in section


@pytest.mark.parametrize("table", reference_pages.TABLES)
def test_every_setting_of_the_project_file(table: str):
    section = page("project").partition(f"## [{table}]\n")[2].partition("\n## ")[0]
    names = reference_pages.TABLES[table].__struct_fields__
    assert [name for name in names if f"| `{name}` |" not in section] == []


def test_every_table_of_the_project_file():
    from bandit_forest.service.config.project_file import Document

    headings = page("project")
    for name in Document.__struct_fields__:
        assert f"## [{'context.NAME' if name == 'context' else name}]\n" in headings


def test_every_parameter_of_the_forest():
    text = page("project")
    parameters = inspect.signature(bandit_forest.BanditForest).parameters
    names = set(parameters) - reference_pages.NOT_IN_FILE
    assert [name for name in sorted(names) if f"| `{name}` |" not in text] == []


def test_every_route():
    from bandit_forest.service.http import read_endpoints
    from bandit_forest.service.http.endpoints import ENDPOINTS

    text = page("http")
    paths = [endpoint.path for endpoint in ENDPOINTS] + [path for path, _, _ in reference_pages.read_paths()]
    written = inspect.getsource(read_endpoints).replace("class ReadEndpoint(", "").count("ReadEndpoint(")
    assert len(paths) == len(ENDPOINTS) + written
    assert [path for path in paths if f"| `{path}` |" not in text] == []


def test_every_metric():
    from bandit_forest.service.http import metrics

    text = page("metrics")
    names = {name for name, _ in reference_pages.metrics()}
    assert names >= set(re.findall(r'_PREFIX \+ "(\w+)"', inspect.getsource(metrics)))
    assert [name for name in sorted(names) if f"| `bandit_forest_{name}` |" not in text] == []


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: path.relative_to(DOCS).as_posix())
def test_every_page_is_in_the_navigation(path: Path):
    assert f": {path.relative_to(DOCS).as_posix()}\n" in (DOCS.parent / "mkdocs.yml").read_text()
