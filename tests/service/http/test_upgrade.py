"""A client that offers another protocol is answered in this one, and a body is never read as a request."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from pathlib import Path

import httpx
import pytest
from running import CONTEXT, Running, write_project

JAVA = """
import java.net.URI;
import java.net.http.*;

public class Post {
    public static void main(String[] arguments) throws Exception {
        HttpClient client = HttpClient.newHttpClient();  // offers HTTP/2 with every request
        for (int number = 0; number < 3; number++) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(arguments[0] + "/v1/decide"))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(arguments[1])).build();
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            System.out.println(answer.statusCode() + " " + answer.body());
        }
    }
}
"""
LAST = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
HIDDEN = b'{"name": "smuggled"}'
INSIDE = (
    b"POST /v1/actions/add HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    % len(HIDDEN)
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory):
    with Running(write_project(tmp_path_factory.mktemp("upgrade"))) as running:
        yield running


def post(body: bytes, *headers: str) -> bytes:
    lines = ("POST /v1/decide HTTP/1.1", "host: 127.0.0.1", "content-type: application/json", *headers)
    return "\r\n".join([*lines, f"content-length: {len(body)}", "", ""]).encode() + body


def answers(service: Running, parts: list[bytes], last: bytes = LAST) -> list[int]:
    """Send a request in parts, each in a segment of its own, and a last one; return the status of each answer."""
    with socket.create_connection((service.host, service.port), timeout=10) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for part in (*parts, last):
            connection.sendall(part)
            time.sleep(0.002)
        told = b"".join(iter(lambda: connection.recv(65_536), b""))
    return [int(line.split()[0]) for line in told.split(b"HTTP/1.1 ")[1:]]


@pytest.mark.parametrize(
    ("body", "status"),
    [(json.dumps({"context": CONTEXT}).encode(), 200), (INSIDE + HIDDEN, 400)],
    ids=["json", "hidden"],
)
def test_a_request_that_offers_an_upgrade_is_answered_once_however_it_is_split(service, body, status):
    whole = post(
        body, "connection: Upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AAMAAABkAAQAoAAAAAIAAAAA"
    )
    head = whole.index(b"\r\n\r\n") + 4
    for split in range(1, len(whole)):
        assert answers(service, [whole[:split], whole[split:]]) == [status, 200], split
    assert answers(service, [whole[:head], *(whole[n : n + 1] for n in range(head, len(whole)))]) == [status, 200]
    assert answers(service, [whole + whole]) == [status, status, 200]
    names = [action["name"] for action in service.get("/v1/status")["actions"]]
    assert names == ["basic", "plus", "gold"]


def test_an_upgrade_with_a_chunked_body_is_answered(service):
    body = json.dumps({"context": CONTEXT}).encode()
    chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    head = (
        b"POST /v1/decide HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nconnection: upgrade\r\n"
        b"upgrade: websocket\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    for split in range(len(head), len(head + chunks)):
        assert answers(service, [(head + chunks)[:split], (head + chunks)[split:]]) == [200, 200]


def test_a_connection_that_is_to_end_ends_although_an_upgrade_is_offered(service):
    whole = post(json.dumps({"context": CONTEXT}).encode(), "connection: close, upgrade", "upgrade: h2c")
    assert answers(service, [whole], last=b"") == [200]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("javac") is None, reason="needs a Java development kit")
def test_the_client_of_the_java_library_is_answered(service: Running, tmp_path: Path):
    source = tmp_path / "Post.java"
    source.write_text(JAVA)
    command = ["java", "-Xshare:auto", str(source), service.address, json.dumps({"context": CONTEXT})]
    told = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    assert [line[:16] for line in told.splitlines()] == ['200 {"event_id":'] * 3, told
    assert httpx.get(service.address + "/v1/status").json()["decisions"] >= 3
