"""A client of the decision service, for programs that wait and for programs that do not."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, Self, TypeVar
from urllib.parse import quote

from bandit_forest.errors import BanditForestError, MissingExtraError

try:
    import httpx
except ImportError as error:
    raise MissingExtraError(f"The client needs {error.name}: pip install 'bandit-forest[client]'.") from error

__all__ = ["AsyncClient", "Client", "DecidedEvent", "RefusedError"]

_ADDRESS = "http://127.0.0.1:8420"

Json = dict[str, Any]
Context = Mapping[str, Any]
Given = ParamSpec("Given")
Result = TypeVar("Result")


class DecidedEvent(NamedTuple):
    """A decision of the service: take the action, and send the reward with the event_id."""

    event_id: str
    action: str
    propensity: float


class RefusedError(BanditForestError):
    """The service refused a request, and nothing has changed there.

    Parameters
    ----------
    status
        Of HTTP.
    code
        A stable name of the reason, such as "late_reward".
    message
        What is wrong.
    path
        The place in the request, such as "$.context.age", or None.
    """

    def __init__(self, status: int, code: str, message: str, path: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.path = status, code, message, path


@dataclass(frozen=True)
class Call(Generic[Result]):
    """A request, and how its answer is read: all that the two clients share."""

    path: str
    body: Json | None
    """None: what is at the path is asked for."""
    read: Callable[[Json], Result]

    @property
    def request(self) -> dict[str, Any]:
        """What httpx is to send."""
        sent = {} if self.body is None else {"json": self.body}
        return {"method": "GET" if self.body is None else "POST", "url": self.path, **sent}

    def result(self, response: httpx.Response) -> Result:
        """Read the answer, or raise the refusal."""
        try:
            answer: Json = response.json()
            if not response.is_error:
                return self.read(answer)
            refusal = RefusedError(response.status_code, **answer["error"])
        except (ValueError, KeyError, TypeError):  # of a proxy, say
            told = f"The answer is not the service's: {response.text[:80]!r}."
            raise RefusedError(response.status_code, "foreign_answer", told) from None
        raise refusal


def _decide(
    context: Context, *, available_actions: Iterable[str] | None = None, event_id: str | None = None
) -> Call[DecidedEvent]:
    """Choose an action for one event; an event_id of your own makes it safe to ask again."""
    available = None if available_actions is None else list(available_actions)
    body = {"context": dict(context), "available_actions": available, "event_id": event_id}
    return Call("/v1/decide", body, _decided)


def _decide_many(contexts: Iterable[Context]) -> Call[list[DecidedEvent]]:
    """Choose an action for each event, with one request."""
    body = {"events": [{"context": dict(context)} for context in contexts]}
    return Call("/v1/decide/batch", body, lambda answer: [_decided(item) for item in _all(answer["decisions"])])


def _reward(event_id: str, reward: float) -> Call[None]:
    """Tell the reward of an event."""
    return Call("/v1/reward", {"event_id": event_id, "reward": reward}, _nothing)


def _reward_many(rewards: Mapping[str, float]) -> Call[None]:
    """Tell the rewards of events by event_id, with one request; the first refusal is raised, the others count."""
    body = {"rewards": [{"event_id": event_id, "reward": reward} for event_id, reward in rewards.items()]}
    return Call("/v1/reward/batch", body, lambda answer: _nothing(_all(answer["rewards"])))


def _learn(
    context: Context, action: str, reward: float, *, propensity: float, event_id: str | None = None
) -> Call[None]:
    """Learn an event that was decided elsewhere."""
    event = {"context": dict(context), "action": action, "reward": reward, "propensity": propensity}
    return Call("/v1/learn", event | {"event_id": event_id}, _nothing)


def _explain(event_id: str) -> Call[Json]:
    """Tell what is known of an event."""
    return Call(f"/v1/explain/{quote(event_id, safe='')}", None, lambda answer: answer)


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


Method = TypeVar("Method", bound=Callable[..., Any])


def _as_method(method: Method, make: Callable[..., Any]) -> Method:
    """Give a method the name, the text and, after `self`, the parameters of what makes its call."""
    wraps(make)(method)
    method.__name__ = method.__qualname__ = make.__name__.removeprefix("_")
    myself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    made = inspect.signature(make)
    told = made.replace(parameters=[myself, *made.parameters.values()], return_annotation=inspect.Signature.empty)
    method.__signature__ = told  # type: ignore[attr-defined]
    return method


class Client:
    """Ask a decision service, and wait for its answers.

    Parameters
    ----------
    address
        Of the service.
    key
        For deciding, or for administration.
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

    decide = _waiting(_decide)
    decide_many = _waiting(_decide_many)
    reward = _waiting(_reward)
    reward_many = _waiting(_reward_many)
    learn = _waiting(_learn)
    explain = _waiting(_explain)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient:
    """Ask a decision service without blocking: as `Client`, with `await`.

    Parameters
    ----------
    address
        Of the service.
    key
        For deciding, or for administration.
    timeout
        Seconds to wait for an answer at most.
    """

    def __init__(self, address: str = _ADDRESS, *, key: str | None = None, timeout: float = 10.0) -> None:
        self._http = httpx.AsyncClient(base_url=address, headers=_headers(key), timeout=timeout)

    decide = _awaiting(_decide)
    decide_many = _awaiting(_decide_many)
    reward = _awaiting(_reward)
    reward_many = _awaiting(_reward_many)
    learn = _awaiting(_learn)
    explain = _awaiting(_explain)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _headers(key: str | None) -> dict[str, str]:
    return {} if key is None else {"authorization": f"Bearer {key}"}


def _decided(answer: Json) -> DecidedEvent:
    return DecidedEvent(answer["event_id"], answer["action"], answer["propensity"])


def _all(items: list[Json]) -> list[Json]:
    """Give the items of a batch back, if none was refused."""
    for item in items:
        if "error" in item:
            raise RefusedError(200, **item["error"])
    return items


def _nothing(_: object) -> None:
    return None
