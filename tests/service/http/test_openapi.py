"""The description against the service: schemathesis sends what fits it and what does not; bad bodies change nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from offered_projects import CONTEXT as OFFER_CONTEXT
from offered_projects import OFFER, write_offered_project
from running import CONTEXT, Running, write_project

HOOKS = """
import string
import schemathesis
from hypothesis import strategies as st

letters = string.ascii_letters + string.digits + " -_./é"
schemathesis.openapi.format("printable", st.text(letters, min_size=1, max_size=200))
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with Running(write_project(tmp_path_factory.mktemp("described"))) as running:
        yield running


@pytest.fixture(scope="module")
def offered_service(tmp_path_factory):
    with Running(write_offered_project(tmp_path_factory.mktemp("offered"))) as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["service", "offered_service"])
def test_schemathesis_finds_the_service_as_it_is_described(kind, request, tmp_path):
    """All its checks: no 5xx, described answers only, what fits is taken and what does not is refused."""
    service = request.getfixturevalue(kind)
    (tmp_path / "hooks.py").write_text(HOOKS)
    command = [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "run"]
    options = ["--no-color", "--seed", "1", "--max-examples", "5", "--suppress-health-check", "all"]
    ended = subprocess.run(
        [*command, f"{service.address}/openapi.json", *options],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"SCHEMATHESIS_HOOKS": str(tmp_path / "hooks.py")},
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
BODIES = {
    "/v1/decide": {"context": CONTEXT, "event_id": "fuzz", "available_actions": ["gold"], "mean_rewards": True},
    "/v1/decide/batch": {"events": [{"context": CONTEXT, "event_id": "fuzz"}]},
    "/v1/reward": {"event_id": "waits", "reward": 1},
    "/v1/reward/batch": {"rewards": [{"event_id": "waits", "reward": 1}]},
    "/v1/learn": {"context": CONTEXT, "action": "gold", "reward": 1, "propensity": 0.5, "event_id": "fuzz"},
    "/v1/learn/batch": {"events": [{"context": CONTEXT, "action": "gold", "reward": 1, "propensity": 0.5}]},
    "/v1/actions/add": {"name": "lead"},
    "/v1/actions/disable": {"name": "gold"},
    "/v1/actions/enable": {"name": "gold"},
    "/v1/actions/remove": {"name": "gold"},
}


OFFERED_BODIES = {
    "/v1/rank": {"context": OFFER_CONTEXT, "actions": OFFER, "event_id": "fuzz", "n_ranked": 1, "mean_rewards": True},
    "/v1/rank/batch": {"events": [{"context": OFFER_CONTEXT, "actions": OFFER, "event_id": "fuzz"}]},
    "/v1/reward": BODIES["/v1/reward"],
    "/v1/reward/batch": BODIES["/v1/reward/batch"],
    "/v1/learn": {"context": OFFER_CONTEXT, "action": OFFER[0], "reward": 1, "propensity": 0.5, "event_id": "fuzz"},
    "/v1/learn/batch": {"events": [{"context": OFFER_CONTEXT, "action": OFFER[1], "reward": 1, "propensity": 0.5}]},
    "/v1/decide": BODIES["/v1/decide"],
}


@st.composite
def bad_bodies(draw, bodies) -> tuple[str, bytes]:
    """Take a good body, and put something else somewhere into it; or cut it, or change a byte."""
    path = draw(st.sampled_from(sorted(bodies)))
    body = json.loads(json.dumps(bodies[path]))
    if draw(st.booleans()):
        places = list(_places(body))
        holder, key = draw(st.sampled_from(places))
        holder[key] = draw(VALUES)
        return path, json.dumps(body).encode("utf-8", "surrogatepass")
    text = json.dumps(body).encode()
    at = draw(st.integers(0, len(text) - 1))
    return path, draw(st.sampled_from([text[:at], text[:at] + bytes([draw(st.integers(0, 255))]) + text[at + 1 :]]))


def _places(value):
    """Return every place of a JSON value that can hold something else."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(inner, (dict, list)):
            yield from _places(inner)


@settings(max_examples=200, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(body=bad_bodies(BODIES))
def test_a_bad_body_is_refused_and_changes_nothing(service, body):
    check_body(service, *body)


@settings(max_examples=200, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(body=bad_bodies(OFFERED_BODIES))
def test_a_bad_body_is_refused_where_actions_are_offered(offered_service, body):
    check_body(offered_service, *body)


def check_body(service, path, content):
    """Send a body: it is answered, or refused without any change."""
    before = service.state()
    response = service.http.post(path, content=content, headers={"content-type": "application/json"})
    assert response.status_code < 500, response.text
    told = response.json()
    if response.status_code == 200 and path.endswith("batch"):
        (items,) = told.values()
        refused = all("error" in item for item in items)
    else:
        refused = response.status_code >= 400
    if refused:
        assert service.state() == before
