"""Changes of actions: lessons like any other, appended by whoever is asked."""

from __future__ import annotations

from collections.abc import Callable

from bandit_forest.bandit.action_registry import ActionRegistry
from bandit_forest.bandit.errors import ActionError, CapacityError, UnknownActionError
from bandit_forest.service.errors import ServiceError, StorageError
from bandit_forest.service.journal.entries import ADD, DISABLE, ENABLE, REMOVE
from bandit_forest.service.operations.requests import ActionRequest, invalid
from bandit_forest.service.operations.results import ActionChange, Result
from bandit_forest.service.recovery.file_actions import changes_by_file
from bandit_forest.service.replica.context import ReplicaContext
from bandit_forest.service.replica.writer import Asked

__all__ = ["add_action", "disable_action", "enable_action", "follow_file", "remove_action"]

_PATH = "$.name"


def add_action(service: ReplicaContext, request: ActionRequest) -> Result[ActionChange]:
    """Add an action; refused when the name was used before or the capacity is spent."""
    if not request.name.isprintable():
        raise invalid(_PATH, "a printable text", request.name)
    return _change(service, ADD, request.name)


def disable_action(service: ReplicaContext, request: ActionRequest) -> Result[ActionChange]:
    """Take an action out of play for now; rewards of its waiting events are still learned."""
    return _change(service, DISABLE, request.name)


def enable_action(service: ReplicaContext, request: ActionRequest) -> Result[ActionChange]:
    """Bring a disabled action back."""
    return _change(service, ENABLE, request.name)


def remove_action(service: ReplicaContext, request: ActionRequest) -> Result[ActionChange]:
    """Take an action out of play for ever; rewards of its waiting events are still learned."""
    return _change(service, REMOVE, request.name)


def follow_file(service: ReplicaContext) -> None:
    """Append what the actions of the project file ask for; replicas that start together may ask twice."""
    for change in changes_by_file(service.state, list(service.project.actions.names)):
        service.database.change(*change)
    service.catch_up()


def _change(service: ReplicaContext, kind: str, name: str) -> Result[ActionChange]:
    """Append a change that the newest lessons allow, and wait until this replica has applied it."""
    try:
        service.catch_up()
        before = service.bandit.registry.state(name)
        after = _tried(service.bandit.registry, kind, name)
        if after != before:
            service.database.change(kind, name)
            service.catch_up()
    except service.database.error as error:
        raise StorageError(f"The database cannot be written now ({' '.join(str(error).split())}).") from error
    done = Asked(then=lambda _: None)
    done.commit.finish(durable=True)
    return Result(ActionChange(name, after), done.commit)


def _tried(registry: ActionRegistry, kind: str, name: str) -> str:
    """Return the state that an action would have after a change, or refuse it."""
    copy = ActionRegistry(registry.capacity)
    copy.restore(registry.to_json())
    changes: dict[str, Callable[[str], None]] = {
        ADD: copy.add,
        ENABLE: copy.enable,
        DISABLE: copy.disable,
        REMOVE: copy.remove,
    }
    try:
        changes[kind](name)
    except UnknownActionError as error:
        raise ServiceError("unknown_action", str(error), path=_PATH) from None
    except CapacityError as error:
        raise ServiceError("no_capacity", f"{error} It is under [actions].", path=_PATH) from None
    except ActionError as error:
        raise ServiceError("action_conflict", str(error), path=_PATH) from None
    return str(copy.state(name))
