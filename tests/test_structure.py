"""The house: few files beside each other, small files in the service, and other packages by their public doors only."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "bandit_forest"
SOURCES = [path for part in ("src", "benchmarks", "examples", "tools") for path in (ROOT / part).rglob("*.py")]
MOST_FILES = 15
MOST_LINES = 250


@pytest.mark.parametrize("part", ["src", "cpp", "tests"])
def test_no_folder_has_many_files(part: str) -> None:
    files = [path for path in (ROOT / part).rglob("*") if path.is_file() and not is_made(path)]
    beside = Counter(path.parent for path in files)
    assert {str(folder): n_files for folder, n_files in beside.items() if n_files > MOST_FILES} == {}


def test_folders_of_tests_are_those_of_the_package() -> None:
    tests = ROOT / "tests"
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")} - {Path()}
    others = {Path("benchmarks"), Path("deploy"), Path("docs")}  # folders of the repository
    assert {folder for folder in folders - others if not (PACKAGE / folder).is_dir()} == set()


def is_made(path: Path) -> bool:
    """Return whether a file was made by a tool."""
    return path.suffix in (".so", ".pyc", ".pyd")


def test_the_files_of_the_service_are_small() -> None:
    files = (ROOT / "src" / "bandit_forest" / "service").rglob("*.py")
    lengths = {path.name: len(path.read_text().splitlines()) for path in files}
    assert {name: n_lines for name, n_lines in lengths.items() if n_lines > MOST_LINES} == {}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_private_modules_of_other_packages_are_not_imported(path: Path) -> None:
    imported = list(imported_names(ast.parse(path.read_text())))
    others = [name for name in imported if name.partition(".")[0] not in ("bandit_forest", "__future__")]
    assert [name for name in others if any(part.startswith("_") for part in name.split("."))] == []


def imported_names(tree: ast.AST) -> Iterator[str]:
    """Return the dotted names of all imports, wherever they are."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_the_engine_is_opened_by_the_files_that_contributing_names() -> None:
    """The linter does not see `from bandit_forest._core import Settings`."""
    arranged = (ROOT / "CONTRIBUTING.md").read_text().partition("## How the code is arranged\n\n")[2]
    told = arranged.partition("\n\n")[0]  # its first paragraph, however it is worded
    files = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if opens_the_engine(path)}
    assert files == set(re.findall(r"`([\w/]+\.py)`", told))


def opens_the_engine(path: Path) -> bool:
    """Return whether a file imports the compiled module in any form: as a statement, relatively, or by a text."""
    tree = ast.parse(path.read_text())
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    names = [*imported_names(tree), *(text for text in texts if " " not in text)]
    return any("_core" in name.split(".") for name in names)


def test_the_engine_of_a_forest_is_reached_in_its_own_folder_only() -> None:
    others = [path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(PACKAGE / "forest")]
    assert [path for path in others if any(map(reaches_a_core, ast.walk(ast.parse(path.read_text()))))] == []


def reaches_a_core(node: ast.AST) -> bool:
    """Return whether a node is the attribute `_core` of another object."""
    owner = node.value if isinstance(node, ast.Attribute) and node.attr == "_core" else None
    return owner is not None and not (isinstance(owner, ast.Name) and owner.id == "self")


def test_every_module_is_in_a_layer() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [contract for contract in contracts if contract["type"] == "layers"]
    assert len(layers) == 3
    assert all(contract["exhaustive"] for contract in layers)


def test_nobody_changes_the_search_path() -> None:
    tests = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]
    assert [path for path in [*SOURCES, *tests] if "sys.path" in path.read_text()] == []
