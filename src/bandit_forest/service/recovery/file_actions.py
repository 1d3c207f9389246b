"""The actions of the project file, which may have changed since the last start."""

from __future__ import annotations

import logging

import msgspec

from bandit_forest.bandit.action_registry import DISABLED, ENABLED, REMOVED
from bandit_forest.service.domain.state import ServiceContext, State
from bandit_forest.service.journal.entries import ADD, DISABLE, ENABLE, FILE, Entry

__all__ = ["changes_by_file", "follow_file"]

_logger = logging.getLogger(__name__)


def follow_file(service: ServiceContext) -> None:
    """Apply the changes of fixed actions in the project file, which `changes_by_file` returns."""
    state = service.state
    if service.project.is_offered:
        return
    for kind, name, names in changes_by_file(state, list(service.project.action_names)):
        if name is None:
            state.file_actions = list(service.project.action_names)
        else:
            state.change_action(kind, name)
        service.record([Entry(state.seq + 1, service.now(), kind, action=name, available=names)])


def changes_by_file(state: State, names: list[str]) -> list[tuple[str, str | None, str | None]]:
    """Compare the actions of the project file with those of its folder; return changes: kind, action, and of FILE JSON.

    A name that the folder has never known is added. One that has gone from the file since the last start is disabled,
    and enabled when it comes back. Actions that were added while the service ran, and are in no file, stay as they are.
    """
    states, before = state.bandit.registry.states, state.file_actions
    changes: list[tuple[str, str | None, str | None]] = [(ADD, name, None) for name in names if name not in states]
    if before is None:
        others = [name for name, known in states.items() if known == ENABLED and name not in names]
        _warn(others, "enabled, and not in the project file: disable what should not be taken")
    else:
        back = [name for name in names if name not in before and states.get(name) == DISABLED]
        gone = [name for name in before if name not in names and states.get(name) == ENABLED]
        changes += [(ENABLE, name, None) for name in back] + [(DISABLE, name, None) for name in gone]
        _warn(gone, "gone from the project file since the last start, and disabled now")
    _warn([name for name in names if states.get(name) == REMOVED], "removed for ever, though the project file names it")
    return changes if before == names else [*changes, (FILE, None, msgspec.json.encode(names).decode())]


def _warn(names: list[str], what: str) -> None:
    for name in names:
        _logger.warning("The action '%s' is %s.", name, what)
