"""Changes of actions: lessons like any other, appended by whoever is asked."""

from __future__ import annotations

from copy import deepcopy

from bandit_forest.service.errors import StorageError
from bandit_forest.service.journal.commits import Commit
from bandit_forest.service.operations.actions import change_action
from bandit_forest.service.recovery.file_actions import changes_by_file
from bandit_forest.service.replica.context import ReplicaContext
from bandit_forest.service.replica.store import on_one_line

__all__ = ["append_change", "follow_file"]


def follow_file(service: ReplicaContext) -> None:
    """Append what the actions of the project file ask for; replicas that start together may ask twice."""
    for change in changes_by_file(service.state, list(service.project.action_names)):
        service.database.change(*change)
    service.catch_up()


@change_action.register
def append_change(service: ReplicaContext, kind: str, name: str) -> tuple[str, Commit]:
    """Append a change that the newest lessons allow, and wait until this replica has applied it."""
    try:
        service.catch_up()
        registry = service.bandit.registry
        tried = deepcopy(registry)
        getattr(tried, kind)(name)  # its methods are named like the kinds of lessons
        after = str(tried.state(name))
        if after != registry.state(name):
            service.database.change(kind, name)
            service.catch_up()
    except service.database.error as error:
        raise StorageError(f"The database cannot be written now ({on_one_line(error)}).") from error
    return after, service.journal.tail
