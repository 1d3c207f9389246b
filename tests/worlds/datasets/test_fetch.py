"""Downloading, against a server on this machine: resumed, checked, in one piece."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bandit_forest.errors import InvalidArgumentError
from bandit_forest.worlds.datasets import DownloadError, fetch
from bandit_forest.worlds.datasets.fetching import fetch_source
from bandit_forest.worlds.datasets.sources import SOURCES, Source

TEXT = b"".join(b"%d,%d\n" % (number, number * number) for number in range(100_000))
OTHER = b"a part\n" * 20_000


def archive(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as members:
        for name, content in files.items():
            members.writestr(name, content)
    return stream.getvalue()


GOOD = archive({"notes.txt": b"ignored", "some.data.gz": gzip.compress(TEXT), "inner/other.data": OTHER})


@dataclass
class Server:
    """A server whose behaviour a test sets, and which notes what it was asked."""

    address: str = ""
    content: bytes = GOOD
    ranges: bool = True
    cut_after: int | None = None
    """Close the connection after so many bytes of the body."""
    status: int | None = None
    says_length: bool = True
    asked: list[str | None] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            state.asked.append(wanted)
            start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1]) if wanted and state.ranges else 0  # type: ignore[index]
            size = len(state.content)
            if state.status is not None:
                self.send_error(state.status)
                return
            if start and start >= size:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{size}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            body = state.content[start:]
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
            if state.says_length:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: state.cut_after])

        def log_message(self, *arguments: object) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        state.address = f"http://127.0.0.1:{listening.server_port}/some+data.zip"
        yield state
        listening.shutdown()
        thread.join()


def source_at(server: Server) -> Source:
    return Source(
        name="some",
        title="Some",
        address=server.address,
        files={"some.data.gz": hashlib.sha256(TEXT).hexdigest(), "other.data": hashlib.sha256(OTHER).hexdigest()},
        citation="",
    )


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


WHOLE = {"some.data.gz": gzip.compress(TEXT), "other.data": OTHER}


def assert_whole(folder: Path) -> None:
    found = content_of(folder)
    assert found.keys() == WHOLE.keys()
    assert gzip.decompress(found["some.data.gz"]) == TEXT
    assert found["other.data"] == OTHER


def test_files_are_downloaded_once_with_progress(server: Server, tmp_path: Path) -> None:
    steps: list[tuple[int, int | None]] = []
    folder = tmp_path / "new" / "folder"
    paths = fetch_source(source_at(server), folder, progress=lambda here, whole: steps.append((here, whole)))
    assert paths == [folder / "some.data.gz", folder / "other.data"]
    assert_whole(folder)
    assert steps[0] == (0, len(GOOD))
    assert steps[-1] == (len(GOOD), len(GOOD))
    assert steps == sorted(steps)
    assert fetch_source(source_at(server), folder) == paths
    assert server.asked == [None]  # the second call asked for nothing


def test_a_cut_download_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.cut_after = 300_000
    with pytest.raises(DownloadError, match=r"ended after 300,000 of [\d,]+ bytes\. Run the same again to go on"):
        fetch_source(source_at(server), tmp_path)
    assert content_of(tmp_path) == {"some data.zip.part": GOOD[:300_000]}
    server.cut_after = None
    steps: list[int] = []
    fetch_source(source_at(server), tmp_path, progress=lambda here, whole: steps.append(here))
    assert server.asked == [None, "bytes=300000-"]
    assert steps[0] == 300_000
    assert steps[-1] == len(GOOD)
    assert_whole(tmp_path)


def test_an_interrupted_download_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    def interrupt(here: int, whole: int | None) -> None:
        if here > 100_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch_source(source_at(server), tmp_path, progress=interrupt)
    (part,) = content_of(tmp_path).values()
    assert 100_000 < len(part) < len(GOOD)
    assert part == GOOD[: len(part)]
    fetch_source(source_at(server), tmp_path)
    assert server.asked == [None, f"bytes={len(part)}-"]
    assert_whole(tmp_path)


def test_a_server_without_ranges_starts_again(server: Server, tmp_path: Path) -> None:
    server.ranges = False
    (tmp_path / "some data.zip.part").write_bytes(GOOD[:1000])
    fetch_source(source_at(server), tmp_path)
    assert server.asked == ["bytes=1000-"]
    assert_whole(tmp_path)


def test_a_server_that_does_not_say_the_length(server: Server, tmp_path: Path) -> None:
    server.says_length = False
    wholes: set[int | None] = set()
    fetch_source(source_at(server), tmp_path, progress=lambda here, whole: wholes.add(whole))
    assert wholes == {None}
    assert_whole(tmp_path)


def test_a_download_that_was_complete_is_not_repeated(server: Server, tmp_path: Path) -> None:
    (tmp_path / "some data.zip.part").write_bytes(GOOD)
    fetch_source(source_at(server), tmp_path)
    assert server.asked == [f"bytes={len(GOOD)}-"]
    assert_whole(tmp_path)


def test_a_part_longer_than_the_whole_is_dropped(server: Server, tmp_path: Path) -> None:
    (tmp_path / "some data.zip.part").write_bytes(GOOD + b"more")
    fetch_source(source_at(server), tmp_path)
    assert server.asked == [f"bytes={len(GOOD) + 4}-", None]
    assert_whole(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (archive({"some.data.gz": gzip.compress(TEXT + b"1,1\n"), "other.data": OTHER}), "its SHA-256 is"),
        (archive({"other.data": OTHER}), "the archive has no some.data.gz"),
        (archive({"some.data.gz": b"no gzip", "other.data": OTHER}), "could not be unpacked"),
        (archive({"some.data.gz": gzip.compress(TEXT)[:-9], "other.data": OTHER}), "could not be unpacked"),
        (b"<html>Sorry</html>", "could not be unpacked"),
        (b"", "could not be unpacked"),
        (GOOD[:100_000] + b"??" + GOOD[100_002:], "could not be unpacked"),
    ],
)
def test_what_is_not_the_published_file_is_refused_and_not_kept(
    server: Server, tmp_path: Path, content: bytes, message: str
) -> None:
    server.content = content
    with pytest.raises(DownloadError, match=message):
        fetch_source(source_at(server), tmp_path)
    assert content_of(tmp_path) == {}
    server.content = GOOD
    fetch_source(source_at(server), tmp_path)
    assert_whole(tmp_path)


def test_a_wrong_beginning_is_found_by_the_hash(server: Server, tmp_path: Path) -> None:
    (tmp_path / "some data.zip.part").write_bytes(b"x" * 100_000)
    with pytest.raises(DownloadError):
        fetch_source(source_at(server), tmp_path)
    fetch_source(source_at(server), tmp_path)
    assert_whole(tmp_path)


def test_a_damaged_file_is_replaced(server: Server, tmp_path: Path) -> None:
    (tmp_path / "some.data.gz").write_bytes(b"damaged")
    (tmp_path / "other.data").write_bytes(OTHER)
    fetch_source(source_at(server), tmp_path)
    assert_whole(tmp_path)


@pytest.mark.parametrize("status", [403, 404, 416, 500])
def test_an_answer_of_refusal_is_told(server: Server, tmp_path: Path, status: int) -> None:
    server.status = status
    with pytest.raises(DownloadError, match=f"some\\+data.zip could not be downloaded: HTTP Error {status}"):
        fetch_source(source_at(server), tmp_path)


def test_no_server_at_all_is_told(server: Server, tmp_path: Path) -> None:
    closed = Source(name="some", title="Some", address="http://127.0.0.1:9/some.zip", files={"a": "b"}, citation="")
    with pytest.raises(DownloadError, match=r"could not be downloaded: .*Run the same again to go on"):
        fetch_source(closed, tmp_path)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="'covtype' or 'adult' or 'census1990'"):
        fetch("iris")


def test_the_sources_are_uci_itself() -> None:
    for name, entry in SOURCES.items():
        assert entry.name == name
        assert entry.address.startswith("https://archive.ics.uci.edu/static/public/")
        assert entry.files
        assert all(re.fullmatch("[0-9a-f]{64}", sha256) for sha256 in entry.files.values())
