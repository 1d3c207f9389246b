"""Strangers: what they send is neither kept nor reflected, and what is not HTTP is refused in the one shape."""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest
from running import ADMIN_KEY, CONTEXT, ENVIRONMENT, KEY, KEYS, Running, write_project


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory):
    with Running(write_project(tmp_path_factory.mktemp("strangers"), more=KEYS), environment=ENVIRONMENT) as running:
        yield running


def resident_bytes(service: Running) -> int:
    status = Path(f"/proc/{service.process.pid}/status").read_text()
    return 1024 * int(status.partition("VmRSS:")[2].split()[0])


def test_the_body_of_a_stranger_is_not_kept(service: Running) -> None:
    head = b"POST /v1/decide HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n"
    with ExitStack() as stack:
        connections = [
            stack.enter_context(socket.create_connection((service.host, service.port), timeout=30)) for _ in range(95)
        ]
        service.post("/v1/decide", {"context": CONTEXT}, key=KEY)
        before = resident_bytes(service)
        for connection in connections:
            connection.sendall(head + b"authorization: Bearer wrong\r\n\r\n" + b" " * 999_999)
        service.post("/v1/decide", {"context": CONTEXT}, key=KEY)
        assert resident_bytes(service) - before < 20_000_000
        for connection in connections:
            connection.sendall(b" ")
            assert connection.recv(1000).startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100),  # TLS
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"hello\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nhost 127.0.0.1\r\n\r\n",
        b"POST /v1/decide HTTP/1.1\r\ncontent-length: x\r\n\r\n",
        b"POST /v1/decide HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"POST /v1/decide HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_not_http_is_refused_in_the_one_shape(service: Running, nonsense: bytes) -> None:
    with socket.create_connection((service.host, service.port), timeout=10) as connection:
        connection.sendall(nonsense)
        told = b"".join(iter(lambda: connection.recv(65_536), b""))
    head, _, body = told.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert b"content-type: application/json" in head
    assert json.loads(body)["error"]["code"] == "invalid_http"


@pytest.mark.parametrize("path", ["/v1/decide/", "//evil.example/v1/status", "/v1//status/", "/docs/"])
def test_nothing_of_a_request_is_reflected(service: Running, path: str) -> None:
    for method in ("GET", "POST"):
        response = service.http.request(
            method, service.address + path, headers={"host": "evil.example", "authorization": f"Bearer {ADMIN_KEY}"}
        )
        assert response.status_code in (404, 405)
        assert "location" not in response.headers
        assert "evil" not in response.text
