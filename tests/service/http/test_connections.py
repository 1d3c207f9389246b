"""The connection itself, byte by byte: several requests at once, waiting for leave to send, hanging up in the midst."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from projects import context, make_project
from running import CONTEXT, Running, write_project

from bandit_forest.service.http.server import HttpServer
from bandit_forest.service.recovery.start import Service


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
    lines = [f"POST {path} HTTP/1.1", "host: 127.0.0.1", "content-type: application/json", *headers]
    return "\r\n".join([*lines, f"content-length: {len(content)}", "", ""]).encode() + content


def answer(connection: socket.socket) -> tuple[int, dict]:
    """Read one answer, and nothing more."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        part = connection.recv(1)
        assert part, head
        head += part
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
    connection.sendall(b"POST /v1/decide HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 999999999\r\n\r\n")
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
    until = time.monotonic() + 10
    while service.http.get("/v1/explain/hung-up").status_code == 404 and time.monotonic() < until:
        time.sleep(0.01)
    assert service.get("/v1/explain/hung-up")["state"] == "waiting"


@pytest.mark.parametrize("n_requests", [1, 20])
def test_a_client_that_has_ended_its_side_is_answered(connection, n_requests):
    names = [f"half-closed-{n_requests}-{number}" for number in range(n_requests)]
    connection.sendall(b"".join(request({"context": CONTEXT, "event_id": name}) for name in names))
    connection.shutdown(socket.SHUT_WR)
    assert [answer(connection)[1]["event_id"] for _ in names] == names
    assert connection.recv(1) == b""


def test_a_client_that_has_ended_its_side_gets_a_large_answer_whole(connection):
    connection.sendall(request({"events": [{"context": CONTEXT}] * 1000}, path="/v1/decide/batch"))
    connection.shutdown(socket.SHUT_WR)
    time.sleep(0.2)
    assert len(answer(connection)[1]["decisions"]) == 1000
    assert connection.recv(1) == b""


@pytest.mark.parametrize("part", [b"", request({"context": CONTEXT})[:-1]], ids=["nothing", "half a request"])
def test_a_client_that_has_ended_its_side_without_a_whole_request_is_left(connection, part):
    connection.sendall(request({"context": CONTEXT}) + part)
    assert answer(connection)[0] == 200
    connection.shutdown(socket.SHUT_WR)
    assert connection.recv(1) == b""


def test_a_large_answer_arrives_whole(connection):
    connection.sendall(request({"events": [{"context": CONTEXT}] * 1000}, path="/v1/decide/batch"))
    assert len(answer(connection)[1]["decisions"]) == 1000


@pytest.mark.parametrize("start", [b"GET /", b"GET / HTTP/1.1\r\nname: "])
def test_a_head_that_does_not_end_is_refused(connection, start):
    connection.sendall(start + b"a" * 70_000)
    assert connection.recv(1000).startswith(b"HTTP/1.1 400 ")


LONG = b"a" * 80_000


@pytest.mark.parametrize(
    "head",
    [
        b"GET /healthz HTTP/1.1\r\nname: %b\r\n\r\n" % LONG,
        b"GET /healthz?%b HTTP/1.1\r\n\r\n" % LONG,
        b"GET /healthz HTTP/1.1\r\nname:%ba\r\n\r\n" % LONG.replace(b"a", b" "),
        b"GET /healthz HTTP/1.1\r\n%b\r\n" % (b"name: value\r\n" * 6000),
    ],
    ids=["header", "target", "spaces", "headers"],
)
def test_a_head_that_is_too_large_is_refused_although_it_comes_whole(service, head):
    before = b"GET /healthz HTTP/1.1\r\n\r\n"
    for sent, statuses in ((head, ["400"]), (before + head, ["200", "400"])):
        with connected(service) as connection:
            connection.sendall(sent)
            told = connection.makefile("rb").read().decode()
        assert [part[:3] for part in told.split("HTTP/1.1 ")[1:]] == statuses
        assert "must have at most 65536 bytes" in told


def test_a_head_of_the_largest_size_is_answered(connection):
    head = b"GET /readyz HTTP/1.1\r\nname: %b\r\n\r\n"
    connection.sendall(head % (b"a" * (65_536 - len(head) + 2)))
    assert answer(connection)[0] == 200


def test_a_large_body_in_parts_is_no_head(connection):
    body = json.dumps({"context": CONTEXT}).encode()
    head = "POST /v1/decide HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    connection.sendall(f"{head}content-length: {500_000 + len(body)}\r\n\r\n".encode())
    for _ in range(5):
        connection.sendall(b" " * 100_000)
    connection.sendall(body)
    assert answer(connection)[0] == 200


CHUNKED = (
    b"POST /v1/decide HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)


def chunk(part: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(part), part)


@pytest.mark.parametrize("headers", [[], ["connection: close"], ["expect: 100-continue"], ["x-more: 1"]])
def test_every_way_to_the_endpoint_gives_the_same(service, connection, headers):
    connection.sendall(request({"context": CONTEXT, "event_id": "every-way"}, *headers))
    if headers == ["expect: 100-continue"]:
        assert connection.recv(25).startswith(b"HTTP/1.1 100")
    assert answer(connection) == (200, service.post("/v1/decide", {"context": CONTEXT, "event_id": "every-way"}))


@pytest.mark.parametrize("headers", [[], ["connection: close"]])
def test_every_way_to_the_endpoint_refuses_the_same(service, connection, headers):
    connection.sendall(request({"context": 5}, *headers))
    assert answer(connection) == (422, service.post("/v1/decide", {"context": 5}, expect=422))


def test_a_body_in_chunks_is_read_whole(connection):
    body = json.dumps({"context": CONTEXT}).encode()
    connection.sendall(CHUNKED + chunk(body[:10]) + chunk(body[10:]) + b"0\r\n\r\n")
    assert answer(connection)[0] == 200


def test_a_body_without_its_end_is_not_taken_for_whole(service):
    before = service.state()
    with socket.create_connection((service.host, service.port)) as connection:
        connection.sendall(CHUNKED + chunk(json.dumps({"context": CONTEXT}).encode()))
        time.sleep(0.1)
    time.sleep(0.1)
    assert service.state() == before


def test_a_plain_request_after_others_waits_its_turn(connection):
    first, last = ({"context": CONTEXT, "event_id": f"turn-{number}"} for number in range(2))
    connection.sendall(b"GET /readyz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n" + request(first) + request(last))
    assert answer(connection) == (200, {"status": "ready"})
    assert [answer(connection)[1]["event_id"] for _ in range(2)] == ["turn-0", "turn-1"]


@contextmanager
def connected(service: Running) -> Iterator[socket.socket]:
    with socket.create_connection((service.host, service.port), timeout=10) as made:
        yield made


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def hangs_up_during(connection: socket.socket, part: bytes) -> bool:
    """Send again and again, and say whether the service ends that."""
    try:
        for _ in range(50):
            connection.sendall(part)
            time.sleep(0.1)
    except (BrokenPipeError, ConnectionResetError):
        return True
    return False


def test_there_are_so_many_connections_and_no_more(tmp_path):
    with Running(write_project(tmp_path, more="[limits]\nconnections = 3\n")) as service:
        service.get("/readyz")  # the first one stays open
        with connected(service) as second, connected(service) as third:
            for connection in (second, third):
                connection.sendall(request({"context": CONTEXT}))
                assert answer(connection)[0] == 200
            with connected(service) as fourth:
                status, document = answer(fourth)
                assert (status, document["error"]["code"]) == (503, "too_many_connections")
                assert is_closed(fourth)
            second.sendall(request({"context": CONTEXT}))
            assert answer(second)[0] == 200
        time.sleep(0.1)
        with connected(service) as fifth:
            fifth.sendall(request({"context": CONTEXT}))
            assert answer(fifth)[0] == 200
        assert 'refusals_total{code="too_many_connections"} 1.0' in service.http.get("/metrics").text


@pytest.fixture(scope="module")
def hurried(tmp_path_factory):
    project = write_project(tmp_path_factory.mktemp("hurried"), more="[limits]\nrequest_seconds = 0.5\n")
    with Running(project) as running:
        yield running


@pytest.mark.parametrize(
    "part", [b"", b"POST /v1/dec", request({"context": CONTEXT})[:-1], CHUNKED + chunk(b"{"), b"GET /v1/status HTT"]
)
def test_a_request_that_does_not_come_ends_the_connection(hurried, part):
    before = hurried.state()
    with connected(hurried) as connection:
        began = time.monotonic()
        connection.sendall(part)
        assert is_closed(connection)
        assert 0.4 < time.monotonic() - began < 5
    assert hurried.state() == before


def test_a_body_that_drips_ends_the_connection(hurried):
    with connected(hurried) as connection:
        connection.sendall(request({"context": CONTEXT})[:-50])
        assert hangs_up_during(connection, b" ")


def test_a_connection_that_is_used_stays_open(hurried):
    with connected(hurried) as connection:
        for _ in range(6):
            connection.sendall(request({"context": CONTEXT}))
            assert answer(connection)[0] == 200
            time.sleep(0.2)


def test_an_answer_that_nobody_takes_ends_the_connection(hurried):
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.connect((hurried.host, hurried.port))
        asked = request({"events": [{"context": CONTEXT}] * 1000}, path="/v1/decide/batch")
        connection.settimeout(10)
        assert hangs_up_during(connection, asked)


def test_a_failure_of_ours_is_a_500_and_ends_the_connection(tmp_path, monkeypatch, caplog):
    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    service = Service.start(make_project(tmp_path))
    monkeypatch.setattr(service.context, "check_storage", fails)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        started = threading.Event()
        server = HttpServer(service, listener)
        thread = threading.Thread(target=lambda: asyncio.run(server.run(started.set)))
        thread.start()
        assert started.wait(10)
        with socket.create_connection(listener.getsockname(), timeout=10) as connection:
            connection.sendall(request({"context": context()}))
            assert connection.recv(1000).startswith(b"HTTP/1.1 500 ")
            assert is_closed(connection)
        server.stop()
        thread.join(20)
    assert "ZeroDivisionError" in caplog.text
