"""The client, against a real service whose events offer their own actions."""

from __future__ import annotations

import asyncio
import inspect

import pytest
from offered_projects import CONTEXT, OFFER, write_offered_project
from running import ADMIN_KEY, ENVIRONMENT, KEY, KEYS, Running

from bandit_forest.client import AsyncClient, BatchRefusedError, Client, RankedEvent, RefusedError
from bandit_forest.errors import InvalidArgumentError


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    project = write_offered_project(tmp_path_factory.mktemp("offered"), more=KEYS)
    with Running(project, environment=ENVIRONMENT) as running:
        yield running


@pytest.fixture
def client(service):
    with Client(service.address, key=KEY) as made:
        yield made


def test_a_ranking_has_ids_as_they_were_given_and_is_rewarded_like_a_decision(client):
    event = client.rank(CONTEXT, actions=OFFER, event_id="visit / 1", mean_rewards=True)
    assert isinstance(event, RankedEvent)
    assert (event.event_id, event.durable, event.model_version) == ("visit / 1", True, 0)
    assert event.action == event.actions[0]
    assert set(event.actions) == set(event.propensities) == set(event.mean_rewards) == {"a17", 18}
    assert event.propensities[event.action] == event.propensity
    assert sum(event.propensities.values()) == pytest.approx(1.0)
    assert client.rank(CONTEXT, actions=OFFER, event_id="visit / 1", mean_rewards=True) == event
    client.reward("visit / 1", 1.0)
    assert client.explain("visit / 1")["reward"] == 1.0


def test_only_the_ranks_that_were_asked_for_are_told(client):
    first = client.rank(CONTEXT, actions=iter(OFFER), n_ranked=1)
    assert first.actions == [first.action] == list(first.propensities)
    assert first.mean_rewards is None
    assert client.rank(CONTEXT, actions=OFFER).event_id != first.event_id


def test_a_ranking_that_is_asked_for_again_with_another_offer_is_refused(client):
    client.rank(CONTEXT, actions=OFFER, event_id="twice")
    with pytest.raises(RefusedError) as refused:
        client.rank(CONTEXT, actions=OFFER[:1], event_id="twice")
    assert (refused.value.status, refused.value.code) == (409, "event_conflict")
    with pytest.raises(RefusedError) as refused:
        client.rank(CONTEXT, actions=[OFFER[0], OFFER[0]])
    assert (refused.value.code, refused.value.path) == ("action_conflict", "$.actions")


@pytest.mark.parametrize(
    ("actions", "place"),
    [
        ([], "$.actions"),
        ([{"price": 1, "kind": "phone"}], "$.actions[0].id"),
        ([OFFER[0], {**OFFER[1], "price": "dear"}], "$.actions[1].price"),
        ([OFFER[0], {"id": 18, "price": 3.5}], "$.actions[1].kind"),
    ],
    ids=["nothing offered", "no id", "a wrong feature", "no feature"],
)
def test_a_refusal_tells_what_and_where(client, actions, place):
    with pytest.raises(RefusedError) as refused:
        client.rank(CONTEXT, actions=actions)
    assert (refused.value.status, refused.value.code, refused.value.path) == (422, "invalid_request", place)


def test_batches_are_ranked_and_partly_refused(client):
    ids = ["many-1", "many-2", "many-3"]
    events = client.rank_many([CONTEXT] * 3, actions=[OFFER, OFFER[:1], reversed(OFFER)], event_ids=ids, n_ranked=1)
    assert [event.event_id for event in events] == ids
    assert [len(event.actions) for event in events] == [1, 1, 1]
    assert (events[1].action, events[1].propensity, events[1].durable) == ("a17", 1.0, True)
    client.reward_many(dict.fromkeys(ids, 0.5))
    with pytest.raises(BatchRefusedError) as refused:
        client.rank_many([CONTEXT, CONTEXT], actions=[OFFER, []])
    first, second = refused.value.results
    assert isinstance(first, RankedEvent)
    assert (second.code, second.path) == ("invalid_request", "$.events[1].actions")
    with pytest.raises(InvalidArgumentError, match="2 items, one for each event"):
        client.rank_many([CONTEXT] * 2, actions=[OFFER])


def test_the_same_id_twice_is_a_conflict(client):
    with pytest.raises(RefusedError) as refused:
        client.rank(CONTEXT, actions=[OFFER[0], OFFER[0]])
    assert (refused.value.status, refused.value.code, refused.value.path) == (409, "action_conflict", "$.actions")


def test_a_number_that_json_does_not_have_is_refused_before_it_is_sent(client):
    value = float("inf")
    with pytest.raises(InvalidArgumentError, match=r"The '\$.actions\[1\].price' of a request must be a finite number"):
        client.rank(CONTEXT, actions=[OFFER[0], {**OFFER[1], "price": value}])
    with pytest.raises(InvalidArgumentError, match=r"The '\$.action.price' of a request must be a finite number"):
        client.learn(CONTEXT, {**OFFER[0], "price": value}, 1.0, propensity=0.5)
    with pytest.raises(InvalidArgumentError, match=r"The '\$.actions\[0\].id' of a request must be a finite number"):
        client.rank(CONTEXT, actions=[{**OFFER[0], "id": float("nan")}])


def test_events_from_elsewhere_are_learned_with_the_features_of_their_action(client):
    client.learn(CONTEXT, OFFER[0], 0.5, propensity=0.25, event_id="theirs")
    assert (client.explain("theirs")["action"], client.explain("theirs")["reward"]) == ("a17", 0.5)
    client.learn_many([CONTEXT] * 2, OFFER, [0.5, 1], propensities=[0.5, 0.25], event_ids=["l1", "l2"])
    assert client.explain("l2")["action"] == 18
    with pytest.raises(BatchRefusedError) as refused:
        client.learn_many([CONTEXT] * 2, [OFFER[0], {"id": 18}], [0.5, 1], propensities=[0.5, 0.25])
    assert refused.value.path == "$.events[1].action.kind"
    assert [isinstance(result, RefusedError) for result in refused.value.results] == [False, True]


def test_what_is_for_fixed_actions_is_refused(service, client):
    with pytest.raises(RefusedError) as refused:
        client.decide(CONTEXT)
    assert (refused.value.status, refused.value.code) == (404, "wrong_project")
    with Client(service.address, key=ADMIN_KEY) as admin:
        assert admin.actions() == {}


def test_the_same_without_blocking(service):
    async def use() -> None:
        async with AsyncClient(service.address, key=KEY) as client:
            events = await asyncio.gather(*(client.rank(CONTEXT, actions=OFFER) for _ in range(3)))
            await client.reward_many({event.event_id: 1.0 for event in events})
            await client.learn(CONTEXT, OFFER[1], 0.5, propensity=0.5)

    asyncio.run(use())
    with Client() as client:
        parameters = list(inspect.signature(client.rank).parameters)
    assert parameters == ["context", "actions", "event_id", "n_ranked", "mean_rewards"]


ITSELF: list[object] = []
ITSELF.append(ITSELF)


def test_estimates_of_an_id_that_is_a_float_are_those_of_the_int(client):
    offered = [{"id": 3.0, "price": 1.0, "kind": "phone"}]
    for _ in range(3):
        client.learn(CONTEXT, OFFER[0], 1.0, propensity=0.5)
    told = client.rank(CONTEXT, actions=offered, mean_rewards=True)
    assert list(told.mean_rewards) == told.actions == [3]


@pytest.mark.parametrize(
    "value",
    ["\ud800", {1, object()}, b"bytes", object(), 10**5000, ITSELF],
    ids=["half a character", "set", "bytes", "object", "digits", "itself"],
)
def test_what_json_cannot_hold_is_refused_before_it_is_sent(value):
    with Client("http://127.0.0.1:1") as client, pytest.raises(InvalidArgumentError, match="of a request must be"):
        client.rank(CONTEXT, actions=[OFFER[0] | {"kind": value}])


@pytest.mark.parametrize("actions", [None, "abc", [17], {"id": "a17"}])
def test_actions_that_are_no_list_of_mappings_are_refused_before_they_are_sent(client, actions):
    with pytest.raises(InvalidArgumentError, match="The 'actions' of the client must be a list of mappings"):
        client.rank(CONTEXT, actions=actions)
