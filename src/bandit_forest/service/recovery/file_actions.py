"""The actions of the project file, which may have changed since the last start."""

from __future__ import annotations

import logging

import msgspec

from bandit_forest.bandit.registry import DISABLED, ENABLED, REMOVED
from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.journal.entries import ADD, DISABLE, ENABLE, FILE, Entry

__all__ = ["follow_file"]

_logger = logging.getLogger(__name__)


def follow_file(service: ServiceContext) -> None:
    """Compare the actions of the project file with those of its folder, and do what the file says.

    A name that the folder has never known is added. One that has gone from the file since the last start is disabled,
    and enabled when it comes back. Actions that were added while the service ran, and are in no file, stay as they are.
    """
    state, names = service.state, list(service.project.actions.names)
    states, before = state.bandit.registry.states, state.file_actions
    changes = [(ADD, name) for name in names if name not in states]
    if before is None:
        others = [name for name, known in states.items() if known == ENABLED and name not in names]
        _warn(others, "enabled, and not in the project file: disable what should not be taken")
    else:
        back = [name for name in names if name not in before and states.get(name) == DISABLED]
        gone = [name for name in before if name not in names and states.get(name) == ENABLED]
        changes += [(ENABLE, name) for name in back] + [(DISABLE, name) for name in gone]
        _warn(gone, "gone from the project file since the last start, and disabled now")
    _warn([name for name in names if states.get(name) == REMOVED], "removed for ever, though the project file names it")
    for kind, name in changes:
        state.change_action(kind, name)
        service.record([Entry(state.seq + 1, service.now(), kind, action=name)])
    if before != names:
        state.file_actions = names
        text = msgspec.json.encode(names).decode()
        service.record([Entry(state.seq + 1, service.now(), FILE, available=text)])


def _warn(names: list[str], what: str) -> None:
    for name in names:
        _logger.warning("The action '%s' is %s.", name, what)
