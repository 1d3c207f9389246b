"""The client, against a real service."""

from __future__ import annotations

import asyncio
import inspect
import sys

import httpx
import pytest
from running import ADMIN_KEY, CONTEXT, ENVIRONMENT, KEY, KEYS, Running, write_project

from bandit_forest import Bandit
from bandit_forest.client import (
    ActionChange,
    AsyncClient,
    BatchRefusedError,
    Client,
    DecidedEvent,
    LearnedEvent,
    RefusedError,
    RewardedEvent,
)
from bandit_forest.client import calls as calls_module
from bandit_forest.client.calls import Call
from bandit_forest.errors import InvalidArgumentError, MissingExtraError


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    project = write_project(tmp_path_factory.mktemp("offers"), more=KEYS)
    with Running(project, environment=ENVIRONMENT) as running:
        yield running


@pytest.fixture
def client(service):
    with Client(service.address, key=KEY) as made:
        yield made


def test_decide_reward_learn_and_explain(client):
    event = client.decide(CONTEXT, available_actions=["gold"])
    assert event.action == "gold"
    assert client.decide(CONTEXT, available_actions=["gold"], event_id=event.event_id) == event
    assert client.reward(event.event_id, 1.0) == (event.event_id, 1.0, False, True)
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
        async with AsyncClient(service.address, key=KEY) as client:
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
    calls = [name for name in vars(calls_module) if name in calls_module.__all__ and name != "Call"]
    assert len(calls) == 18
    for call in calls:
        waiting, awaited = getattr(Client, call), getattr(AsyncClient, call)
        assert waiting.__name__ == awaited.__name__ == call
        assert waiting.__doc__ == awaited.__doc__
        assert inspect.signature(waiting) == inspect.signature(awaited)
        assert inspect.iscoroutinefunction(awaited)
    with Client() as client:
        assert list(inspect.signature(client.decide).parameters) == [
            *("context", "available_actions", "event_id", "action", "propensity", "mean_rewards")
        ]


def test_without_httpx_the_cure_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    for name in [name for name in sys.modules if name.startswith("bandit_forest.client")]:
        monkeypatch.delitem(sys.modules, name)
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


def test_a_batch_that_is_partly_refused_keeps_the_other_decisions(client):
    ids = ["partly-1", "partly-2", "partly-3"]
    contexts = [CONTEXT, {**CONTEXT, "age": "old"}, CONTEXT]
    with pytest.raises(BatchRefusedError) as refused:
        client.decide_many(contexts, event_ids=ids, available_actions=[None, None, ["gold"]])
    first, second, third = refused.value.results
    assert str(refused.value) == refused.value.message == f"1 of 3 refused: {second}"
    assert isinstance(first, DecidedEvent)
    assert (second.code, second.path) == ("invalid_request", "$.events[1].context.age")
    assert (third.event_id, third.action) == ("partly-3", "gold")
    assert client.explain("partly-1")["action"] == first.action
    with pytest.raises(InvalidArgumentError, match="2 items, one for each event"):
        client.decide_many([CONTEXT] * 2, event_ids=["one"])


def test_events_from_elsewhere_are_learned_together(client):
    client.learn_many([CONTEXT] * 2, ["plus", "gold"], [0.5, 1], propensities=[0.5, 0.25], event_ids=["l1", "l2"])
    assert client.explain("l2")["reward"] == 1.0
    with pytest.raises(BatchRefusedError) as refused:
        client.learn_many([CONTEXT] * 2, ["plus", "lead"], [0.5, 1], propensities=[0.5, 0.25])
    assert [isinstance(result, RefusedError) for result in refused.value.results] == [False, True]


def test_estimates_and_durability_are_told(client):
    event = client.decide(CONTEXT, mean_rewards=True)
    assert set(event.mean_rewards) == {"basic", "plus", "gold"}
    assert event.durable is True
    assert client.decide(CONTEXT).mean_rewards is None


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_json_does_not_have_is_refused_before_it_is_sent(client, value):
    with pytest.raises(InvalidArgumentError, match=r"The '\$.reward' of a request must be a finite number"):
        client.reward("any", value)
    with pytest.raises(InvalidArgumentError, match=r"\$.events\[1\].context.age"):
        client.decide_many([CONTEXT, {**CONTEXT, "age": float("-inf")}])
    with pytest.raises(InvalidArgumentError, match=r"\$\.propensity"):
        client.learn({**CONTEXT, "age": float("nan")}, "plus", 1.0, propensity=value)


def test_what_became_of_a_lesson_is_told_with_the_id_that_the_service_made(client):
    event = client.learn(CONTEXT, "plus", 0.5, propensity=0.25)
    assert event == LearnedEvent(event.event_id, ignored=False, durable=True)
    assert client.explain(event.event_id)["reward"] == 0.5
    events = client.learn_many([CONTEXT] * 2, ["plus", "gold"], [0.5, 1], propensities=[0.5, 0.25])
    assert [client.explain(event.event_id)["action"] for event in events] == ["plus", "gold"]


def test_a_lesson_that_is_sent_again_counts_once_as_the_client_says(client):
    event_id = client.decide(CONTEXT).event_id
    again = (lambda: client.reward(event_id, 1.0), lambda: client.learn(CONTEXT, "plus", 1, propensity=1, event_id="l"))
    for send in again:
        send()
        with pytest.raises(RefusedError) as refused:
            send()
        assert f'refused as "{refused.value.code}"' in Client.__doc__


def test_what_became_of_each_reward_of_a_batch_is_told(client):
    first, second = client.decide_many([CONTEXT] * 2)
    assert client.reward_many({first.event_id: 0.5}) == [RewardedEvent(first.event_id, 0.5)]
    with pytest.raises(BatchRefusedError) as refused:
        client.reward_many({first.event_id: 0.5, second.event_id: 1.0})
    assert refused.value.results[0].code == "duplicate_reward"
    assert refused.value.results[1] == RewardedEvent(second.event_id, 1.0)


def test_a_second_reward_that_is_ignored_says_so(tmp_path):
    project = write_project(tmp_path, more='[reward]\non_duplicate = "ignore"\n')
    with Running(project) as service, Client(service.address) as client:
        event_id = client.decide(CONTEXT).event_id
        assert client.reward(event_id, 0.5) == RewardedEvent(event_id, 0.5)
        assert client.reward(event_id, 1.0) == RewardedEvent(event_id, 0.5, ignored=True)
        lessons = [client.learn(CONTEXT, "plus", 0.5, propensity=0.5, event_id="theirs") for _ in range(2)]
    assert lessons == [LearnedEvent("theirs"), LearnedEvent("theirs", ignored=True)]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (calls_module.reward("e1", 1.0), {"event_id": "e1", "reward": 1.0, "ignored": False}),
        (calls_module.learn(CONTEXT, "plus", 1.0, propensity=0.5), {"event_id": "e1", "ignored": False}),
        (calls_module.add_action("lead"), {"name": "lead", "state": "enabled"}),
    ],
    ids=["reward", "learn", "action"],
)
def test_what_is_not_on_disk_yet_is_told(call, answer):
    assert call.result(httpx.Response(200, json=answer)).durable
    assert not call.result(httpx.Response(200, json=answer | {"durable": False})).durable


def test_the_model_and_what_it_says_are_taken(service, tmp_path):
    file = tmp_path / "offers.bandit"
    with Client(service.address, key=ADMIN_KEY) as admin:
        admin.learn(CONTEXT, "plus", 0.5, propensity=0.25)
        data = admin.model()
        assert not list(tmp_path.iterdir())
        assert admin.model(file) == data == file.read_bytes()
        assert Bandit.load(file).version == Bandit.from_bytes(data).version == admin.status()["model_version"]
        assert {one["name"] for one in admin.importance()["features"]} == {"age", "city", "member"}
        assert admin.evaluation()["policies"][0]["policy"] == "uniform"

    async def take() -> None:
        async with AsyncClient(service.address, key=ADMIN_KEY) as admin:
            assert await admin.model(tmp_path / "again.bandit") == data
            assert (await admin.status())["model_version"] > 0

    asyncio.run(take())


def test_a_model_that_is_not_the_services_is_not_written(tmp_path):
    file = tmp_path / "offers.bandit"
    file.write_bytes(b"kept")
    call = calls_module.model(file)
    with pytest.raises(RefusedError) as refused:
        call.result(httpx.Response(200, text="<h1>Sign in</h1>"))
    assert (refused.value.code, file.read_bytes()) == ("foreign_answer", b"kept")
    with pytest.raises(RefusedError, match="after 3 more lessons"):
        call.result(httpx.Response(404, json={"error": {"code": "warming_up", "message": "after 3 more lessons"}}))


def test_actions_are_changed_with_a_key_for_administration(service, client):
    with Client(service.address, key=ADMIN_KEY) as admin:
        assert admin.add_action("lead") == ActionChange("lead", "enabled")
        assert admin.disable_action("lead").state == "disabled"
        assert admin.actions()["lead"] == "disabled"
        admin.enable_action("lead")
        admin.remove_action("lead")
        assert admin.actions() == {"basic": "enabled", "plus": "enabled", "gold": "enabled", "lead": "removed"}
    with pytest.raises(RefusedError, match="administration"):
        client.actions()


def test_shadow_mode(tmp_path):
    with Running(write_project(tmp_path, project='mode = "shadow"')) as service, Client(service.address) as client:
        event = client.decide(CONTEXT, action="plus", propensity=0.5)
        assert (event.action, event.propensity) == ("plus", 0.5)
        assert event.forest_action in ("basic", "plus", "gold")
        (event,) = client.decide_many([CONTEXT], actions=["gold"], propensities=[0.25])
        assert (event.action, event.propensity) == ("gold", 0.25)
