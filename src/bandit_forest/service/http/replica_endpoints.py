"""The endpoints of a replica: the same paths and types, with operations of the room `replica` where it has its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bandit_forest.service.http.endpoints import ENDPOINTS
from bandit_forest.service.replica import operations

__all__ = ["REPLICA_ENDPOINTS"]

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "/v1/decide": operations.decide,
    "/v1/decide/batch": operations.decide_many,
    "/v1/reward": operations.reward,
    "/v1/reward/batch": operations.reward_many,
    "/v1/learn": operations.learn,
    "/v1/learn/batch": operations.learn_many,
}

REPLICA_ENDPOINTS = tuple(
    replace(endpoint, operation=_OPERATIONS.get(endpoint.path, endpoint.operation)) for endpoint in ENDPOINTS
)
