"""Changes of actions while the service runs."""

from __future__ import annotations

from bandit_forest.bandit.errors import ActionError, CapacityError, UnknownActionError
from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.errors import ServiceError, invalid
from bandit_forest.service.journal.entries import ADD, DISABLE, ENABLE, REMOVE
from bandit_forest.service.operations.requests import ActionRequest
from bandit_forest.service.operations.results import ActionChange, Result

__all__ = ["add_action", "disable_action", "enable_action", "remove_action"]

_PATH = "$.name"


def add_action(service: ServiceContext, request: ActionRequest) -> Result[ActionChange]:
    """Add an action; refused if the name was used before or the capacity is used up."""
    if not request.name.isprintable():
        raise invalid(_PATH, "a printable text", request.name)
    return _change(service, ADD, request.name)


def disable_action(service: ServiceContext, request: ActionRequest) -> Result[ActionChange]:
    """Make an action unavailable until it is enabled again; rewards of its waiting events are still learned."""
    return _change(service, DISABLE, request.name)


def enable_action(service: ServiceContext, request: ActionRequest) -> Result[ActionChange]:
    """Make a disabled action available again."""
    return _change(service, ENABLE, request.name)


def remove_action(service: ServiceContext, request: ActionRequest) -> Result[ActionChange]:
    """Make an action unavailable for ever; rewards of its waiting events are still learned."""
    return _change(service, REMOVE, request.name)


def _change(service: ServiceContext, kind: str, name: str) -> Result[ActionChange]:
    try:
        after, commit = service.change_action(kind, name)
    except UnknownActionError as error:
        raise ServiceError("unknown_action", str(error), path=_PATH) from None
    except CapacityError as error:
        raise ServiceError("no_capacity", f"{error} It is under [actions].", path=_PATH) from None
    except ActionError as error:
        raise ServiceError("action_conflict", str(error), path=_PATH, commit=service.journal.tail) from None
    return Result(ActionChange(name, after), commit)
