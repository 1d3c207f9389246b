"""The connection itself, byte by byte: several requests at once, waiting for leave to send, hanging up in the midst."""

from __future__ import annotations

import json
import socket

import pytest
from running import CONTEXT, Running, write_project


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with Running(write_project(tmp_path_factory.mktemp("bytes"))) as running:
        yield running


@pytest.fixture
def connection(service):
    with socket.create_connection((service.host, service.port), timeout=10) as made:
        yield made


def request(body: object, *headers: str, path: str = "/v1/decide") -> bytes:
    content = json.dumps(body).encode()
    lines = [f"POST {path} HTTP/1.1", "host: here", "content-type: application/json", *headers]
    return "\r\n".join([*lines, f"content-length: {len(content)}", "", ""]).encode() + content


def answer(connection: socket.socket) -> tuple[int, dict]:
    """Read one answer, and nothing more."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += connection.recv(1)
    length = int(head.partition(b"content-length: ")[2].partition(b"\r")[0])
    body = b""
    while len(body) < length:
        body += connection.recv(length - len(body))
    return int(head.split()[1]), json.loads(body)


def test_requests_sent_together_are_answered_in_order(connection):
    names = [f"together-{number}" for number in range(20)]
    connection.sendall(b"".join(request({"context": CONTEXT, "event_id": name}) for name in names))
    assert [answer(connection)[1]["event_id"] for _ in names] == names


def test_leave_to_send_a_body_is_given_at_once(connection):
    head, _, body = request({"context": CONTEXT}, "expect: 100-continue").partition(b"\r\n\r\n")
    connection.sendall(head + b"\r\n\r\n")
    assert connection.recv(100).startswith(b"HTTP/1.1 100")
    connection.sendall(body)
    assert answer(connection)[0] == 200


def test_a_connection_is_closed_after_its_last_answer_when_asked(connection):
    connection.sendall(request({"context": CONTEXT}, "connection: close"))
    assert answer(connection)[0] == 200
    assert connection.recv(1) == b""


def test_a_body_that_is_too_large_ends_the_connection_after_the_answer(connection):
    connection.sendall(b"POST /v1/decide HTTP/1.1\r\nhost: here\r\ncontent-length: 999999999\r\n\r\n")
    assert answer(connection)[0] == 413
    assert connection.recv(1) == b""


def test_hanging_up_in_the_midst_of_a_request_changes_nothing(service):
    before = service.state()
    whole = request({"context": CONTEXT})
    for cut in (10, len(whole) - 1):
        with socket.create_connection((service.host, service.port)) as connection:
            connection.sendall(whole[:cut])
    assert service.state() == before


def test_hanging_up_before_the_answer_does_not_undo_the_decision(service):
    with socket.create_connection((service.host, service.port)) as connection:
        connection.sendall(request({"context": CONTEXT, "event_id": "hung-up"}))
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)
    assert service.get("/v1/explain/hung-up")["state"] == "waiting"


def test_a_large_answer_arrives_whole(connection):
    connection.sendall(request({"events": [{"context": CONTEXT}] * 1000}, path="/v1/decide/batch"))
    assert len(answer(connection)[1]["decisions"]) == 1000


@pytest.mark.parametrize("start", [b"GET /", b"GET / HTTP/1.1\r\nname: "])
def test_a_head_that_does_not_end_is_refused(connection, start):
    connection.sendall(start + b"a" * 70_000)
    assert connection.recv(1000).startswith(b"HTTP/1.1 400 ")


def test_a_large_body_in_parts_is_no_head(connection):
    body = json.dumps({"context": CONTEXT}).encode()
    head = "POST /v1/decide HTTP/1.1\r\nhost: here\r\ncontent-type: application/json\r\n"
    connection.sendall(f"{head}content-length: {500_000 + len(body)}\r\n\r\n".encode())
    for _ in range(5):
        connection.sendall(b" " * 100_000)
    connection.sendall(body)
    assert answer(connection)[0] == 200
