"""The pages of the Python API: one for each group of public modules, an entry for each public name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reference.markdown import table

__all__ = ["API", "INTERNAL", "SOURCE", "api_index", "api_page", "entries", "public_names"]

SOURCE = Path(__file__).parents[2] / "src" / "bandit_forest"


@dataclass(frozen=True)
class Group:
    """A page: its title, and the modules whose names it has."""

    title: str
    modules: tuple[str, ...]


# Pages by their names. A module is given without "bandit_forest"; the package itself is "".
API = {
    "forest": Group("Forests, rules and policies", ("", "rules", "forest.explanation", "forest.pairs", "forest.tree")),
    "bandit": Group("Bandit", ("bandit", "bandit.pairs")),
    "encoding": Group("Encoding", ("encoding",)),
    "evaluation": Group("Evaluation of logs", ("evaluation", "evaluation.readers", "evaluation.writers")),
    "adapters": Group(
        "Adapters",
        ("adapters.coba", "adapters.coba_pairs", "adapters.river", "adapters.scikit_learn", "adapters.vowpal_wabbit"),
    ),
    "client": Group("Client of the service", ("client",)),
    "checks": Group("Checks of policies", ("checks",)),
    "baselines": Group("Baselines", ("baselines", "baselines.pairs")),
    "worlds": Group("Worlds and simulation", ("worlds", "worlds.pairs", "worlds.datasets", "simulation")),
    "theory": Group("Optimal trees and bounds", ("optimal", "theory")),
    "experiments": Group("Experiments", ("experiments",)),
}
# Modules that are not for users: their public names are exported elsewhere, or they have a page of another kind.
INTERNAL = {
    *(
        "archive",
        "atomic",
        "cli",
        "compiled",
        "errors",
        "forest",
        "parameters",
        "policy",
        "randomness",
        "reference",
    ),
    *("service", "validation", "variables"),
}
NOT_SHOWN = {"__version__", "explanation_of"}


def public_names(module: str) -> list[str]:
    """Return what a module exports, without importing it or what it needs."""
    for statement in ast.parse(_file(module).read_text()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return [name for name in ast.literal_eval(statement.value) if name not in NOT_SHOWN]
    return []


def entries(group: Group) -> Iterator[tuple[str, str]]:
    """Yield module and name of each entry of a page. A name has one entry, and the package's own page comes last."""
    known = set()
    if "" in group.modules:
        others = (module for other in API.values() if other is not group for module in other.modules)
        known = {name for module in others for name in public_names(module)}
    for module in group.modules:
        for name in public_names(module):
            if name not in known:
                known.add(name)
                yield module, name


def api_page(group: Group) -> str:
    """Return a page."""
    parts = [f"# {group.title}\n"]
    shown = ""
    for module, name in entries(group):
        if module != shown or len(parts) == 1:
            parts.append(f"From `{_path(module)}`: {_summary(module)}\n")
            shown = module
        parts.append(f"::: {_path(module, name)}\n    options:\n      heading_level: 2\n")
    return "\n".join(parts)


def api_index() -> str:
    """Return the page that lists all names."""
    lines = [
        (f"[{group.title}](api/{page}.md)", ", ".join(_link(page, *entry) for entry in entries(group)))
        for page, group in API.items()
    ]
    return f"# Python API\n\nAll public names, by page.\n\n{table(('page', 'names'), lines)}"


def _link(page: str, module: str, name: str) -> str:
    return f"[`{name}`](api/{page}.md#{_path(module, name)})"


def _path(module: str, name: str = "") -> str:
    """Return the dotted path of a module or a name; of a name that a module of the same name hides, the one inside."""
    parts = ["bandit_forest", *filter(None, (module, name))]
    if name and (_file(module).parent / f"{name}.py").is_file() and _file(module).name == "__init__.py":
        parts.append(name)
    return ".".join(parts)


def _file(module: str) -> Path:
    path = SOURCE.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _summary(module: str) -> str:
    return (ast.get_docstring(ast.parse(_file(module).read_text())) or "").partition("\n")[0]
