"""Write the reference pages that come from the code: command line, project file, HTTP API and metrics.

`make reference` runs it; tests/docs/test_coverage.py fails for what has no entry.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer

from bandit_forest.bandit.features.kinds import KINDS
from bandit_forest.cli import _make_app
from bandit_forest.forest import BanditForest
from bandit_forest.rules import Greedy, InverseGap
from bandit_forest.service.config import tables
from bandit_forest.service.http.authentication import Role, role_needed
from bandit_forest.service.http.endpoints import ENDPOINTS

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
TABLES = {
    "project": tables.General,
    "actions": tables.Actions,
    "reward": tables.RewardRule,
    "storage": tables.Storage,
    "keys": tables.Keys,
    "limits": tables.Limits,
    "server": tables.Server,
}
NOT_IN_FILE = {"n_variables", "n_actions", "n_threads", "variable_names", "action_names", "thresholds"}


def parameter_texts(documented: Any) -> dict[str, str]:
    """Return the text of each parameter of a NumPy-style docstring."""
    lines = (inspect.getdoc(documented) or "").partition("Parameters\n----------\n")[2].splitlines()
    texts: dict[str, str] = {}
    names: list[str] = []
    for line in lines:
        if line and set(line) == {"-"}:  # the next section
            break
        if line and not line.startswith(" "):
            names = [name.strip() for name in line.split(",")]
        else:
            for name in names:
                texts[name] = f"{texts.get(name, '')} {line.strip()}".strip()
    return texts


def commands(group: Any, path: str = "bandit-forest") -> Iterator[tuple[str, Any]]:
    """Yield all commands with their whole names."""
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def command_line() -> Any:
    """Return the command line, a group of commands as Click has them."""
    return typer.main.get_command(_make_app())


def table(header: Iterable[str], lines: Iterable[Iterable[object]]) -> str:
    """Return a table in Markdown."""
    rows = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines]
    names = list(header)
    shown = [names, ["---"] * len(names), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in shown) + "\n"


def option_names(parameter: Any) -> str:
    """Return the names of an option, or of an argument in capitals."""
    if parameter.param_type_name == "argument":
        return f"`{parameter.name.upper()}`"
    return ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))


def command_page() -> str:
    """Return the page of the command line."""
    parts = [
        "# Command line\n",
        "`bandit-forest --version` prints the version, `--help` after any command its options.\n",
    ]
    for name, command in commands(command_line()):
        parts += [f"## {name.removeprefix('bandit-forest ')}\n", f"{(command.help or '').strip()}\n"]
        lines = [
            (option_names(parameter), getattr(parameter, "help", "") or "", default_text(parameter.default))
            for parameter in command.params
            if parameter.name != "help"
        ]
        if lines:
            parts.append(table(("option", "what", "when left out"), lines))
    return "\n".join(parts)


def default_text(value: object) -> str:
    """Return a default as a table shows it; nothing where there is none."""
    is_shown = isinstance(value, str | int | float | Path) and value != ""
    return f"`{value}`" if is_shown else ""


def project_page() -> str:
    """Return the page of the project file."""
    parts = [
        "# Project file\n",
        "`bandit-forest init` writes a commented example. These are all tables and settings.\n",
    ]
    for name, kind in TABLES.items():
        texts = parameter_texts(kind)
        defaults = dict(zip(reversed(kind.__struct_fields__), reversed(kind.__struct_defaults__), strict=False))
        lines = [(f"`{field}`", texts[field], default_text(defaults.get(field))) for field in kind.__struct_fields__]
        parts += [f"## [{name}]\n", table(("setting", "what", "when left out"), lines)]
    parts.append("## [context.NAME]\n\nOne table for each feature. `kind` is one of the following.\n")
    for name, feature in KINDS.items():
        texts = parameter_texts(feature)
        shown = {"n_bins": "bins"}
        settings = [(f"`{shown.get(one.name, one.name)}`", texts[one.name]) for one in fields(feature)]
        parts += [f"### {name}\n", table(("setting", "what"), settings)]
    forests = (("forest", BanditForest), ("forest.growth", Greedy), ("forest.exploration", InverseGap))
    for name, owner in forests:
        texts = parameter_texts(owner)
        names = [one for one in inspect.signature(owner).parameters if one not in NOT_IN_FILE]
        parts += [f"## [{name}]\n", table(("setting", "what"), [(f"`{one}`", texts[one]) for one in names])]
    return "\n".join(parts)


def http_page() -> str:
    """Return the page of the HTTP API."""
    intro = (
        "# HTTP API\n\nRequests and answers are JSON. `/openapi.json` of a running service describes every type, with "
        'the features and actions of its project. A refusal is `{"error": {"code", "message", "path"}}`.\n'
    )
    lines = [("POST", f"`{one.path}`", one.summary, key_needed(one.path), ", ".join(one.codes)) for one in ENDPOINTS]
    lines += [("GET", f"`{path}`", summary, key, "") for path, summary, key in read_paths()]
    return f"{intro}\n{table(('method', 'path', 'what', 'key', 'refusals of its own'), lines)}"


def read_paths() -> Iterator[tuple[str, str, str]]:
    """Yield the paths that are read by GET, with their summaries and the key that they ask for."""
    from bandit_forest.service.http import read_endpoints

    for text in inspect.getsource(read_endpoints).split("ReadEndpoint(")[1:]:
        found = re.match(r'\s*"([^"]+)",\s*"([^"]+)"', text)
        if found:
            yield found[1], found[2], "" if "is_public=True" in text else key_needed(found[1])


def key_needed(path: str) -> str:
    """Return the key that a path asks for, where a project has keys."""
    role = role_needed(path, frozenset())
    return "" if role is Role.PUBLIC else role.name.lower()


def metrics() -> list[tuple[str, str]]:
    """Return names and texts of all metrics."""
    from bandit_forest.service.http import metrics as module

    text = inspect.getsource(module)
    simple = re.findall(r'^        \("(\w+)", "([^"]+)", status', text, re.MULTILINE)
    labelled = re.findall(r'MetricFamily\(\s*_PREFIX \+ "(\w+)", (?:"([^"]+)"|text)', text)
    told = dict(re.findall(r'text = "([^"]+)"\n\s+\w+ = \w+\(_PREFIX \+ "(\w+)"', text))
    by_name = {name: words for words, name in told.items()}
    return [*simple, *((name, words or by_name[name]) for name, words in labelled)]


def metrics_page() -> str:
    """Return the page of the metrics."""
    lines = [(f"`bandit_forest_{name}`", text) for name, text in metrics()]
    intro = "# Metrics\n\n`GET /metrics` answers in the text format of Prometheus. Counters end in `_total` there.\n"
    return f"{intro}\n{table(('metric', 'what'), lines)}"


def main() -> None:
    """Write all pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    pages = {"cli": command_page, "project": project_page, "http": http_page, "metrics": metrics_page}
    for name, page in pages.items():
        (FOLDER / f"{name}.md").write_text(page().rstrip() + "\n")


if __name__ == "__main__":
    main()
