"""Keys, rates and sizes: who gets in, how often, and with how much."""

from __future__ import annotations

import hashlib
import inspect

import pytest
from projects import refuses
from running import ADMIN_KEY, CONTEXT, ENVIRONMENT, KEY, KEYS, Running, write_project

from bandit_forest.cli import main
from bandit_forest.service.config.access import Keys
from bandit_forest.service.http import authentication
from bandit_forest.service.http.authentication import Access, RateLimit, Role

PUBLIC = frozenset({"/", "/healthz"})


def digest(key: str) -> str:
    return "sha256:" + hashlib.sha256(key.encode()).hexdigest()


def access(*, per_second: float = 0.0) -> Access:
    keys = Keys(decide=(digest("decide-key"), digest("other-key")), admin=(digest("admin-key"),))
    return Access(keys, requests_per_second=per_second, public=PUBLIC)


@pytest.mark.parametrize("path", ["/v1/decide", "/v1/reward/batch", "/v1/explain/some/event"])
@pytest.mark.parametrize("key", [b"decide-key", b"other-key", b"admin-key"])
def test_every_key_opens_what_applications_need(path, key):
    access().admit(path, b"Bearer " + key, 0.0)


@pytest.mark.parametrize("path", ["/metrics", "/v1/status", "/v1/actions/add", "/v1/model", "/what/comes/later"])
def test_everything_else_needs_a_key_for_administration(path):
    access().admit(path, b"bearer admin-key", 0.0)
    with refuses("forbidden"):
        access().admit(path, b"Bearer decide-key", 0.0)


@pytest.mark.parametrize(
    "header", [None, b"", b"Bearer", b"Bearer wrong", b"Basic decide-key", b"decide-key", b"Bearer decide-key2"]
)
@pytest.mark.parametrize("path", ["/v1/decide", "/metrics"])
def test_no_key_or_a_wrong_one_is_refused_without_telling_it(path, header):
    with refuses("unauthorized") as refused:
        access().admit(path, header, 0.0)
    assert "decide-key" not in str(refused.value)


def test_public_paths_need_no_key_and_have_no_limit():
    gate = access(per_second=1.0)
    for _ in range(5):
        gate.admit("/healthz", None, 0.0)


def test_a_project_without_keys_is_open():
    Access(Keys(), requests_per_second=0.0, public=PUBLIC).admit("/v1/actions/add", None, 0.0)


def test_keys_are_compared_in_constant_time_and_all_of_them():
    source = inspect.getsource(authentication)
    assert "compare_digest" in source
    assert "break" not in source


def test_each_key_has_a_rate_of_its_own():
    gate = access(per_second=3.0)
    for _ in range(3):
        gate.admit("/v1/decide", b"Bearer decide-key", 10.0)
    with refuses("rate_limited"):
        gate.admit("/v1/decide", b"Bearer decide-key", 10.1)
    gate.admit("/v1/decide", b"Bearer other-key", 10.1)
    gate.admit("/v1/decide", b"Bearer decide-key", 10.4)


def test_a_rate_below_one_a_second_lets_one_through_now_and_then():
    limit = RateLimit(0.5)
    assert [limit.admits(b"k", now) for now in (0.0, 1.0, 2.0, 2.5)] == [True, False, True, False]


def test_roles_are_ordered():
    assert Role.PUBLIC < Role.DECIDE < Role.ADMIN


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    limits = "[limits]\nrequests_per_second = 20\n"
    project = write_project(tmp_path_factory.mktemp("guarded"), more=KEYS + limits)
    with Running(project, environment=ENVIRONMENT) as running:
        yield running


@pytest.mark.parametrize("path", ["/", "/healthz", "/readyz"])
def test_a_guarded_service_shows_what_is_public(guarded, path):
    assert guarded.http.get(path).status_code == 200


@pytest.mark.parametrize(
    "path",
    ["/metrics", "/v1/status", "/v1/model", "/v1/recent", "/v1/importance", "/openapi.json", "/nothing"],
)
def test_a_guarded_service_tells_strangers_nothing(guarded, path):
    response = guarded.http.get(path)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.json()["error"]["code"] == "unauthorized"


def test_a_guarded_service_separates_deciding_from_administration(guarded):
    decision = guarded.post("/v1/decide", {"context": CONTEXT}, key=KEY)
    guarded.post("/v1/reward", {"event_id": decision["event_id"], "reward": 1}, key=KEY)
    guarded.post("/v1/actions/disable", {"name": "gold"}, key=KEY, expect=403)
    guarded.post("/v1/actions/disable", {"name": "gold"}, key=ADMIN_KEY)
    guarded.post("/v1/decide", {"context": CONTEXT}, expect=401)
    guarded.post("/v1/decide", {"context": CONTEXT}, key=KEY[:-1], expect=401)


def test_a_guarded_service_describes_its_keys(guarded):
    described = guarded.http.get("/openapi.json", headers={"authorization": f"Bearer {KEY}"}).json()
    assert described["components"]["securitySchemes"] == {"key": {"type": "http", "scheme": "bearer"}}
    assert described["paths"]["/v1/decide"]["post"]["security"] == [{"key": []}]
    assert described["paths"]["/v1/status"]["get"]["security"] == [{"key": []}]
    assert "security" not in described["paths"]["/healthz"]["get"]


def test_a_guarded_service_limits_the_rate_of_each_key(guarded):
    statuses = {
        guarded.http.post("/v1/reward", json={}, headers={"authorization": f"Bearer {KEY}"}).status_code
        for _ in range(60)
    }
    assert statuses == {422, 429}
    guarded.post("/v1/actions/enable", {"name": "gold"}, key=ADMIN_KEY)


def test_secrets_are_neither_logged_nor_stored(tmp_path):
    project = write_project(tmp_path, more=KEYS)
    with (tmp_path / "log").open("w") as log, Running(project, environment=ENVIRONMENT, log=log) as service:
        service.post("/v1/decide", {"context": CONTEXT}, key=KEY)
        service.post("/v1/decide", {"context": CONTEXT}, key="wrong-secret-of-offers", expect=401)
        service.post("/v1/decide", {"context": 1}, key=KEY, expect=422)
        service.stop()
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert b"-secret" not in file.read_bytes(), file


def test_a_service_for_others_needs_keys(tmp_path, monkeypatch):
    project = write_project(tmp_path)
    monkeypatch.setattr("sys.argv", ["bandit-forest", "serve", str(project), "--host", "0.0.0.0"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert "[keys]" in str(ended.value.code)
