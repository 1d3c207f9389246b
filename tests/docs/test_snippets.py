"""Commands and snippets of all pages: they run, or, where a run takes hours or a download, everything they name exists.

Examples with `>>>` are doctests. The pages of `RUN_BY` are run as a whole, as a reader would, by tests of their own.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bandit_forest.service.config.project_file import example_project
from harness.service_process import ServiceProcess
from reference.command_line import command_line

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN_BY = {
    "docs/actions.md": "tests/service/test_walkthrough.py",
    "docs/bandit.md": "tests/bandit/test_newcomer.py",
    "docs/evaluation.md": "tests/evaluation/test_docs.py",
    "docs/service.md": "tests/service/test_walkthrough.py",
    "docs/tutorial.md": "tests/service/test_walkthrough.py",
}
SHELL = ("", "sh", "console")


class Block(NamedTuple):
    page: str
    language: str
    text: str


def all_blocks() -> list[Block]:
    found = []
    for path in PAGES:
        for language, text in re.findall(r"^ *```(\w*)\n(.*?)^ *```", path.read_text(), re.DOTALL | re.MULTILINE):
            found.append(Block(path.relative_to(ROOT).as_posix(), language, text))
    return found


def commands() -> list[tuple[str, str]]:
    """Return all commands: the lines of shell blocks, and those of ours within sentences."""
    lines = []
    for page, language, text in all_blocks():
        if language in SHELL and page not in RUN_BY:
            lines += [(page, line) for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    for path in PAGES:
        page = path.relative_to(ROOT).as_posix()
        words = re.findall(
            r"`((?:bandit-forest |make |python benchmarks/|\.venv/bin/python benchmarks/)[^`]+)`", path.read_text()
        )
        lines += [(page, " ".join(text.split())) for text in words if "bandit-forest[" not in text.partition(" ")[0]]
    return lines


def test_every_block_is_run_or_checked():
    languages = {block.language for block in all_blocks()}
    assert languages <= {*SHELL, "python", "json", "text", "toml", "yaml", "java"}
    for page, test in RUN_BY.items():
        assert Path(page).name in (ROOT / test).read_text()


@pytest.mark.parametrize(
    "block",
    [one for one in all_blocks() if one.language == "python" and ">>>" not in one.text and one.page not in RUN_BY],
    ids=lambda block: block.page,
)
def test_a_script_runs(block: Block, tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(block.text)
    subprocess.run([sys.executable, script], cwd=tmp_path, check=True, timeout=120)


def test_the_client_of_the_service_page(tmp_path: Path):
    (text,) = (one.text for one in all_blocks() if one.page == "docs/service.md" and one.language == "python")
    project = tmp_path / "offers.toml"
    project.write_text(example_project())
    with ServiceProcess(project) as service:
        here = text.replace("http://localhost:8420", service.address).replace("key=...", "key=None")
        names: dict[str, Any] = {"offer": lambda action: action == "discount"}
        exec(compile(here, "docs/service.md", "exec"), names)
    assert names["event"].action in ("discount", "free shipping", "nothing")


@pytest.mark.parametrize(("page", "command"), commands(), ids=lambda text: text[:70])
def test_what_a_command_names_exists(page: str, command: str):
    words = shlex.split(command, comments=True)
    if words[0] == "bandit-forest":
        check_own_command(words[1:])
    elif words[0] == "make":
        targets = (ROOT / "Makefile").read_text()
        assert all(re.search(rf"^{word}( .*)?:", targets, re.MULTILINE) for word in words[1:] if "=" not in word)
    elif words[:2] == ["pip", "install"]:
        check_extras(words[2])
    elif words[0].endswith("python"):
        source = (ROOT / words[1]).read_text()
        assert all(f'"{word}"' in source for word in words[2:] if word.startswith("--"))
    elif words[:3] == ["docker", "compose", "-f"]:
        assert (ROOT / words[3]).is_file()
    elif words[0] in ("createdb", "pg_restore"):
        assert "pg_restore" in (ROOT / "tests/service/replica/test_replicas.py").read_text()
    else:
        assert (ROOT / words[0]).is_file(), f"{page} has a command that no test knows: {command}"


def check_own_command(words: list[str]) -> None:
    command = command_line()
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        command = command.commands[words.pop(0)]
    options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= options | {"--help"}


def check_extras(wanted: str) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = re.search(r"\[(.*)\]", wanted)
    assert wanted == "." or named is not None
    assert named is None or set(named[1].split(",")) <= set(extras)
