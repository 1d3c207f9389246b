"""The endpoints of a replica: the same paths and types, with the operations of the room `replica`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bandit_forest.service.http.endpoints import ENDPOINTS
from bandit_forest.service.replica import changes, operations

__all__ = ["REPLICA_ENDPOINTS"]

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "/v1/decide": operations.decide,
    "/v1/decide/batch": operations.decide_many,
    "/v1/reward": operations.reward,
    "/v1/reward/batch": operations.reward_many,
    "/v1/learn": operations.learn,
    "/v1/learn/batch": operations.learn_many,
    "/v1/actions/add": changes.add_action,
    "/v1/actions/disable": changes.disable_action,
    "/v1/actions/enable": changes.enable_action,
    "/v1/actions/remove": changes.remove_action,
}

REPLICA_ENDPOINTS = tuple(replace(endpoint, operation=_OPERATIONS[endpoint.path]) for endpoint in ENDPOINTS)
