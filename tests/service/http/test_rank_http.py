"""`POST /v1/rank` and all around it, on a running service: answers, refusals, pages, a saved bandit, kills."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from offered_projects import CONTEXT, OFFER, context, offer, write_offered_project
from running import ENVIRONMENT, KEY, KEYS, Running, write_project

from bandit_forest.bandit.pairs import PairBandit

FIXED_PATHS = ("/v1/decide", "/v1/decide/batch", *(f"/v1/actions/{what}" for what in ("add", "disable", "remove")))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory):
    with Running(write_offered_project(tmp_path_factory.mktemp("offered"))) as running:
        rng = random.Random(1)
        for number in range(200):
            given, offered = context(rng), offer(rng)
            ranked = running.post("/v1/rank", {"context": given, "actions": offered, "event_id": f"e{number}"})
            chosen = next(action for action in offered if action["id"] == ranked["action"])
            liked = (given["age"] >= 50) == ((chosen["price"] or 0) >= 10)
            running.post("/v1/reward", {"event_id": f"e{number}", "reward": float(liked)})
        yield running


def test_a_ranking_has_ids_as_they_came_and_its_propensities(service: Running) -> None:
    body = {"event_id": "new", "context": CONTEXT, "actions": OFFER, "mean_rewards": True}
    told = service.post("/v1/rank", body)
    assert list(told) == ["event_id", "action", "propensity", "ranking", "model_version", "mean_rewards"]
    assert {one["id"] for one in told["ranking"]} == {"a17", 18}
    assert told["ranking"][0] == {"id": told["action"], "propensity": told["propensity"]}
    assert set(told["mean_rewards"]) == {"a17", "18"}
    assert told["model_version"] == 200
    assert service.post("/v1/rank", body) == told
    service.refused("/v1/rank", body | {"n_ranked": 1}, status=409, code="event_conflict", at="$.event_id")
    without = service.post("/v1/rank", {"context": CONTEXT, "actions": OFFER, "n_ranked": 1})
    assert (len(without["ranking"]), "mean_rewards" in without) == (1, False)
    assert service.post("/v1/rank", {"context": CONTEXT, "actions": OFFER})["event_id"] != without["event_id"]


def test_a_batch_is_what_one_after_the_other_would_be(service: Running) -> None:
    body = {"context": CONTEXT, "actions": OFFER}
    alone = service.post("/v1/rank", body | {"event_id": "b1"})
    before = service.state()["decisions"]
    events = [
        *(body | {"event_id": name} for name in ("b1", "b2", "b2")),
        *(body | {"event_id": name, "n_ranked": 1} for name in ("b1", "b3")),
        *(
            body | {"actions": []},
            {"context": CONTEXT, "actions": [{"id": 1}]},
            body | {"actions": [OFFER[0], OFFER[0]]},
        ),
    ]
    told = service.post("/v1/rank/batch", {"events": events})["rankings"]
    assert told[0] == alone
    assert told[1] == told[2] == service.post("/v1/rank", body | {"event_id": "b2"})
    assert len(told[4]["ranking"]) == 1
    refusals = [
        (number, one["error"]["code"], one["error"]["path"]) for number, one in enumerate(told) if "error" in one
    ]
    assert refusals == [
        (3, "event_conflict", "$.events[3].event_id"),
        (5, "invalid_request", "$.events[5].actions"),
        (6, "invalid_request", "$.events[6].actions[0].kind"),
        (7, "action_conflict", "$.events[7].actions"),
    ]
    assert service.state()["decisions"] == before + 2


def test_rewards_and_events_from_elsewhere_are_learned_alone_and_in_batches(service: Running) -> None:
    before = service.get("/v1/status")["model_version"]
    event = {"context": CONTEXT, "action": OFFER[1], "reward": 1, "propensity": 0.5}
    assert service.post("/v1/learn", event | {"event_id": "l1"}) == {"event_id": "l1", "ignored": False}
    told = service.post("/v1/learn/batch", {"events": [event, event | {"action": {"id": 1}}]})["events"]
    assert told[1]["error"]["path"] == "$.events[1].action.kind"
    service.post("/v1/rank", {"context": CONTEXT, "actions": OFFER, "event_id": "rewarded"})
    rewards = {"rewards": [{"event_id": "rewarded", "reward": 1}, {"event_id": "nobody", "reward": 1}]}
    assert [one.get("ignored") for one in service.post("/v1/reward/batch", rewards)["rewards"]] == [False, None]
    assert service.get("/v1/status")["model_version"] == before + 3


@pytest.mark.parametrize("path", FIXED_PATHS)
def test_what_is_for_fixed_actions_is_refused_in_one_sentence(service: Running, path: str) -> None:
    told = service.post(path, {"context": CONTEXT}, expect=404)["error"]
    assert told == {
        "code": "wrong_project",
        "message": f"{path} is for projects whose actions are fixed; those of this one are offered by each event.",
    }
    assert service.get(path, expect=404)["error"]["code"] == "wrong_project"


def test_a_project_with_fixed_actions_refuses_rankings(tmp_path: Path) -> None:
    with Running(write_project(tmp_path)) as service:
        told = service.post("/v1/rank", {"context": CONTEXT, "actions": OFFER}, expect=404)["error"]
        assert told["code"] == "wrong_project"
        assert told["message"] == (
            "/v1/rank is for projects whose actions are offered by each event; those of this one are fixed."
        )


def test_the_description_has_the_features_of_offered_actions_and_the_limits(service: Running) -> None:
    described = service.get("/openapi.json")
    assert "/v1/rank" in described["paths"]
    assert not {*FIXED_PATHS} & {*described["paths"]}
    schemas = described["components"]["schemas"]
    actions = schemas["RankRequest"]["properties"]["actions"]
    assert (actions["minItems"], actions["maxItems"]) == (1, 256)
    assert set(actions["items"]["properties"]) == {"id", "price", "kind"}
    assert actions["items"]["required"] == ["id", "kind"]
    assert schemas["LearnOfferedRequest"]["properties"]["action"] == actions["items"]


def test_all_that_is_read_tells_of_both_sides(service: Running) -> None:
    importance = service.get("/v1/importance")
    assert {one["name"] for one in importance["features"]} == {
        "context.age",
        "context.member",
        "action.price",
        "action.kind",
    }
    assert {"age", "member", "price", "kind = phone"} <= {one["name"] for one in importance["variables"]}
    assert service.http.get("/v1/tree/0.svg").text.startswith("<svg")
    service.post("/v1/rank", {"context": CONTEXT, "actions": OFFER, "event_id": "why"})
    assert set(service.get("/v1/explain/why")["explanation"]["mean_rewards"]) == {"a17", "18"}
    assert service.get("/v1/recent")["events"][0]["event_id"] == "why"
    assert service.get("/v1/evaluation")["policies"][0]["policy"] == "uniform"
    assert 'bandit_forest_request_seconds_count{path="/v1/rank"}' in service.http.get("/metrics").text


def test_the_saved_bandit_goes_on_alone_and_in_another_folder(service: Running, tmp_path: Path) -> None:
    (tmp_path / "saved.bandit").write_bytes(service.http.get("/v1/model").content)
    bandit = PairBandit.load(tmp_path / "saved.bandit")
    assert bandit.version == service.get("/v1/status")["model_version"]
    body = {"context": CONTEXT, "actions": OFFER, "event_id": "the same"}
    told = service.post("/v1/rank", body)
    assert bandit.decide(CONTEXT, actions=OFFER, key="the same")[:2] == (told["action"], told["propensity"])
    project = write_offered_project(tmp_path)
    with Running(project, options=["--from", str(tmp_path / "saved.bandit")]) as other:
        assert other.post("/v1/rank", body) == told
        other.post("/v1/reward", {"event_id": "the same", "reward": 1})
        other.kill()
    with Running(project) as again:
        assert again.get("/v1/status")["model_version"] == bandit.version + 1


def test_keys_for_deciding_rank_too(tmp_path: Path) -> None:
    with Running(write_offered_project(tmp_path, more=KEYS), environment=ENVIRONMENT) as service:
        body = {"context": CONTEXT, "actions": OFFER}
        service.post("/v1/rank", body, expect=401)
        service.post("/v1/rank", body, key=KEY)
        service.post("/v1/decide", body, key=KEY, expect=404)
