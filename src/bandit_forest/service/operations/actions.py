"""Actions that come and go while the service runs."""

from __future__ import annotations

from typing import Any

from bandit_forest.service.config.checks import LONGEST_NAME, is_name
from bandit_forest.service.domain.action_registry import DISABLED, ENABLED, REMOVED
from bandit_forest.service.errors import ActionError, CapacityError, InvalidRequestError, UnknownActionError
from bandit_forest.service.journal.entries import ADD, DISABLE, ENABLE, REMOVE, Entry
from bandit_forest.service.operations.results import ActionChange
from bandit_forest.service.operations.service_context import Desk

__all__ = ["add", "change"]

_PATH = "$.name"
_WANTED = {ENABLE: ENABLED, DISABLE: DISABLED, REMOVE: REMOVED}


def add(desk: Desk, name: Any) -> ActionChange:
    """Add an action: it takes the next free place of the forest."""
    desk.check_storage()
    book = desk.state.actions
    if not isinstance(name, str) or not is_name(name):
        message = f"'{_PATH}' must be a printable text of 1 to {LONGEST_NAME} characters."
        raise InvalidRequestError(message, path=_PATH)
    state = book.state(name)
    if state is not None:
        cure = "take another name" if state == REMOVED else "enable it instead" if state == DISABLED else "it is there"
        raise ActionError(f"The action '{name}' is {state} already: {cure}.", path=_PATH, commit=desk.journal.tail)
    if book.is_full:
        raise CapacityError(
            f"The forest was made for {book.capacity} actions and has had as many. Begin a new storage folder with a "
            "larger 'capacity' under [actions].",
            path=_PATH,
        )
    return _record(desk, ADD, name)


def change(desk: Desk, kind: str, name: Any) -> ActionChange:
    """Enable, disable or remove an action; one that is so already stays so."""
    desk.check_storage()
    book = desk.state.actions
    state = book.state(name) if isinstance(name, str) else None
    if state is None:
        raise UnknownActionError(f"There is no action of this name. There are: {', '.join(book.names)}.", path=_PATH)
    if state == _WANTED[kind]:
        return ActionChange(name, state, desk.journal.tail)
    if state == REMOVED:
        raise ActionError(f"The action '{name}' was removed for ever: add one with another name.", path=_PATH)
    if state == ENABLED and len(book.enabled.places) == 1:
        raise ActionError(f"'{name}' is the last enabled action: enable or add another one first.", path=_PATH)
    return _record(desk, kind, name)


def _record(desk: Desk, kind: str, name: str) -> ActionChange:
    desk.state.change_action(kind, name)
    commit = desk.record([Entry(desk.state.seq + 1, desk.now(), kind, action=name)])
    return ActionChange(name, str(desk.state.actions.state(name)), commit)
