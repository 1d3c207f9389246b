"""The name that a request is sent to: a page of somebody else must not reach the service under a name of its own."""

from __future__ import annotations

import socket

import pytest
from running import CONTEXT, ENVIRONMENT, KEY, KEYS, Running, write_project

PATHS = ["/", "/v1/status", "/v1/model", "/openapi.json", "/healthz"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory):
    with Running(
        write_project(tmp_path_factory.mktemp("hosts"), more='[server]\nhosts = ["Offers.example"]\n')
    ) as running:
        yield running


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8420", "127.0.0.1.evil.example", "", "[::2]:80"])
def test_a_service_without_keys_answers_to_no_other_name(service: Running, host: str) -> None:
    before = service.state()
    for path in PATHS:
        response = service.http.get(path, headers={"host": host})
        assert (response.status_code, response.json()["error"]["code"]) == (403, "unknown_host")
    for path, body in (("/v1/actions/add", {"name": "evil"}), ("/v1/decide", {"context": CONTEXT})):
        assert service.http.post(path, json=body, headers={"host": host}).status_code == 403
    assert service.state() == before


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8420", "LOCALHOST", "[::1]:99", "offers.example:443"])
def test_a_service_answers_to_loopback_and_to_the_names_of_its_project(service: Running, host: str) -> None:
    assert [service.http.get(path, headers={"host": host}).status_code for path in PATHS] == [200] * len(PATHS)


def test_a_program_may_leave_the_name_out(service: Running) -> None:
    with socket.create_connection((service.host, service.port), timeout=10) as connection:
        connection.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(("hosts", "status"), [("", 200), ('[server]\nhosts = ["offers.example"]\n', 403)])
def test_with_keys_a_service_answers_to_any_name_unless_the_project_says_which(tmp_path, hosts, status):
    with Running(write_project(tmp_path, more=KEYS + hosts), environment=ENVIRONMENT) as service:
        headers = {"host": "other.example", "authorization": f"Bearer {KEY}"}
        response = service.http.post("/v1/decide", json={"context": CONTEXT}, headers=headers)
        assert response.status_code == status
