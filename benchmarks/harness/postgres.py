"""A private PostgreSQL in a temporary folder on a free port, run by a user that is not root."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Self

__all__ = ["PostgresProcess", "why_not"]

_USER = "postgres"
_START_SECONDS = 60.0


def _binaries() -> Path | None:
    """Return the folder of the newest PostgreSQL that Debian has installed, or of the one on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("postgres")
    return None if on_path is None else Path(on_path).parent


def why_not() -> str | None:
    """Return why PostgreSQL cannot be run here; None when it can."""
    if _binaries() is None:
        return "PostgreSQL is not installed"
    try:
        import psycopg_pool  # noqa: F401
    except ImportError:
        return "psycopg is not installed"
    if os.getuid() == 0:
        try:
            pwd.getpwnam(_USER)
        except KeyError:
            return f"PostgreSQL does not run as root, and there is no user '{_USER}'"
    return None


class PostgresProcess:
    """Runs PostgreSQL until it is stopped; it can be killed and started again on the same data."""

    def __init__(self) -> None:
        binaries = _binaries()
        assert binaries is not None
        self._binaries = binaries
        self._folder = Path(tempfile.mkdtemp(prefix="postgres-"))
        self._who: dict[str, Any] = {}
        if os.getuid() == 0:
            shutil.chown(self._folder, _USER, _USER)
            self._who = {"user": _USER, "group": _USER, "extra_groups": []}
        data = str(self._folder / "data")
        command = [str(binaries / "initdb"), "-D", data, "-U", "test", "-A", "trust", "-E", "UTF8", "--locale=C"]
        subprocess.run(command, check=True, capture_output=True, cwd=self._folder, **self._who)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"postgresql://test@127.0.0.1:{self.port}/postgres"
        self.start()

    def start(self) -> None:
        """Start the server, and wait until it answers; after a kill its old processes may still be there."""
        import psycopg

        deadline = time.monotonic() + _START_SECONDS
        self.process = self._launch()
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                if self.process.poll() is not None:
                    self.process = self._launch()
                time.sleep(0.1)

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def new_database(self, name: str) -> str:
        """Make a database, and return its address."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.url.replace("/postgres", f"/{name}")

    def processor_seconds(self) -> float:
        """Return the processor time of the server and all its processes, those that have ended included."""
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                parts = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(stat.parts[2]) == self.process.pid:
                ticks += sum(map(int, parts[11:15]))
            elif int(parts[1]) == self.process.pid:
                ticks += sum(map(int, parts[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(_START_SECONDS)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _launch(self) -> subprocess.Popen[bytes]:
        options = ["-p", str(self.port), "-c", "listen_addresses=127.0.0.1", "-k", str(self._folder)]
        command = [str(self._binaries / "postgres"), "-D", str(self._folder / "data"), *options]
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, cwd=self._folder, **self._who)
