"""A decision service in a process of its own, for benchmarks and tests."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Self

__all__ = ["ServiceProcess", "serve_command"]

_MAIN = "from bandit_forest.cli import main; main()"
_STOP_SECONDS = 30


def serve_command(project: Path, options: Sequence[str] = (), python: str = sys.executable) -> list[str]:
    """Return the command that serves a project on a free port."""
    return [python, "-c", _MAIN, "serve", str(project), "--port", "0", *options]


class ServiceProcess:
    """Runs `bandit-forest serve` on a free port, from the moment that it takes requests until it is stopped or killed.

    Parameters
    ----------
    project
        The project file.
    environment
        Variables beside those of this process: keys, say.
    log
        Where its errors go; None: where those of this process go.
    options
        Other options of the command.
    python
        Interpreter that has the package.
    """

    def __init__(
        self,
        project: Path,
        *,
        environment: Mapping[str, str] | None = None,
        log: IO[str] | None = None,
        options: Sequence[str] = (),
        python: str = sys.executable,
    ) -> None:
        self.process = subprocess.Popen(
            serve_command(project, options, python),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=os.environ | dict(environment or {}),
        )
        assert self.process.stdout is not None
        told = self.process.stdout.readline()
        found = re.search(r"http://(\S+):(\d+)", told)
        if found is None:
            self.kill()
            raise RuntimeError(f"the service did not start; it said {told!r}")
        self.address = found.group(0)
        self.host, self.port = found.group(1), int(found.group(2))

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self._wait()

    def stop(self) -> int:
        """Stop the process, and return its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self._wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.stop()

    def _wait(self) -> int:
        assert self.process.stdout is not None
        self.process.stdout.close()
        return self.process.wait(_STOP_SECONDS)
