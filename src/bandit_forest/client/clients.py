"""The blocking and the asynchronous client."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx

from bandit_forest.client import calls
from bandit_forest.client.calls import Call

__all__ = ["AsyncClient", "Client"]

_ADDRESS = "http://127.0.0.1:8420"

Given = ParamSpec("Given")
Result = TypeVar("Result")
Method = TypeVar("Method", bound=Callable[..., Any])


def _waiting(make: Callable[Given, Call[Result]]) -> Callable[Concatenate[Client, Given], Result]:
    """Make the method of a client that waits for the answer."""

    def method(self: Client, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        call = make(*args, **kwargs)
        return call.result(self._http.request(**call.request))

    return _as_method(method, make)


def _awaiting(
    make: Callable[Given, Call[Result]],
) -> Callable[Concatenate[AsyncClient, Given], Coroutine[Any, Any, Result]]:
    """Make the method of a client that does not block."""

    async def method(self: AsyncClient, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        call = make(*args, **kwargs)
        return call.result(await self._http.request(**call.request))

    return _as_method(method, make)


def _as_method(method: Method, make: Callable[..., Any]) -> Method:
    """Set the name, the docstring and, after `self`, the parameters of a method to those of another function."""
    wraps(make)(method)
    myself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    made = inspect.signature(make)
    told = made.replace(parameters=[myself, *made.parameters.values()], return_annotation=inspect.Signature.empty)
    method.__signature__ = told  # type: ignore[attr-defined]
    return method


class Client:
    """Blocking client of a decision service.

    When no service answers, `httpx.TransportError` is raised. A request with an `event_id` of your own can then be sent
    again. The same `decide` or `rank` gets the same answer. A `reward` or `learn` counts once: when the first one had
    arrived, the second is refused as "duplicate_reward", or answered with `ignored`, as the project says.

    Parameters
    ----------
    address
        Address of the service.
    key
        Key for deciding, or for administration.
    timeout
        Seconds to wait for an answer at most.

    Examples
    --------
    ::

        with Client(key=os.environ["OFFERS_KEY"]) as client:
            event = client.decide({"age": 42, "member": True})
            client.reward(event.event_id, 1.0 if shown(event.action) else 0.0)
    """

    def __init__(self, address: str = _ADDRESS, *, key: str | None = None, timeout: float = 10.0) -> None:
        self._http = httpx.Client(base_url=address, headers=_headers(key), timeout=timeout)

    decide = _waiting(calls.decide)
    decide_many = _waiting(calls.decide_many)
    rank = _waiting(calls.rank)
    rank_many = _waiting(calls.rank_many)
    reward = _waiting(calls.reward)
    reward_many = _waiting(calls.reward_many)
    learn = _waiting(calls.learn)
    learn_many = _waiting(calls.learn_many)
    explain = _waiting(calls.explain)
    importance = _waiting(calls.importance)
    evaluation = _waiting(calls.evaluation)
    status = _waiting(calls.status)
    model = _waiting(calls.model)
    actions = _waiting(calls.actions)
    add_action = _waiting(calls.add_action)
    disable_action = _waiting(calls.disable_action)
    enable_action = _waiting(calls.enable_action)
    remove_action = _waiting(calls.remove_action)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient:
    """Asynchronous client of a decision service: the methods of `Client`, with `await`.

    Parameters
    ----------
    address
        Address of the service.
    key
        Key for deciding, or for administration.
    timeout
        Seconds to wait for an answer at most.
    """

    def __init__(self, address: str = _ADDRESS, *, key: str | None = None, timeout: float = 10.0) -> None:
        self._http = httpx.AsyncClient(base_url=address, headers=_headers(key), timeout=timeout)

    decide = _awaiting(calls.decide)
    decide_many = _awaiting(calls.decide_many)
    rank = _awaiting(calls.rank)
    rank_many = _awaiting(calls.rank_many)
    reward = _awaiting(calls.reward)
    reward_many = _awaiting(calls.reward_many)
    learn = _awaiting(calls.learn)
    learn_many = _awaiting(calls.learn_many)
    explain = _awaiting(calls.explain)
    importance = _awaiting(calls.importance)
    evaluation = _awaiting(calls.evaluation)
    status = _awaiting(calls.status)
    model = _awaiting(calls.model)
    actions = _awaiting(calls.actions)
    add_action = _awaiting(calls.add_action)
    disable_action = _awaiting(calls.disable_action)
    enable_action = _awaiting(calls.enable_action)
    remove_action = _awaiting(calls.remove_action)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _headers(key: str | None) -> dict[str, str]:
    return {} if key is None else {"authorization": f"Bearer {key}"}
