"""Clients of the decision service, blocking and asynchronous."""

from bandit_forest.errors import MissingExtraError

try:
    import httpx  # noqa: F401
except ImportError as error:
    raise MissingExtraError(f"The client needs {error.name}: pip install 'bandit-forest[client]'.") from error

from bandit_forest.client.answers import BatchRefusedError, DecidedEvent, RankedEvent, RefusedError
from bandit_forest.client.clients import AsyncClient, Client

__all__ = ["AsyncClient", "BatchRefusedError", "Client", "DecidedEvent", "RankedEvent", "RefusedError"]
