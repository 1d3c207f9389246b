"""Downloading data sets from UCI: resumed where it stopped, checked by hash, written in one piece."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import os
import shutil
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from urllib.parse import unquote_plus, urlsplit

from bandit_forest.atomic import replacing
from bandit_forest.errors import BanditForestError
from bandit_forest.worlds.datasets.folders import data_folder
from bandit_forest.worlds.datasets.sources import Source, source

__all__ = ["DownloadError", "Progress", "fetch", "fetch_source"]

Progress = Callable[[int, int | None], None]
"""Called with the bytes that are here and the bytes of the whole, None where the server does not say."""

_CHUNK = 1 << 16
_PATIENCE = 60.0  # seconds without a byte


class DownloadError(BanditForestError, OSError):
    """A data set could not be downloaded, or is not what UCI publishes; the message says what to do."""


def fetch(name: str, folder: str | os.PathLike[str] | None = None, *, progress: Progress | None = None) -> list[Path]:
    """Download the files of a data set from UCI, unless they are there already, and return their paths.

    An interrupted download goes on where it stopped. Files appear only when they are whole and have the published
    SHA-256.

    Parameters
    ----------
    name
        'covtype', 'adult' or 'census1990'.
    folder
        Folder for the files; by default where `load` looks for them.
    progress
        Called with the number of bytes downloaded and the total number (None if the server does not send it).
    """
    return fetch_source(source(name, "fetch"), data_folder(folder), progress=progress)


def fetch_source(origin: Source, folder: Path, *, progress: Progress | None = None) -> list[Path]:
    """Download the files of a source that are not yet in the folder."""
    paths = [folder / name for name in origin.files]
    if all(_is_published(path, origin.files[path.name]) for path in paths):
        return paths
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"{unquote_plus(PurePosixPath(urlsplit(origin.address).path).name)}.part"
    try:
        _download(origin.address, archive, progress or (lambda here, whole: None))  # noqa: ARG005
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        raise DownloadError(
            f"{origin.address} could not be downloaded: {error}. Run the same again to go on."
        ) from error
    try:
        for name, sha256 in origin.files.items():
            _extract(archive, name, sha256, folder)
    except DownloadError:
        archive.unlink()  # what failed the check must not be resumed
        raise
    archive.unlink()
    return paths


def _is_published(path: Path, sha256: str) -> bool:
    try:
        return _text_hash(path, is_gzip=path.name.endswith(".gz")) == sha256
    except (OSError, EOFError, zlib.error):
        return False


def _text_hash(path: Path, *, is_gzip: bool) -> str:
    """Return the SHA-256 of a file's text, uncompressed."""
    digest = hashlib.sha256()
    with gzip.open(path) if is_gzip else path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _download(address: str, target: Path, progress: Progress) -> None:
    """Download into a file, going on after the bytes that it has."""
    here = target.stat().st_size if target.exists() else 0
    request = urllib.request.Request(address, headers={"Range": f"bytes={here}-"} if here else {})
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            resumed = answer.status == http.HTTPStatus.PARTIAL_CONTENT
            with target.open("ab" if resumed else "wb") as stream:
                _receive(answer, stream, here if resumed else 0, progress)
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not here:
            raise
        if error.headers.get("Content-Range") != f"bytes */{here}":  # else all of it was here already
            target.unlink()
            _download(address, target, progress)


def _receive(answer: http.client.HTTPResponse, stream: BinaryIO, here: int, progress: Progress) -> None:
    length = answer.headers.get("Content-Length")
    whole = here + int(length) if length is not None else None
    progress(here, whole)
    while chunk := answer.read(_CHUNK):
        stream.write(chunk)
        here += len(chunk)
        progress(here, whole)
    if whole is not None and here < whole:
        raise ConnectionError(f"the connection ended after {here:,} of {whole:,} bytes")


def _extract(archive: Path, name: str, sha256: str, folder: Path) -> None:
    """Take one file out of the archive; it appears only if it has the right hash."""
    try:
        with replacing(folder / name) as stream:
            _unzip(archive, name, stream)
            stream.flush()
            found = _text_hash(Path(stream.name), is_gzip=name.endswith(".gz"))
            if found != sha256:
                raise DownloadError(f"{name} is not the published file: its SHA-256 is {found}, not {sha256}.")
    except (zipfile.BadZipFile, zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise DownloadError(f"{name} could not be unpacked: {error}. Run the same again.") from error


def _unzip(archive: Path, name: str, stream: BinaryIO) -> None:
    with zipfile.ZipFile(archive) as members:
        for member in members.namelist():
            if PurePosixPath(member).name == name:
                with members.open(member) as content:
                    shutil.copyfileobj(content, stream)
                return
    raise zipfile.BadZipFile(f"the archive has no {name}")
