"""The page of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from bandit_forest.cli import _make_app
from reference.markdown import default_text, table

__all__ = ["command_line", "command_page", "commands", "option_names"]


def command_line() -> Any:
    """Return the command line, a group of commands as Click has them."""
    return typer.main.get_command(_make_app())


def commands(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all commands with their whole names."""
    for name, command in sorted(group.commands.items()):
        whole = f"{path} {name}".strip()
        if hasattr(command, "commands"):
            yield from commands(command, whole)
        else:
            yield whole, command


def option_names(parameter: Any) -> str:
    """Return the names of an option, or of an argument in capitals."""
    if parameter.param_type_name == "argument":
        return f"`{parameter.name.upper()}`"
    return ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))


def command_page() -> str:
    """Return the page."""
    parts = [
        "# Command line\n",
        "`bandit-forest --version` prints the version, and `--help` after any command prints its options.\n",
    ]
    for name, command in commands(command_line()):
        parts += [f"## {name}\n", f"{(command.help or '').strip()}\n"]
        lines = [
            (option_names(parameter), getattr(parameter, "help", "") or "", default_text(parameter.default))
            for parameter in command.params
            if parameter.name != "help"
        ]
        if lines:
            parts.append(table(("option", "meaning", "default"), lines))
    return "\n".join(parts)
