"""Clients of the decision service, blocking and asynchronous."""

from bandit_forest.errors import MissingExtraError

try:
    import httpx  # noqa: F401
except ImportError as error:
    raise MissingExtraError(f"The client needs {error.name}: pip install 'bandit-forest[client]'.") from error

from bandit_forest.client.answers import (
    ActionChange,
    BatchRefusedError,
    DecidedEvent,
    LearnedEvent,
    RankedEvent,
    RefusedError,
    RewardedEvent,
)
from bandit_forest.client.clients import AsyncClient, Client

__all__ = [
    "ActionChange",
    "AsyncClient",
    "BatchRefusedError",
    "Client",
    "DecidedEvent",
    "LearnedEvent",
    "RankedEvent",
    "RefusedError",
    "RewardedEvent",
]
