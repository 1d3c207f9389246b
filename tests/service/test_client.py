"""The client, against a real service."""

from __future__ import annotations

import asyncio
import inspect
import sys

import httpx
import pytest
from running import CONTEXT, Running, write_project

from bandit_forest.client import AsyncClient, Call, Client, RefusedError
from bandit_forest.errors import MissingExtraError


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    keys = '[keys]\ndecide = ["env:OFFERS_KEY"]\nadmin = ["env:OFFERS_ADMIN_KEY"]\n'
    project = write_project(tmp_path_factory.mktemp("offers"), more=keys)
    with Running(project, environment={"OFFERS_KEY": "key", "OFFERS_ADMIN_KEY": "admin"}) as running:
        yield running


@pytest.fixture
def client(service):
    with Client(service.address, key="key") as made:
        yield made


def test_decide_reward_learn_and_explain(client):
    event = client.decide(CONTEXT, available_actions=["gold"])
    assert event.action == "gold"
    assert client.decide(CONTEXT, event_id=event.event_id) == event
    client.reward(event.event_id, 1.0)
    assert client.explain(event.event_id)["reward"] == 1.0
    client.learn(CONTEXT, "plus", 0.5, propensity=0.25, event_id="their / event")
    assert client.explain("their / event")["state"] == "learned"


def test_batches(client):
    events = client.decide_many([CONTEXT] * 3)
    client.reward_many({event.event_id: 0.5 for event in events})
    assert [client.explain(event.event_id)["reward"] for event in events] == [0.5] * 3
    with pytest.raises(RefusedError) as refused:
        client.reward_many({"nobody": 1.0})
    assert (refused.value.code, refused.value.path) == ("unknown_event", "$.rewards[0].event_id")
    with pytest.raises(RefusedError):
        client.decide_many([CONTEXT, {}])


def test_a_refusal_is_an_exception_that_tells_what_and_where(client):
    with pytest.raises(RefusedError, match="age") as refused:
        client.decide({**CONTEXT, "age": "old"})
    assert (refused.value.status, refused.value.code, refused.value.path) == (422, "invalid_request", "$.context.age")


def test_a_wrong_key_is_refused(service):
    with Client(service.address, key="lock") as client, pytest.raises(RefusedError) as refused:
        client.decide(CONTEXT)
    assert refused.value.code == "unauthorized"


def test_no_service_is_no_silence():
    with Client("http://127.0.0.1:9", timeout=1.0) as client, pytest.raises(httpx.TransportError):
        client.decide(CONTEXT)


def test_the_same_without_blocking(service):
    async def use() -> None:
        async with AsyncClient(service.address, key="key") as client:
            event, *others = await asyncio.gather(*(client.decide(CONTEXT) for _ in range(5)))
            await client.reward(event.event_id, 1.0)
            await client.reward_many({other.event_id: 0.0 for other in others})
            assert (await client.explain(event.event_id))["reward"] == 1.0
            assert len(await client.decide_many([CONTEXT] * 2)) == 2
            await client.learn(CONTEXT, "plus", 0.5, propensity=0.25)
            with pytest.raises(RefusedError):
                await client.reward(event.event_id, 1.0)

    asyncio.run(use())


def test_both_clients_do_the_same_and_say_so():
    calls = ("decide", "decide_many", "reward", "reward_many", "learn", "explain")
    for call in calls:
        waiting, awaited = getattr(Client, call), getattr(AsyncClient, call)
        assert waiting.__name__ == awaited.__name__ == call
        assert waiting.__doc__ == awaited.__doc__
        assert inspect.signature(waiting) == inspect.signature(awaited)
        assert inspect.iscoroutinefunction(awaited)
    with Client() as client:
        assert list(inspect.signature(client.decide).parameters) == ["context", "available_actions", "event_id"]


def test_without_httpx_the_cure_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    monkeypatch.delitem(sys.modules, "bandit_forest.client")
    with pytest.raises(MissingExtraError, match=r"pip install 'bandit-forest\[client\]'"):
        import bandit_forest.client  # noqa: F401


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(502, text="<h1>Bad gateway</h1>"),
        httpx.Response(502, json={"message": "bad gateway"}),
        httpx.Response(502, json=["bad gateway"]),
        httpx.Response(502, json={"error": {"reason": "bad gateway"}}),
        httpx.Response(200, json={"status": "fine"}),
    ],
    ids=range(5),
)
def test_an_answer_that_is_not_the_services_is_a_refusal(answer):
    with pytest.raises(RefusedError, match=r"not the service's: ") as caught:
        Call("/v1/decide", {}, lambda read: read["action"]).result(answer)
    assert (caught.value.code, caught.value.status) == ("foreign_answer", answer.status_code)
