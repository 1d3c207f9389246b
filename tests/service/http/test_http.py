"""The service over HTTP, in its own process: what it answers, what it refuses, and that refusing changes nothing."""

from __future__ import annotations

import math
import time

import pytest
from running import CONTEXT, Running, write_project

from bandit_forest import Bandit


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with Running(write_project(tmp_path_factory.mktemp("offers"), storage="snapshot_events = 20")) as running:
        yield running


def decide(service: Running, **more) -> dict:
    return service.post("/v1/decide", {"context": CONTEXT, **more})


def test_decide_then_reward(service):
    before = service.get("/v1/status")
    decision = decide(service)
    assert decision["action"] in ("basic", "plus", "gold")
    assert 0.0 < decision["propensity"] <= 1.0
    assert decision["model_version"] == before["model_version"]
    answer = service.post("/v1/reward", {"event_id": decision["event_id"], "reward": 1})
    assert answer == {"event_id": decision["event_id"], "reward": 1.0, "ignored": False}
    after = service.get("/v1/status")
    assert after["model_version"] == before["model_version"] + 1
    assert after["durable_seq"] == after["seq"] == before["seq"] + 2


def test_the_same_event_id_decides_the_same_action(service):
    first = decide(service, event_id="again")
    before = service.state()
    assert all(decide(service, event_id="again") == first for _ in range(20))
    assert service.state() == before


def test_available_actions_are_kept_to(service):
    for _ in range(10):
        assert decide(service, available_actions=["gold"])["action"] == "gold"


def test_mean_rewards_are_told_when_asked_for(service):
    assert "mean_rewards" not in decide(service)
    told = decide(service, mean_rewards=True, event_id="means")["mean_rewards"]
    assert set(told) == {"basic", "plus", "gold"}
    items = [{"context": CONTEXT, "event_id": name} for name in ("means", "new", "new")]
    batch = [items[0] | {"mean_rewards": True}, items[1], items[2] | {"mean_rewards": True}, {"context": {}}]
    decided = service.post("/v1/decide/batch", {"events": batch})["decisions"]
    assert [one.get("mean_rewards") for one in decided] == [told, None, told, None]
    assert decided[1] == {name: value for name, value in decided[2].items() if name != "mean_rewards"}


def test_a_second_reward_is_refused_and_not_learned(service):
    event_id = decide(service)["event_id"]
    service.post("/v1/reward", {"event_id": event_id, "reward": 0.5})
    before = service.state()
    service.refused(
        "/v1/reward", {"event_id": event_id, "reward": 1}, status=409, code="duplicate_reward", at="$.event_id"
    )
    assert service.state() == before


def test_batches_answer_or_refuse_each_event_on_its_own(service):
    events = [{"context": CONTEXT}, {"context": {**CONTEXT, "age": "old"}}, {"context": CONTEXT, "event_id": "third"}]
    first, second, third = service.post("/v1/decide/batch", {"events": events})["decisions"]
    assert second["error"]["path"] == "$.events[1].context.age"
    assert third["event_id"] == "third"
    rewards = [{"event_id": first["event_id"], "reward": 1}, {"event_id": "nobody", "reward": 1}]
    good, bad = service.post("/v1/reward/batch", {"rewards": rewards})["rewards"]
    assert good == {"event_id": first["event_id"], "reward": 1.0, "ignored": False}
    assert bad["error"]["code"] == "unknown_event"


def test_a_batch_of_five_hundred(service):
    decisions = service.post("/v1/decide/batch", {"events": [{"context": CONTEXT}] * 500})["decisions"]
    assert len({decision["event_id"] for decision in decisions}) == 500
    rewards = [{"event_id": decision["event_id"], "reward": 0} for decision in decisions]
    assert not any(item["ignored"] for item in service.post("/v1/reward/batch", {"rewards": rewards})["rewards"])


def test_events_from_elsewhere_are_learned_once(service):
    event = {"context": CONTEXT, "action": "plus", "reward": 1, "propensity": 0.5, "event_id": "theirs"}
    before = service.get("/v1/status")["model_version"]
    assert service.post("/v1/learn", event) == {"event_id": "theirs", "ignored": False}
    service.refused("/v1/learn", event, status=409, code="duplicate_reward", at="$.event_id")
    assert service.get("/v1/status")["model_version"] == before + 1
    new = event | {"event_id": None}
    batch = service.post("/v1/learn/batch", {"events": [new, new | {"action": "lead"}]})
    assert batch["events"][0]["ignored"] is False
    assert batch["events"][1]["error"]["path"] == "$.events[1].action"


def test_an_event_is_explained(service):
    decision = decide(service, event_id="why / so")
    told = service.get("/v1/explain/why%20%2F%20so")
    assert told["action"] == decision["action"]
    assert told["state"] == "waiting"
    assert set(told["mean_rewards"]) == {"basic", "plus", "gold"}
    assert service.get("/v1/explain/nobody", expect=404)["error"]["code"] == "unknown_event"
    for wrong in ("long" * 51, "%00"):
        refused = service.get(f"/v1/explain/{wrong}", expect=422)["error"]
        assert refused["message"].startswith("'$.event_id' must be a printable text of 1 to 200 characters. Got '")
    assert service.get("/v1/recent")["events"][0]["event_id"] == "why / so"


def test_actions_come_and_go_while_the_service_runs(service):
    assert service.post("/v1/actions/add", {"name": "lead"}) == {"name": "lead", "state": "enabled"}
    service.refused("/v1/actions/add", {"name": "lead"}, status=409, code="action_conflict", at="$.name")
    assert decide(service, available_actions=["lead"])["action"] == "lead"
    assert service.post("/v1/actions/disable", {"name": "lead"})["state"] == "disabled"
    service.refused(
        "/v1/decide",
        {"context": CONTEXT, "available_actions": ["lead"]},
        status=422,
        code="invalid_request",
        at="$.available_actions",
    )
    assert service.post("/v1/actions/enable", {"name": "lead"})["state"] == "enabled"
    assert service.post("/v1/actions/remove", {"name": "lead"})["state"] == "removed"
    service.refused("/v1/actions/enable", {"name": "tin"}, status=404, code="unknown_action", at="$.name")
    states = {action["name"]: action["state"] for action in service.get("/v1/status")["actions"]}
    assert states == {"basic": "enabled", "plus": "enabled", "gold": "enabled", "lead": "removed"}


def test_the_model_can_be_downloaded_and_goes_on(service, tmp_path):
    response = service.http.get("/v1/model")
    assert response.headers["content-type"] == "application/octet-stream"
    (tmp_path / "model.bandit").write_bytes(response.content)
    bandit = Bandit.load(tmp_path / "model.bandit")
    assert bandit.version == service.get("/v1/status")["model_version"]
    assert bandit.decide(CONTEXT).action in bandit.actions


def test_health_readiness_and_metrics(service):
    assert service.get("/healthz") == {"status": "alive"}
    assert service.get("/readyz") == {"status": "ready"}
    response = service.http.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    decisions = service.get("/v1/status")["decisions"]
    assert f"\nbandit_forest_decisions_total {decisions:.1f}\n" in response.text
    assert 'bandit_forest_request_seconds_bucket{le="+Inf",path="/v1/decide"}' in response.text


def test_the_page_is_served_safely(service):
    response = service.http.get("/")
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "unsafe" not in response.headers["content-security-policy"]
    unchanged = service.http.get("/", headers={"if-none-match": response.headers["etag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")


def test_importance_and_drawing(service):
    assert {one["name"] for one in service.get("/v1/importance")["variables"]} >= {"city = Paris", "member"}
    drawing = service.http.get("/v1/tree/0.svg")
    assert drawing.headers["content-type"] == "image/svg+xml"
    assert drawing.text.startswith("<svg")
    assert service.get("/v1/tree/5.svg", expect=404)["error"]["code"] == "not_found"
    assert service.get("/v1/tree/first.svg", expect=422)["error"]["path"] == "$.number"


@pytest.mark.parametrize(
    ("path", "body", "at"),
    [
        ("/v1/decide", [], "$"),
        ("/v1/decide", "text", "$"),
        ("/v1/decide", {}, "$.context"),
        ("/v1/decide", {"context": None}, "$.context"),
        ("/v1/decide", {"event_id": "kept"}, "$.context"),
        ("/v1/decide", {"event_id": "kept", "context": {**CONTEXT, "age": "old"}}, "$.context.age"),
        ("/v1/decide", {"context": {**CONTEXT, "age": "42"}}, "$.context.age"),
        ("/v1/decide", {"context": {**CONTEXT, "age": True}}, "$.context.age"),
        ("/v1/decide", {"context": {**CONTEXT, "city": "Rome"}}, "$.context.city"),
        ("/v1/decide", {"context": {**CONTEXT, "city": None}}, "$.context.city"),
        ("/v1/decide", {"context": {"age": 42, "city": "Paris"}}, "$.context.member"),
        ("/v1/decide", {"context": {**CONTEXT, "colour": 1}}, "$.context.colour"),
        ("/v1/decide", {"context": CONTEXT, "event_id": ""}, "$.event_id"),
        ("/v1/decide", {"context": CONTEXT, "event_id": 7}, "$.event_id"),
        ("/v1/decide", {"context": CONTEXT, "event_id": "x" * 201}, "$.event_id"),
        ("/v1/decide", {"context": CONTEXT, "event_id": "a\nb"}, "$.event_id"),
        ("/v1/decide", {"context": CONTEXT, "available_actions": []}, "$.available_actions"),
        ("/v1/decide", {"context": CONTEXT, "available_actions": "gold"}, "$.available_actions"),
        ("/v1/decide", {"context": CONTEXT, "available_actions": ["gold", "tin"]}, "$.available_actions"),
        ("/v1/decide", {"context": CONTEXT, "action": "gold"}, "$.action"),
        ("/v1/decide", {"context": CONTEXT, "mean_rewards": 1}, "$.mean_rewards"),
        ("/v1/decide", {"context": CONTEXT, "reward": 1}, "$.reward"),
        ("/v1/decide/batch", {}, "$.events"),
        ("/v1/decide/batch", {"events": {}}, "$.events"),
        ("/v1/decide/batch", {"events": [{"context": CONTEXT}] * 1001}, "$.events"),
        ("/v1/reward", {"reward": 1}, "$.event_id"),
        ("/v1/reward", {"event_id": "kept"}, "$.reward"),
        ("/v1/reward", {"event_id": "kept", "reward": "1"}, "$.reward"),
        ("/v1/reward", {"event_id": "kept", "reward": 1.5}, "$.reward"),
        ("/v1/reward", {"event_id": "kept", "reward": True}, "$.reward"),
        ("/v1/learn", {"context": CONTEXT, "action": "gold", "reward": 1}, "$.propensity"),
        ("/v1/learn", {"context": CONTEXT, "action": "gold", "reward": 1, "propensity": 0}, "$.propensity"),
        ("/v1/actions/add", {}, "$.name"),
        ("/v1/actions/add", {"name": ["a"]}, "$.name"),
    ],
)
def test_a_malformed_request_is_refused_with_its_place_and_changes_nothing(service, path, body, at):
    decide(service, event_id="kept")
    before = service.state()
    service.refused(path, body, status=422, code="invalid_request", at=at)
    assert service.state() == before


@pytest.mark.parametrize(
    ("content", "headers", "status", "code"),
    [
        (b"{", {"content-type": "application/json"}, 400, "invalid_json"),
        (b'{"context": NaN}', {"content-type": "application/json"}, 400, "invalid_json"),
        (b"{}", {"content-type": "text/plain"}, 415, "unsupported_media_type"),
        (b" " * (2**20 + 1), {"content-type": "application/json"}, 413, "too_large"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(service, content, headers, status, code):
    before = service.state()
    response = service.http.post("/v1/decide", content=content, headers=headers)
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    assert service.state() == before


def test_a_body_without_a_declared_size_is_limited_too(service):
    parts = (b" " * 10_000 for _ in range(200))
    response = service.http.post("/v1/decide", content=parts, headers={"content-type": "application/json"})
    assert response.status_code == 413


def test_a_reward_is_refused_for_an_event_that_nobody_knows(service):
    service.refused(
        "/v1/reward", {"event_id": "nobody", "reward": 1}, status=404, code="unknown_event", at="$.event_id"
    )


def test_what_is_not_there_and_what_is_not_allowed_look_the_same(service):
    assert service.get("/v1/nothing", expect=404)["error"]["code"] == "not_found"
    response = service.http.put("/v1/decide", json={})
    assert (response.status_code, response.json()["error"]["code"]) == (405, "method_not_allowed")
    assert response.headers["allow"] == "POST"


def test_no_answer_holds_what_json_does_not_have(service):
    status = service.get("/v1/status")
    assert all(math.isfinite(value) for value in status.values() if isinstance(value, float))


def test_a_stop_finishes_and_a_start_goes_on(tmp_path):
    project = write_project(tmp_path)
    with Running(project) as service:
        decision = decide(service, event_id="before")
        service.post("/v1/reward", {"event_id": "before", "reward": 1})
        waiting = decide(service)
        model = service.http.get("/v1/model").content
        assert service.stop() in (0, -15)
    with Running(project) as service:
        assert service.http.get("/v1/model").content == model
        assert decide(service, event_id="before") == decision
        assert service.post("/v1/reward", {"event_id": waiting["event_id"], "reward": 0})["ignored"] is False


def test_rewards_after_the_window_are_refused_and_the_event_expires(tmp_path):
    project = write_project(tmp_path, more="[reward]\nwindow_seconds = 0.05\ndefault = 0.0\n")
    with Running(project) as service:
        event_id = decide(service)["event_id"]
        until = time.monotonic() + 10
        while not (status := service.get("/v1/status"))["expired"] and time.monotonic() < until:
            time.sleep(0.05)
        assert (status["expired"], status["waiting"], status["model_version"]) == (1, 0, 1)
        service.refused(
            "/v1/reward", {"event_id": event_id, "reward": 1}, status=410, code="late_reward", at="$.event_id"
        )
        assert service.get(f"/v1/explain/{event_id}")["state"] == "expired"


def test_a_second_reward_can_be_ignored(tmp_path):
    project = write_project(tmp_path, more='[reward]\nlow = -1\nhigh = 1\non_duplicate = "ignore"\n')
    with Running(project) as service:
        event_id = decide(service)["event_id"]
        assert service.post("/v1/reward", {"event_id": event_id, "reward": -0.5})["ignored"] is False
        again = service.post("/v1/reward", {"event_id": event_id, "reward": 1})
        assert again == {"event_id": event_id, "reward": -0.5, "ignored": True}
        assert service.get("/v1/status")["model_version"] == 1


def test_shadow_mode_learns_from_the_applications_choice(tmp_path):
    with Running(write_project(tmp_path, project='mode = "shadow"')) as service:
        service.refused("/v1/decide", {"context": CONTEXT}, status=422, code="invalid_request", at="$.action")
        decision = decide(service, action="plus", propensity=0.5)
        assert (decision["action"], decision["propensity"]) == ("plus", 0.5)
        assert decision["forest_action"] in ("basic", "plus", "gold")
        assert set(decision) >= {"forest_propensity", "forest_value"}
        service.post("/v1/reward", {"event_id": decision["event_id"], "reward": 1})
        assert service.get("/v1/status")["model_version"] == 1


def test_bins_are_learned_from_the_first_events(tmp_path):
    project = write_project(tmp_path, project="warm_up_events = 10")
    project.write_text(project.read_text().replace("edges = [30, 50]", "bins = 3"))
    with Running(project) as service:
        assert service.get("/v1/model", expect=404)["error"]["code"] == "warming_up"
        assert service.get("/v1/importance", expect=404)["error"]["code"] == "warming_up"
        for age in range(10):
            decision = service.post("/v1/decide", {"context": {**CONTEXT, "age": age}})
            assert decision["propensity"] == pytest.approx(1 / 3)
            service.post("/v1/reward", {"event_id": decision["event_id"], "reward": 1})
        assert service.get("/v1/status")["warm_up_left"] == 0
        assert "age" in " ".join(one["name"] for one in service.get("/v1/importance")["variables"])


LEARNED = {"action": "plus", "reward": 1.0, "propensity": 0.5}


@pytest.mark.parametrize(("path", "body"), [("/v1/decide", {}), ("/v1/learn", LEARNED)])
def test_an_unknown_feature_is_refused_with_the_nearest_name_alone_and_in_a_batch(service, path, body):
    wrong, before = body | {"context": CONTEXT | {"agee": 1}}, service.state()
    error = service.post(path, wrong, expect=422)["error"]
    assert (error["code"], error["path"]) == ("invalid_request", "$.context.agee")
    assert "did you mean 'age'? Got 1 instead." in error["message"]
    items = next(iter(service.post(f"{path}/batch", {"events": [wrong, wrong]}).values()))
    assert [item["error"]["path"] for item in items] == [f"$.events[{number}].context.agee" for number in range(2)]
    assert all("did you mean 'age'?" in item["error"]["message"] for item in items)
    assert service.state() == before
