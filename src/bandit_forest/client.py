"""A client of the decision service, for programs that wait and for programs that do not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self
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

    def decide(
        self, context: Context, *, available_actions: Iterable[str] | None = None, event_id: str | None = None
    ) -> DecidedEvent:
        """Choose an action for one event; an event_id of your own makes it safe to ask again."""
        return _decided(self._post("/v1/decide", _decide_body(context, available_actions, event_id)))

    def decide_many(self, contexts: Iterable[Context]) -> list[DecidedEvent]:
        """Choose an action for each event, with one request."""
        return _decided_many(self._post("/v1/decide/batch", _decide_many_body(contexts)))

    def reward(self, event_id: str, reward: float) -> None:
        """Tell the reward of an event."""
        self._post("/v1/reward", {"event_id": event_id, "reward": reward})

    def reward_many(self, rewards: Mapping[str, float]) -> None:
        """Tell the rewards of events by event_id, with one request; the first refusal is raised, the others count."""
        _check_all(self._post("/v1/reward/batch", _reward_many_body(rewards))["rewards"])

    def learn(
        self, context: Context, action: str, reward: float, *, propensity: float, event_id: str | None = None
    ) -> None:
        """Learn an event that was decided elsewhere."""
        self._post("/v1/learn", _learn_body(context, action, reward, propensity, event_id))

    def explain(self, event_id: str) -> Json:
        """Tell what is known of an event."""
        return _checked(self._http.get(_explain_path(event_id)))

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _post(self, path: str, body: Json) -> Json:
        return _checked(self._http.post(path, json=body))


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

    async def decide(
        self, context: Context, *, available_actions: Iterable[str] | None = None, event_id: str | None = None
    ) -> DecidedEvent:
        """Choose an action for one event; an event_id of your own makes it safe to ask again."""
        return _decided(await self._post("/v1/decide", _decide_body(context, available_actions, event_id)))

    async def decide_many(self, contexts: Iterable[Context]) -> list[DecidedEvent]:
        """Choose an action for each event, with one request."""
        return _decided_many(await self._post("/v1/decide/batch", _decide_many_body(contexts)))

    async def reward(self, event_id: str, reward: float) -> None:
        """Tell the reward of an event."""
        await self._post("/v1/reward", {"event_id": event_id, "reward": reward})

    async def reward_many(self, rewards: Mapping[str, float]) -> None:
        """Tell the rewards of events by event_id, with one request; the first refusal is raised, the others count."""
        _check_all((await self._post("/v1/reward/batch", _reward_many_body(rewards)))["rewards"])

    async def learn(
        self, context: Context, action: str, reward: float, *, propensity: float, event_id: str | None = None
    ) -> None:
        """Learn an event that was decided elsewhere."""
        await self._post("/v1/learn", _learn_body(context, action, reward, propensity, event_id))

    async def explain(self, event_id: str) -> Json:
        """Tell what is known of an event."""
        return _checked(await self._http.get(_explain_path(event_id)))

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _post(self, path: str, body: Json) -> Json:
        return _checked(await self._http.post(path, json=body))


def _headers(key: str | None) -> dict[str, str]:
    return {} if key is None else {"authorization": f"Bearer {key}"}


def _explain_path(event_id: str) -> str:
    return f"/v1/explain/{quote(event_id, safe='')}"


def _decide_body(context: Context, available_actions: Iterable[str] | None, event_id: str | None) -> Json:
    available = None if available_actions is None else list(available_actions)
    return {"context": dict(context), "available_actions": available, "event_id": event_id}


def _decide_many_body(contexts: Iterable[Context]) -> Json:
    return {"events": [{"context": dict(context)} for context in contexts]}


def _reward_many_body(rewards: Mapping[str, float]) -> Json:
    return {"rewards": [{"event_id": event_id, "reward": reward} for event_id, reward in rewards.items()]}


def _learn_body(context: Context, action: str, reward: float, propensity: float, event_id: str | None) -> Json:
    event = {"context": dict(context), "action": action, "reward": reward, "propensity": propensity}
    return event | {"event_id": event_id}


def _decided(answer: Json) -> DecidedEvent:
    return DecidedEvent(answer["event_id"], answer["action"], answer["propensity"])


def _decided_many(answer: Json) -> list[DecidedEvent]:
    _check_all(answer["decisions"])
    return [_decided(item) for item in answer["decisions"]]


def _check_all(items: list[Json]) -> None:
    for item in items:
        if "error" in item:
            raise RefusedError(200, **item["error"])


def _checked(response: httpx.Response) -> Json:
    try:
        answer: Json = response.json()
    except ValueError:
        raise RefusedError(
            response.status_code, "no_json", f"The answer is not JSON: {response.text[:80]!r}."
        ) from None
    if response.is_error:
        raise RefusedError(response.status_code, **answer["error"])
    return answer
